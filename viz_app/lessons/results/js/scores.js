// Table 2: BLEU against the cost of training. The playhead lets the systems appear in the order of their cost.

import { fillText, raised } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { ChartScene } from "../../stage/js/chartscene.js";
import { playhead } from "../../stage/js/describe.js";

/** @typedef {{ name: string, x: number, y: number }} System */

export class Scores extends ChartScene {
  get name() {
    return "scores";
  }

  get playhead() {
    const max = Math.max(...Object.keys(this.set.charts).map((pair) => this.systems(pair).length));
    return playhead({ name: "upto", label: this.texts.systems, min: 1, max, rate: 1.2, start: max });
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
      .flatMap(({ x, y, names = [] }) => x.map((cost, at) => ({ name: names[at], x: cost, y: Number(y[at]) })))
      .sort((a, b) => a.x - b.x || a.y - b.y);
  }

  /** @type {Scene["draw"]} */
  draw(pen, { pair, upto }) {
    const { theme } = pen;
    const shown = new Set(
      this.systems(pair)
        .slice(0, Math.floor(upto))
        .map(({ name }) => name),
    );
    const looks = [
      { colour: theme.muted, line: false },
      { colour: theme.muted, line: false, hollow: true },
      { colour: theme.kinds.encoder, dash: [3, 4] },
    ];
    const series = this.series(pair).map((each, index) => ({
      ...each,
      marked: true,
      look: looks[index],
      y: each.y.map((bleu, at) => (shown.has(each.names?.[at] ?? "") ? bleu : null)),
    }));
    const show = (/** @type {number} */ value) => `10${raised(Math.round(Math.log10(value)))}`;
    new Chart(
      pen,
      { x: 0, y: 0, width: pen.width, height: pen.height },
      {
        series,
        x: { title: this.texts.flops, log: true, ends: [1e18, 3e21], show },
        y: { title: "BLEU", ends: pair === "ende" ? [23, 29] : [37.5, 42.5] },
      },
    ).draw();
  }

  /** @type {Scene["say"]} */
  say({ pair, upto }) {
    const systems = this.systems(pair);
    const { name, x, y } = systems[Math.min(Math.floor(upto), systems.length) - 1];
    return fillText(this.texts.scores_say, { name: name.split("  ")[0], bleu: y, cost: scientific(x) });
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
