// Length of the winning translation over alpha; hidden until it is revealed.

import { fillText } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { ranked, SearchScene } from "./beams.js";

const STEPS = 100;

/** @typedef {import("../../../components/explorer/js/data/search.js").Search} Search */

export class Predict extends SearchScene {
  size = { least: 320, most: 460 };

  /**
   * The winner under each alpha.
   * @param {Search} search
   */
  winners(search) {
    return Array.from({ length: STEPS + 1 }, (_, index) => {
      const alpha = (this.lesson.values.most_alpha * index) / STEPS;
      const [{ length, text }] = ranked(search, alpha, 1);
      return { alpha, length, text };
    });
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { width, height, theme, revealed } = pen;
    const { search, texts } = this;
    const lengths = ranked(search, 0).map(({ length }) => length);
    const winners = revealed ? this.winners(search) : [];
    // Horizontal as long as the length stays, then straight up or down.
    const steps = winners.flatMap(({ alpha, length }, index) => [
      { x: alpha, y: winners[Math.max(0, index - 1)].length },
      { x: alpha, y: length },
    ]);
    const chart = new Chart(
      pen,
      { x: 0, y: 0, width, height },
      {
        series: [
          { x: steps.map(({ x }) => x), y: steps.map(({ y }) => y), look: { colour: theme.kinds.cross, width: 3 } },
        ],
        x: { title: "\u03b1", ends: [0, this.lesson.values.most_alpha] },
        y: {
          title: texts.winner_length,
          ends: [Math.min(...lengths) - 0.7, Math.max(...lengths) + 0.7],
          ticks: [...new Set(lengths)].map((length) => [length, String(length)]),
        },
      },
    );
    const { across, up } = chart;
    chart.draw();
    if (!revealed) {
      const style = { colour: theme.muted, size: 120, weight: 700, align: "center" };
      pen.write("?", (across.from + across.to) / 2, height / 2 - 20, style);
    }
    winners.forEach(({ alpha, length, text }, index) => {
      if (index && winners[index - 1].text === text) return;
      const [x, y] = [across.place(alpha), up.place(length)];
      pen.dot(x, y, 5, theme.kinds.cross, theme.background);
      pen.write(text, x + 8, y - 16, { most: width - x - 16 });
    });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!revealed) return this.texts.predict_say;
    const winners = this.winners(this.search);
    return fillText(this.texts.predict_answer, { first: winners[0].length, last: winners[STEPS].length });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed) return null;
    const rows = this.winners(this.search)
      .filter((_, index) => index % 5 === 0)
      .map(({ alpha, length, text }) => [alpha, length, text]);
    return { columns: ["\u03b1", this.texts.length, this.texts.translation], rows };
  }
}
