// Width and warm-up: the peak is dragged along the branch that falls, and curves can be pinned for comparison.

import { fillText } from "../../../components/common/dom.js";
import { dot, trace, write } from "../../../components/common/plot.js";
import { readPins } from "../../stage/js/pins.js";
import { Scene } from "../../stage/js/scene.js";
import { peak, rate, scientific, thousands } from "./rate.js";
import { axes, branches, drawAxes, inside, minimum, peakPlace, plate } from "./schedule.js";

const LEAST = 1000;
const MOST = 12000;
const BY = 100; // a pin names the warm-up in hundreds, so that four of them fit in the address
const PINS = 4;
const NARROW = 520;

export class Shape extends Scene {
  get playhead() {
    return {
      name: "warmup",
      label: "warmup_steps",
      min: LEAST,
      max: MOST,
      step: 200,
      rate: 1400,
      start: this.lesson.values.paper.warmup,
      show: thousands,
    };
  }

  get controls() {
    const { texts, lesson } = this;
    const options = lesson.values.widths.map((width) => [
      String(width),
      width === lesson.values.own.d_model ? fillText(texts.own_width, { width }) : String(width),
    ]);
    /** @param {{ width: number, warmup: number }} given */
    const now = ({ width, warmup }) => `${width}-${Math.round(warmup / BY)}`;
    return [
      { name: "width", kind: "choice", label: "d_model", options, start: String(lesson.values.paper.d_model) },
      {
        name: "pins",
        kind: "pins",
        label: texts.pin,
        most: PINS,
        now,
        /** @param {any} pin */
        tell: (pin) => this.named(this.read(pin)),
        form: /^\d{2,4}-\d{1,3}$/,
        remove: texts.unpin,
        start: "",
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(300, Math.min(room, width * 0.62));
  }

  /**
   * A pin -> its curve.
   * @param {string} pin
   */
  read(pin) {
    const [width, hundreds] = pin.split("-").map(Number);
    return { width, warmup: Math.max(1, hundreds) * BY };
  }

  /** @param {{ width: number, warmup: number }} given */
  named({ width, warmup }) {
    return `${width} \u00b7 ${thousands(warmup)}`;
  }

  /** @param {Settings} settings */
  curves({ pins }) {
    return readPins(pins).map((pin) => this.read(pin));
  }

  /**
   * @param {Pen} pen
   * @param {Settings} settings
   */
  plot(pen, settings) {
    const { paper } = this.lesson.values;
    const width = Number(settings.width);
    const tops = [
      peak(width, LEAST),
      peak(paper.d_model, paper.warmup),
      ...this.curves(settings).map((each) => peak(each.width, each.warmup)),
    ];
    return axes(pen.width, pen.height, 1.12 * Math.max(...tops));
  }

  lit() {
    return "warmup";
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, theme } = pen;
    const width = Number(settings.width);
    const { warmup } = settings;
    const plot = this.plot(pen, settings);
    drawAxes(pen, plot, this.texts);
    const names = this.ghosts(pen, plot, settings);
    branches(pen, plot, width, warmup);
    minimum(context, plot, width, warmup, { colour: theme.text, width: 3.5 });
    for (const { label, x, y } of names) halo(context, label, x, y, theme);
    const { x, y } = peakPlace(plot, width, warmup);
    trace(
      context,
      [
        [x, y],
        [x, plot.up.from],
      ],
      { colour: theme.text, width: 1.5 },
    );
    const lines = [
      fillText(this.texts.peak_of, { width }),
      `warmup_steps ${thousands(warmup)}`,
      scientific(peak(width, warmup)),
    ];
    const corner = pen.width < NARROW || names.length > 1; // beside the peak it would hide the names of others
    plate(pen, lines, corner ? pen.width : x, corner ? plot.up.to + 24 : y - 46, { colour: theme.text });
    dot(context, x, y, 9, theme.kinds.cross, theme.background);
  }

  /**
   * The paper's own curve and those that were pinned, thin. Returns their names and where these belong.
   * @param {Pen} pen
   * @param {{ across: Axis, up: Axis }} plot
   * @param {Settings} settings
   */
  ghosts({ context, theme, width: room }, plot, settings) {
    const { paper } = this.lesson.values;
    const own = { width: paper.d_model, warmup: paper.warmup };
    const all = [
      { ...own, label: this.texts.paper_base },
      ...this.curves(settings).map((each) => ({ ...each, label: this.named(each) })),
    ];
    const taken = [];
    for (const { width, warmup, label } of all) {
      if (width === Number(settings.width) && Math.abs(warmup - settings.warmup) < BY) continue;
      inside(context, plot, () => minimum(context, plot, width, warmup, { colour: theme.mark, width: 1.75 }));
      const top = peakPlace(plot, width, warmup);
      let y = top.y - 9;
      while (taken.some((other) => Math.abs(other.x - top.x - 7) < 90 && Math.abs(other.y - y) < 15)) y -= 15;
      taken.push({ label, x: Math.min(top.x + 7, room - 90), y });
      dot(context, top.x, top.y, 3, theme.mark);
    }
    return taken;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    const place = this.plot(pen, settings).across.value(x);
    return { warmup: Math.max(LEAST, Math.min(MOST, Math.round(place / BY) * BY)) };
  }

  /** @type {Scene["say"]} */
  say({ width, warmup }) {
    const { own } = this.lesson.values;
    const number = Number(width);
    const label = number === own.d_model ? this.texts.shape_own : this.texts.shape_say;
    return fillText(label, {
      width,
      warmup: thousands(warmup),
      rate: scientific(peak(number, warmup)),
      own: thousands(own.warmup),
      factor: own.factor,
    });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const all = [{ width: Number(settings.width), warmup: settings.warmup }, ...this.curves(settings)];
    const steps = [100, 400, 1000, 4000, 10000, 20000, 100000];
    const rows = all.map(({ width, warmup }) => [
      width,
      Math.round(warmup),
      peak(width, warmup),
      ...steps.map((step) => rate(step, width, warmup)),
    ]);
    return {
      columns: [
        "d_model",
        "warmup_steps",
        this.texts.peak,
        ...steps.map((step) => `${this.texts.step} ${thousands(step)}`),
      ],
      rows,
    };
  }
}

/**
 * A name that a line may cross.
 * @param {CanvasRenderingContext2D} context
 * @param {string} label
 * @param {number} x
 * @param {number} y
 * @param {Theme} theme
 */
function halo(context, label, x, y, theme) {
  context.save();
  context.font = `400 12px ${theme.font}`;
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 5;
  context.strokeStyle = theme.background;
  context.strokeText(label, x, y);
  context.restore();
  write(context, label, x, y, { colour: theme.muted, font: theme.font, size: 12 });
}
