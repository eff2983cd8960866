// The length penalty: what the search finished, scored again while alpha moves.

import { fillText } from "../../../components/common/dom.js";
import { signed } from "../../../components/common/format.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { lengthPenalty } from "../../../components/explorer/js/search.js";
import { Scene } from "../../stage/js/scene.js";
import { ranked, searchOf } from "./beams.js";

const NARROW = 620;
const SHOWN = 5;
const ROW = 34;

export class Alpha extends Scene {
  get search() {
    return searchOf(this.lesson);
  }

  get playhead() {
    const { most_alpha: max, tree } = this.lesson.values;
    return {
      name: "alpha",
      label: "\u03b1",
      min: 0,
      max,
      step: 0.1,
      rate: 0.25,
      start: tree.alpha ?? 0.6,
      /** @param {number} value */
      show: (value) => value.toFixed(2),
    };
  }

  /** @type {Scene["lit"]} */
  lit({ alpha }) {
    return alpha > 0 ? "penalty" : null;
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 500 : Math.max(390, Math.min(room, 560));
  }

  /** @type {Scene["draw"]} */
  draw(pen, { alpha }) {
    const { context, width, height, theme } = pen;
    const { search } = this;
    if (!search) return;
    const rows = ranked(search, alpha, SHOWN);
    const list = 30 + rows.length * ROW;
    this.drawCurves(pen, alpha, rows, height - list - 20);
    const top = height - list;
    const narrow = width < NARROW;
    const columns = narrow ? [18, 58, 104, 160] : [18, 70, 150, 222];
    const head = { colour: theme.muted, font: theme.font, size: 12, align: "right" };
    const titles = /** @type {[string, number][]} */ ([
      ["", 0],
      [this.texts.length, 1],
      ["log P", 2],
      [this.texts.score, 3],
    ]);
    titles.forEach(([title, place]) => write(context, title, columns[place], top + 10, { ...head, most: 70 }));
    rows.forEach(({ node, text, length, total, score }, index) => {
      const y = top + 36 + index * ROW;
      const first = index === 0;
      const style = {
        colour: first ? theme.kinds.cross : theme.text,
        font: theme.font,
        size: narrow ? 13 : 14,
        weight: first ? 650 : 400,
      };
      [String(index + 1), String(length), signed(total), signed(score)].forEach((value, place) =>
        write(context, value, columns[place], y, { ...style, align: "right" }),
      );
      write(context, text, columns[3] + 18, y, { ...style, most: width - columns[3] - 20 });
      if (node === search.leaves[0]) {
        context.fillStyle = theme.kinds.cross;
        context.fillRect(0, y - 10, 3, 20);
      }
    });
  }

  /**
   * Score of each hypothesis over alpha, with a cut at the alpha that is chosen.
   * @param {Pen} pen
   * @param {number} alpha
   * @param {any[]} rows
   * @param {number} height
   */
  drawCurves({ context, width, theme }, alpha, rows, height) {
    const { search, texts } = this;
    const { most_alpha: most, tree } = this.lesson.values;
    const across = new Axis(0, most, 56, width - 26);
    const scores = rows.flatMap(({ node }) => [search.score(node, 0), search.score(node, most)]);
    const up = new Axis(Math.min(...scores), Math.max(...scores), height - 34, 10);
    drawAxis(context, across, "bottom", height - 30, {
      theme,
      ticks: [0, 0.5, 1, 1.5, 2].filter((tick) => tick <= most),
      show: (tick) => tick.toFixed(1),
    });
    drawAxis(context, up, "left", 56, {
      theme,
      ticks: up.ticks(6),
      show: (tick) => signed(tick, 1),
      grid: width - 82,
      title: width < NARROW ? "" : texts.score,
    });
    trace(
      context,
      [
        [across.place(tree.alpha), 10],
        [across.place(tree.alpha), height - 34],
      ],
      { colour: theme.muted, width: 1, dash: [3, 4] },
    );
    write(context, fillText(texts.searched_with, { alpha: tree.alpha }), across.place(tree.alpha) + 6, height - 44, {
      colour: theme.muted,
      font: theme.font,
      size: 11,
    });
    trace(
      context,
      [
        [across.place(alpha), 4],
        [across.place(alpha), height - 34],
      ],
      { colour: theme.text, width: 1.5 },
    );
    [...rows].reverse().forEach(({ node }) => {
      const first = node === rows[0].node;
      const points = Array.from({ length: 41 }, (_, index) => [
        across.place((most * index) / 40),
        up.place(search.score(node, (most * index) / 40)),
      ]);
      trace(context, points, { colour: first ? theme.kinds.cross : theme.mark, width: first ? 2.5 : 1.5 });
      dot(
        context,
        across.place(alpha),
        up.place(search.score(node, alpha)),
        first ? 5 : 3.5,
        first ? theme.kinds.cross : theme.muted,
        theme.background,
      );
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width }) {
    return { alpha: new Axis(0, this.lesson.values.most_alpha, 56, width - 26).value(x) };
  }

  /** @type {Scene["say"]} */
  say({ alpha }) {
    const { search } = this;
    if (!search) return this.texts.no_search;
    const [first] = ranked(search, alpha, 1);
    return fillText(this.texts.alpha_say, {
      alpha: alpha.toFixed(2),
      text: first.text,
      penalty: lengthPenalty(first.length, alpha, search.penalty).toFixed(2),
    });
  }

  /** @type {Scene["table"]} */
  table({ alpha }) {
    const { search, texts } = this;
    if (!search) return null;
    const rows = ranked(search, alpha, 99).map(({ text, length, total, score }, index) => [
      index + 1,
      text,
      length,
      total,
      lengthPenalty(length, alpha, search.penalty),
      score,
    ]);
    return { columns: ["", texts.translation, texts.length, "log P", "lp", texts.score], rows };
  }
}
