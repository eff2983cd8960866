// What a larger alpha does to the length of the translation that wins; hidden until it is revealed.

import { fillText } from "../../../components/common/dom.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { ranked, searchOf } from "./beams.js";

const STEPS = 100;

export class Predict extends Scene {
  get search() {
    return searchOf(this.lesson);
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(320, Math.min(room, 460));
  }

  /**
   * The winner under each alpha: [alpha, length, text].
   * @returns {[number, number, string][]}
   */
  winners() {
    const { most_alpha: most } = this.lesson.values;
    return Array.from({ length: STEPS + 1 }, (_, index) => {
      const alpha = (most * index) / STEPS;
      const [{ length, text }] = ranked(this.search, alpha, 1);
      return [alpha, length, text];
    });
  }

  /** @type {Scene["draw"]} */
  draw({ context, width, height, theme, revealed }) {
    const { search, texts } = this;
    if (!search) return;
    const lengths = ranked(search, 0, 99).map(({ length }) => length);
    const across = new Axis(0, this.lesson.values.most_alpha, 64, width - 20);
    const up = new Axis(Math.min(...lengths) - 0.7, Math.max(...lengths) + 0.7, height - 60, 20);
    drawAxis(context, across, "bottom", height - 56, {
      theme,
      ticks: [0, 0.5, 1, 1.5, 2],
      show: (tick) => tick.toFixed(1),
      title: "\u03b1",
    });
    const whole = [...new Set(lengths)];
    drawAxis(context, up, "left", 64, { theme, ticks: whole, grid: width - 84, title: texts.winner_length });
    if (!revealed) {
      write(context, "?", (64 + width - 20) / 2, height / 2 - 20, {
        colour: theme.line,
        font: theme.font,
        size: 120,
        weight: 700,
        align: "center",
      });
      return;
    }
    const winners = this.winners();
    const points = winners.flatMap(([alpha, length], index) =>
      index && winners[index - 1][1] !== length
        ? [
            [across.place(alpha), up.place(winners[index - 1][1])],
            [across.place(alpha), up.place(length)],
          ]
        : [[across.place(alpha), up.place(length)]],
    );
    trace(context, points, { colour: theme.kinds.cross, width: 3 });
    winners.forEach(([alpha, length, text], index) => {
      if (index && winners[index - 1][2] === text) return;
      dot(context, across.place(alpha), up.place(length), 5, theme.kinds.cross, theme.background);
      write(context, text, across.place(alpha) + 8, up.place(length) - 16, {
        colour: theme.text,
        font: theme.font,
        size: 13,
        most: width - across.place(alpha) - 16,
      });
    });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!this.search) return this.texts.no_search;
    if (!revealed) return this.texts.predict_say;
    const winners = this.winners();
    return fillText(this.texts.predict_answer, { first: winners[0][1], last: winners[STEPS][1] });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed || !this.search) return null;
    return {
      columns: ["\u03b1", this.texts.length, this.texts.translation],
      rows: this.winners().filter((_, index) => index % 5 === 0),
    };
  }
}
