// The curve of the paper: both branches dashed, the smaller one bold, and a marker that rides it.

import { fillText } from "../../../components/common/dom.js";
import { dot, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { peak, rate, scientific, thousands } from "./rate.js";
import { axes, branches, branchNames, drawAxes, minimum, peakPlace, plate, STEPS } from "./schedule.js";

export class Curve extends Scene {
  get playhead() {
    return {
      name: "step",
      label: this.texts.step,
      min: 1,
      max: STEPS,
      step: 100,
      rate: 1500,
      start: 1000,
      show: thousands,
    };
  }

  get paper() {
    return this.lesson.values.paper;
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(300, Math.min(room, width * 0.62));
  }

  /** @param {{ width: number, height: number }} given */
  plot({ width, height }) {
    const { d_model, warmup } = this.paper;
    return axes(width, height, 1.32 * peak(d_model, warmup));
  }

  /** @param {number} step */
  rises(step) {
    return step < this.paper.warmup;
  }

  /** @type {Scene["lit"]} */
  lit({ step }) {
    return this.rises(step) ? "rising" : "falling";
  }

  /** @type {Scene["draw"]} */
  draw(pen, { step }) {
    const { context, theme } = pen;
    const { d_model, warmup } = this.paper;
    const plot = this.plot(pen);
    drawAxes(pen, plot, this.texts);
    branches(pen, plot, d_model, warmup);
    branchNames(pen, plot, d_model, warmup, step);
    minimum(context, plot, d_model, warmup, { colour: theme.text, width: 3.5 });
    const top = peakPlace(plot, d_model, warmup);
    trace(
      context,
      [
        [top.x, top.y],
        [top.x, plot.up.from],
      ],
      { colour: theme.muted, width: 1, dash: [2, 3] },
    );
    if (pen.width >= 520 || Math.abs(step - warmup) > 3000)
      write(context, `warmup_steps = ${thousands(warmup)}`, top.x + 6, plot.up.from - 11, {
        colour: theme.muted,
        font: theme.code,
        size: 12,
      });
    this.marker(pen, plot, step);
  }

  /**
   * @param {Pen} pen
   * @param {{ across: Axis, up: Axis }} plot
   * @param {number} step
   */
  marker(pen, plot, step) {
    const { context, theme } = pen;
    const { d_model, warmup } = this.paper;
    const now = rate(step, d_model, warmup);
    const rises = this.rises(step);
    const colour = rises ? theme.kinds.encoder : theme.kinds.decoder;
    const [x, y] = [plot.across.place(step), plot.up.place(now)];
    trace(
      context,
      [
        [x, y],
        [x, plot.up.from],
      ],
      { colour, width: 1.5 },
    );
    const lines = [
      rises ? this.texts.on_rising : this.texts.on_falling,
      `${this.texts.step} ${thousands(step)}`,
      scientific(now),
    ];
    plate(pen, lines, x, rises ? y + 12 : y - 44, { colour });
    dot(context, x, y, 8, colour, theme.background);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    return { step: Math.max(1, Math.round(this.plot(pen).across.value(x))) };
  }

  /** @type {Scene["say"]} */
  say({ step }) {
    const { d_model, warmup } = this.paper;
    const label = this.rises(step) ? this.texts.curve_rising : this.texts.curve_falling;
    return fillText(label, {
      step: thousands(step),
      rate: scientific(rate(step, d_model, warmup)),
      warmup: thousands(warmup),
    });
  }

  table() {
    const { d_model, warmup } = this.paper;
    const rows = Array.from({ length: STEPS / 500 }, (_, index) => {
      const step = 500 * (index + 1);
      return [step, rate(step, d_model, warmup)];
    });
    return { columns: [this.texts.step, this.texts.rate], rows };
  }
}
