// Predict, then reveal: the peak when the warm-up is twice as long. Before that the second curve is not drawn.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { isNarrow } from "../../stage/js/layout.js";
import { falling, peak, scientific } from "./rate.js";
import { Plot, ScheduleScene, STEPS } from "./schedule.js";

const SHOWN = 1.25; // of the warm-up, of the curve before the answer: what follows holds the answer

export class Predict extends ScheduleScene {
  term = "warmup";

  get both() {
    const { d_model, warmup } = this.paper;
    return { d_model, once: warmup, twice: 2 * warmup };
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { theme, revealed } = pen;
    const { encoder, decoder } = theme.kinds;
    const { d_model, once, twice } = this.both;
    const plot = new Plot(pen, 1.32 * peak(d_model, once));
    plot.axes(this.texts);
    if (revealed) plot.curve((step) => falling(step, d_model), { colour: decoder });
    const style = { colour: theme.text, width: revealed ? 2 : 3.5 };
    plot.minimum(d_model, once, style, revealed ? STEPS : once * SHOWN);
    this.top(pen, plot, once, theme.text);
    if (revealed) {
      plot.minimum(d_model, twice, { colour: encoder, width: 3.5 });
      this.top(pen, plot, twice, encoder);
      return;
    }
    const { x } = plot.peak(d_model, twice);
    pen.line(x, plot.up.from, x, plot.up.to, { colour: encoder, dash: [4, 4] });
    pen.write("?", x, plot.up.to + 26, { colour: encoder, size: 30, weight: 700, align: "center" });
  }

  /**
   * @param {Pen} pen
   * @param {Plot} plot
   * @param {number} warmup
   * @param {string} colour
   */
  top(pen, plot, warmup, colour) {
    const { d_model } = this.both;
    const { x, y } = plot.peak(d_model, warmup);
    pen.line(x, y, x, plot.up.from, { colour, width: 1, dash: [2, 3] });
    pen.dot(x, y, 6, colour, pen.theme.background);
    const [size, lift] = isNarrow(pen.width) ? [13, 12] : [15, 16];
    pen.write(scientific(peak(d_model, warmup)), x + 8, y - lift, { colour, size, weight: 650 });
    pen.write(formatCount(warmup), x + 6, plot.up.from - 11, { colour });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { d_model, once, twice } = this.both;
    const label = revealed ? this.texts.predict_revealed : this.texts.predict_hidden;
    return fillText(label, {
      once: formatCount(once),
      twice: formatCount(twice),
      before: scientific(peak(d_model, once)),
      after: scientific(peak(d_model, twice)),
    });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    const { d_model, once, twice } = this.both;
    const rows = (revealed ? [once, twice] : [once]).map((warmup) => [warmup, peak(d_model, warmup)]);
    return { columns: ["warmup_steps", this.texts.peak], rows };
  }
}
