// Width and warm-up: the peak is dragged along the branch that falls, and curves can be pinned for comparison.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { choice } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { readPins } from "../../stage/js/pins.js";
import { peak, rate, scientific } from "./rate.js";
import { Plot, ScheduleScene } from "./schedule.js";

const MIN = 1000;
const MAX = 12000;
const BY = 100; // a pin names the warm-up in hundreds, so that four of them fit in the address
const PINS = 4;
const COLUMNS = [100, 400, 1000, 4000, 10000, 20000, 100000]; // steps of the table

/** @typedef {{ width: number, warmup: number }} Pinned */

export class Shape extends ScheduleScene {
  term = "warmup";

  get playhead() {
    return {
      name: "warmup",
      label: "warmup_steps",
      min: MIN,
      max: MAX,
      step: 200,
      rate: 1400,
      start: this.paper.warmup,
      show: formatCount,
    };
  }

  get controls() {
    const { texts, paper } = this;
    const { widths, own } = this.lesson.values;
    const options = Object.fromEntries(widths.map((width) => [width, String(width)]));
    options[own.d_model] = fillText(texts.own_width, { width: own.d_model });
    return [
      choice("width", "d_model", options, { start: String(paper.d_model) }),
      {
        name: "pins",
        kind: "pins",
        label: texts.pin,
        most: PINS,
        now: (/** @type {Settings} */ { width, warmup }) => `${width}-${Math.round(warmup / BY)}`,
        show: (/** @type {string} */ pin) => this.named(this.read(pin)),
        form: /^\d{2,4}-\d{1,3}$/,
        remove: texts.unpin,
        start: "",
      },
    ];
  }

  /**
   * A pin -> its curve.
   * @param {string} pin
   */
  read(pin) {
    const [width, hundreds] = pin.split("-").map(Number);
    return { width, warmup: Math.max(1, hundreds) * BY };
  }

  /** @param {Pinned} curve */
  named({ width, warmup }) {
    return `${width} \u00b7 ${formatCount(warmup)}`;
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
    const { d_model, warmup } = this.paper;
    const pinned = this.curves(settings).map((each) => peak(each.width, each.warmup));
    return new Plot(pen, 1.12 * Math.max(peak(Number(settings.width), MIN), peak(d_model, warmup), ...pinned));
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { theme } = pen;
    const width = Number(settings.width);
    const { warmup } = settings;
    const plot = this.plot(pen, settings);
    plot.axes(this.texts);
    const names = this.ghosts(pen, plot, settings);
    plot.branches(width, warmup);
    plot.minimum(width, warmup, { colour: theme.text, width: 3.5 });
    for (const { label, x, y } of names) halo(pen, label, x, y);
    const { x, y } = plot.peak(width, warmup);
    pen.line(x, y, x, plot.up.from, { colour: theme.text });
    const lines = [
      fillText(this.texts.peak_of, { width }),
      `warmup_steps ${formatCount(warmup)}`,
      scientific(peak(width, warmup)),
    ];
    const corner = isNarrow(pen.width) || names.length > 1; // beside the peak it would hide the names of others
    plot.plate(lines, corner ? pen.width : x, corner ? plot.up.to + 24 : y - 46, theme.text);
    pen.dot(x, y, 9, theme.kinds.cross, theme.background);
  }

  /**
   * The paper's own curve and those that were pinned, thin. Returns their names and where these belong.
   * @param {Pen} pen
   * @param {Plot} plot
   * @param {Settings} settings
   */
  ghosts(pen, plot, settings) {
    const { mark } = pen.theme;
    const { paper } = this;
    const all = [
      { width: paper.d_model, warmup: paper.warmup, label: this.texts.paper_base },
      ...this.curves(settings).map((each) => ({ ...each, label: this.named(each) })),
    ];
    /** @type {(Point & { label: string })[]} */
    const taken = [];
    for (const { width, warmup, label } of all) {
      if (width === Number(settings.width) && Math.abs(warmup - settings.warmup) < BY) continue;
      plot.inside(() => plot.minimum(width, warmup, { colour: mark, width: 1.75 }));
      const top = plot.peak(width, warmup);
      let y = top.y - 9;
      while (taken.some((other) => Math.abs(other.x - top.x - 7) < 90 && Math.abs(other.y - y) < 15)) y -= 15;
      taken.push({ label, x: Math.min(top.x + 7, pen.width - 90), y });
      pen.dot(top.x, top.y, 3, mark);
    }
    return taken;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    const warmup = this.plot(pen, settings).across.value(x);
    return { warmup: Math.max(MIN, Math.min(MAX, Math.round(warmup / BY) * BY)) };
  }

  /** @type {Scene["say"]} */
  say({ width, warmup }) {
    const { own } = this.lesson.values;
    const number = Number(width);
    const label = number === own.d_model ? this.texts.shape_own : this.texts.shape_say;
    return fillText(label, {
      width,
      warmup: formatCount(warmup),
      rate: scientific(peak(number, warmup)),
      own: formatCount(own.warmup),
      factor: own.factor,
    });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { texts } = this;
    const all = [{ width: Number(settings.width), warmup: settings.warmup }, ...this.curves(settings)];
    const rows = all.map(({ width, warmup }) => [
      width,
      Math.round(warmup),
      peak(width, warmup),
      ...COLUMNS.map((step) => rate(step, width, warmup)),
    ]);
    const rates = COLUMNS.map((step) => `${texts.step} ${formatCount(step)}`);
    return { columns: ["d_model", "warmup_steps", texts.peak, ...rates], rows };
  }
}

/**
 * A name that a line may cross.
 * @param {Pen} pen
 * @param {string} label
 * @param {number} x
 * @param {number} y
 */
function halo(pen, label, x, y) {
  const { context, theme } = pen;
  context.save();
  context.font = `400 12px ${theme.font}`;
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 5;
  context.strokeStyle = theme.background;
  context.strokeText(label, x, y);
  context.restore();
  pen.note(label, x, y);
}
