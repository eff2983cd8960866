// Predict, then reveal: the peak when the warm-up is twice as long. Before that the second curve is not drawn.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { peak, rate, scientific } from "./rate.js";

const STEPS = 20000; // shown
const SHOWN = 1.25; // of the warm-up, of the curve before the answer: what follows holds the answer
const POINTS = 400;
const ABOVE = 1.32; // of the peak

/** @extends {Scene<import("./numbers").Values>} */
export class Predict extends Scene {
  size = { least: 300, share: 0.62 };
  term = "warmup";

  get both() {
    const { d_model, warmup } = this.lesson.values.paper;
    return { d_model, once: warmup, twice: 2 * warmup };
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { theme, revealed, width, height } = pen;
    const { encoder, decoder } = theme.kinds;
    const { d_model, once, twice } = this.both;
    const chart = new Chart(
      pen,
      { x: 0, y: 0, width, height },
      {
        series: [],
        x: { title: this.texts.step_axis, ends: [0, STEPS] },
        y: {
          title: this.texts.rate_axis,
          ends: [0, ABOVE * peak(d_model, once)],
          show: (value) => String(Number((value * 1e3).toPrecision(3))),
        },
      },
    );
    chart.frame();
    /**
     * @param {(step: number) => number} rateAt
     * @param {Partial<LineStyle>} look
     * @param {number} [last]
     */
    const curve = (rateAt, look, last = STEPS) => {
      const x = Array.from({ length: POINTS + 1 }, (_, index) => (last * index) / POINTS);
      chart.curve({ x, y: x.map(rateAt), look }, 0);
    };
    if (revealed) curve((step) => rate(Math.max(1, step), d_model, 1), { colour: decoder, width: 1.75, dash: [6, 5] });
    const look = { colour: theme.text, width: revealed ? 2 : 3.5 };
    curve((step) => rate(step, d_model, once), look, revealed ? STEPS : once * SHOWN);
    this.top(pen, chart, once, theme.text);
    if (revealed) {
      curve((step) => rate(step, d_model, twice), { colour: encoder, width: 3.5 });
      this.top(pen, chart, twice, encoder);
      return;
    }
    const x = chart.across.place(twice);
    pen.line(x, chart.up.from, x, chart.up.to, { colour: encoder, dash: [4, 4] });
    pen.write("?", x, chart.up.to + 26, { colour: encoder, size: 30, weight: 700, align: "center" });
  }

  /**
   * @param {Pen} pen
   * @param {Chart} chart
   * @param {number} warmup
   * @param {string} colour
   */
  top(pen, { across, up }, warmup, colour) {
    const { d_model } = this.both;
    const [x, y] = [across.place(warmup), up.place(peak(d_model, warmup))];
    pen.line(x, y, x, up.from, { colour, width: 1, dash: [2, 3] });
    pen.dot(x, y, 6, colour, pen.theme.background);
    const narrow = isNarrow(pen.width);
    const beside = narrow && !pen.revealed ? { align: "center" } : {}; // the line of the question is near
    const size = narrow ? 13 : 15;
    pen.write(scientific(peak(d_model, warmup)), x + (beside.align ? 0 : 8), y - 16, {
      colour,
      size,
      weight: 650,
      ...beside,
    });
    pen.write(formatCount(warmup), x + 6, up.from - 11, { colour });
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
