// What a larger alpha does to the length of the translation that wins; hidden until it is revealed.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText } from "../../../components/common/text/format.js";
import { ranked, SearchScene } from "./beams.js";

const STEPS = 100;
const LEFT = 64;

/** @typedef {import("../../../components/explorer/js/data/search.js").Search} Search */

export class Predict extends SearchScene {
  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(320, Math.min(room, 460));
  }

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
    if (!search) return;
    const lengths = ranked(search, 0).map(({ length }) => length);
    const across = new Axis(0, this.lesson.values.most_alpha, LEFT, width - 20);
    const up = new Axis(Math.min(...lengths) - 0.7, Math.max(...lengths) + 0.7, height - 60, 20);
    const ticks = [0, 0.5, 1, 1.5, 2];
    pen.axis(across, "bottom", height - 56, { ticks, show: (tick) => tick.toFixed(1), title: "\u03b1" });
    pen.axis(up, "left", LEFT, { ticks: [...new Set(lengths)], grid: width - 84, title: texts.winner_length });
    if (!revealed) {
      const style = { colour: theme.muted, size: 120, weight: 700, align: "center" };
      pen.write("?", (across.from + across.to) / 2, height / 2 - 20, style);
      return;
    }
    const winners = this.winners(search).map((each) => ({
      ...each,
      x: across.place(each.alpha),
      y: up.place(each.length),
    }));
    // Horizontal as long as the length stays, then straight up or down.
    const points = winners.flatMap(({ x, y }, index) => [
      [x, winners[Math.max(0, index - 1)].y],
      [x, y],
    ]);
    pen.trace(points, { colour: theme.kinds.cross, width: 3 });
    winners.forEach(({ x, y, text }, index) => {
      if (index && winners[index - 1].text === text) return;
      pen.dot(x, y, 5, theme.kinds.cross, theme.background);
      pen.write(text, x + 8, y - 16, { most: width - x - 16 });
    });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!this.search) return this.texts.no_search;
    if (!revealed) return this.texts.predict_say;
    const winners = this.winners(this.search);
    return fillText(this.texts.predict_answer, { first: winners[0].length, last: winners[STEPS].length });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed || !this.search) return null;
    const rows = this.winners(this.search)
      .filter((_, index) => index % 5 === 0)
      .map(({ alpha, length, text }) => [alpha, length, text]);
    return { columns: ["\u03b1", this.texts.length, this.texts.translation], rows };
  }
}
