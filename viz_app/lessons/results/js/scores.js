// Table 2: BLEU against the cost of training, in operations and in time on the paper's machines. The playhead lets the
// systems appear in the order of their cost; rings: the matrix products of the Transformers, counted.

import { fillText, raised } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { ChartScene } from "../../stage/js/chartscene.js";
import { playhead, slider, tenths } from "../../stage/js/describe.js";

const HOURS = [1 / 60, 1 / 6, 1, 12, 84, 30 * 24, 300 * 24]; // on the axis of time
const TIME = 52; // its height

/** @typedef {{ name: string, x: number, y: number }} System */

export class Scores extends ChartScene {
  term = "rate";

  get name() {
    return "scores";
  }

  get playhead() {
    const max = Math.max(...Object.keys(this.set.charts).map((pair) => this.systems(pair).length));
    return playhead({ name: "upto", label: this.texts.systems, min: 1, max, rate: 1.2, start: max });
  }

  get controls() {
    const start = this.lesson.values.rate / 1e12;
    return [...super.controls, slider({ name: "rate", label: this.texts.rate, min: 2, max: 400, step: 0.5, start })];
  }

  /** @param {string} pair */
  series(pair) {
    return /** @type {import("../../stage/js/chart.js").CurvesData} */ (this.chart({ pair })).series;
  }

  /**
   * Systems with a cost, the cheapest first.
   * @param {string} pair
   */
  systems(pair) {
    return this.series(pair)
      .slice(0, -1)
      .flatMap(({ x, y, names = [] }) => x.map((cost, at) => ({ name: names[at], x: cost, y: Number(y[at]) })))
      .sort((a, b) => a.x - b.x || a.y - b.y);
  }

  /**
   * Operations that the paper's machines do in so many hours.
   * @param {number} hours
   * @param {number} rate TFLOPS of each.
   */
  operations(hours, rate) {
    return hours * 3600 * this.lesson.values.gpus * rate * 1e12;
  }

  /** @type {Scene["draw"]} */
  draw(pen, { pair, upto, rate }) {
    const { theme } = pen;
    const shown = new Set(
      this.systems(pair)
        .slice(0, Math.floor(upto))
        .map(({ name }) => name),
    );
    const looks = [
      { colour: theme.muted, line: false },
      { colour: theme.muted, line: false, hollow: true },
      { colour: theme.kinds.encoder, line: false },
      { colour: theme.kinds.encoder, line: false, hollow: true },
    ];
    const all = this.series(pair);
    const series = all.map((each, index) => {
      const names = each.names ?? all[index - 1].names;
      const y = each.y.map((bleu, at) => (shown.has(names?.[at] ?? "") ? bleu : null));
      return { ...each, marked: true, look: looks[index], y };
    });
    const show = (/** @type {number} */ value) => `10${raised(Math.round(Math.log10(value)))}`;
    const chart = new Chart(
      pen,
      { x: 0, y: 0, width: pen.width, height: pen.height - TIME },
      {
        series,
        x: { title: this.texts.flops, log: true, ends: [6e17, 5e21], show },
        y: { title: "BLEU", ends: pair === "ende" ? [23, 29] : [37.5, 42.5] },
      },
    );
    chart.join([series[3], series[2]]);
    chart.draw();
    const { across } = chart;
    const y = pen.height - TIME + 8;
    pen.line(across.from, y, across.to, y, { colour: theme.line, width: 1 });
    for (const hours of HOURS) {
      const x = across.place(this.operations(hours, rate));
      if (x < across.from || x > across.to) continue;
      pen.line(x, y, x, y + 5, { colour: theme.muted, width: 1 });
      pen.note(this.span(hours), x, y + 14, { align: "center" });
    }
    const { gpus } = this.lesson.values;
    const title = fillText(this.texts.with_gpus, { gpus, rate });
    pen.note(title, across.to, y + 34, { align: "right", most: across.to - 12 });
  }

  /** @type {Scene["say"]} */
  say({ pair, upto, rate }) {
    const { gpus } = this.lesson.values;
    const systems = this.systems(pair);
    const { name, x, y } = systems[Math.min(Math.floor(upto), systems.length) - 1];
    const time = this.span(x / this.operations(1, rate));
    return fillText(this.texts.scores_say, {
      name: name.split("  ")[0],
      bleu: y,
      cost: scientific(x),
      time,
      gpus,
      rate,
    });
  }

  /**
   * 12.06 -> "12 h"; 84 -> "3.5 days"
   * @param {number} hours
   */
  span(hours) {
    const { days, hour, minute } = this.texts;
    const [text, n] = hours >= 48 ? [days, hours / 24] : hours >= 1 ? [hour, hours] : [minute, hours * 60];
    return fillText(text, { n: tenths(Number(n.toPrecision(2))) });
  }
}

/**
 * 3.3e18 -> "3.3 · 10¹⁸"
 * @param {number} value
 */
export function scientific(value) {
  const power = Math.floor(Math.log10(value) + 1e-12);
  return `${(value / 10 ** power).toFixed(1)}\u202f·\u202f10${raised(power)}`;
}
