// The curve of the paper: both branches dashed, the smaller one bold, and a marker that rides it.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { playhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { peak, rate, scientific } from "./rate.js";
import { Plot, ScheduleScene, STEPS } from "./schedule.js";

export class Curve extends ScheduleScene {
  get playhead() {
    const label = this.texts.step;
    return playhead({ name: "step", label, min: 1, max: STEPS, step: 100, rate: 1500, start: 1000, show: formatCount });
  }

  /** @param {Pen} pen */
  plot(pen) {
    const { d_model, warmup } = this.paper;
    return new Plot(pen, 1.32 * peak(d_model, warmup));
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
    const { theme } = pen;
    const { d_model, warmup } = this.paper;
    const plot = this.plot(pen);
    const base = plot.up.from;
    plot.axes(this.texts);
    plot.branches(d_model, warmup);
    plot.branchNames(d_model, warmup, step);
    plot.minimum(d_model, warmup, { colour: theme.text, width: 3.5 });
    const top = plot.peak(d_model, warmup);
    pen.line(top.x, top.y, top.x, base, { colour: theme.muted, width: 1, dash: [2, 3] });
    if (!isNarrow(pen.width) || Math.abs(step - warmup) > 3000)
      pen.note(`warmup_steps = ${formatCount(warmup)}`, top.x + 6, base - 11, { font: theme.code });
    this.marker(pen, plot, step);
  }

  /**
   * @param {Pen} pen
   * @param {Plot} plot
   * @param {number} step
   */
  marker(pen, plot, step) {
    const { theme } = pen;
    const { d_model, warmup } = this.paper;
    const now = rate(step, d_model, warmup);
    const rises = this.rises(step);
    const colour = rises ? theme.kinds.encoder : theme.kinds.decoder;
    const [x, y] = [plot.across.place(step), plot.up.place(now)];
    pen.line(x, y, x, plot.up.from, { colour });
    const branch = rises ? this.texts.on_rising : this.texts.on_falling;
    const lines = [branch, `${this.texts.step} ${formatCount(step)}`, scientific(now)];
    plot.plate(lines, x, rises ? y + 12 : y - 44, colour);
    pen.dot(x, y, 8, colour, theme.background);
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
      step: formatCount(step),
      rate: scientific(rate(step, d_model, warmup)),
      warmup: formatCount(warmup),
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
