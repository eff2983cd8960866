// The length penalty: what the search finished, scored again while alpha moves.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, signed } from "../../../components/common/text/format.js";
import { lengthPenalty } from "../../../components/explorer/js/data/search.js";
import { playhead } from "../../stage/js/describe.js";
import { ranked, SearchScene } from "./beams.js";

const NARROW = 620;
const SHOWN = 5;
const ROW = 34;
const LEFT = 56;
const TICKS = [0, 0.5, 1, 1.5, 2];

/** @typedef {import("../../../components/explorer/js/data/search.js").Search} Search */

export class Alpha extends SearchScene {
  get playhead() {
    const { most_alpha: max, tree } = this.lesson.values;
    const show = (/** @type {number} */ value) => value.toFixed(2);
    return playhead({ name: "alpha", label: "\u03b1", max, step: 0.1, rate: 0.25, start: tree.alpha ?? 0.6, show });
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
    const { width, height, theme } = pen;
    const { search, texts } = this;
    if (!search) return;
    const rows = ranked(search, alpha, SHOWN);
    const list = 30 + rows.length * ROW;
    this.drawCurves(pen, search, alpha, rows, height - list - 20);
    const top = height - list;
    const narrow = width < NARROW;
    const columns = narrow ? [18, 58, 0, 108] : [18, 70, 150, 222]; // on a phone the table alone has log P
    ["", texts.length, "log P", texts.score].forEach((title, index) => {
      if (columns[index]) pen.note(title, columns[index], top + 10, { align: "right", most: 70 });
    });
    rows.forEach(({ node, text, length, total, score }, index) => {
      const y = top + 36 + index * ROW;
      const look = index ? { colour: theme.text, weight: 400 } : { colour: theme.kinds.cross, weight: 650 };
      const style = { ...look, size: narrow ? 13 : 14 };
      [String(index + 1), String(length), signed(total), signed(score)].forEach((value, column) => {
        if (columns[column]) pen.write(value, columns[column], y, { ...style, align: "right" });
      });
      pen.write(text, columns[3] + 18, y, { ...style, most: width - columns[3] - 20 });
      if (node === search.leaves[0]) pen.fill(0, y - 10, 3, 20, theme.kinds.cross);
    });
  }

  /** @param {Pen} pen */
  across({ width }) {
    return new Axis(0, this.lesson.values.most_alpha, LEFT, width - 26);
  }

  /**
   * Score of each hypothesis over alpha, with a cut at the alpha that is chosen.
   * @param {Pen} pen
   * @param {Search} search
   * @param {number} alpha
   * @param {{ node: number }[]} rows
   * @param {number} height
   */
  drawCurves(pen, search, alpha, rows, height) {
    const { width, theme } = pen;
    const { texts } = this;
    const across = this.across(pen);
    const most = across.high;
    const scores = rows.flatMap(({ node }) => [search.score(node, 0), search.score(node, most)]);
    const up = new Axis(Math.min(...scores), Math.max(...scores), height - 34, 10);
    const ticks = TICKS.filter((tick) => tick <= most);
    pen.axis(across, "bottom", height - 30, { ticks, show: (tick) => tick.toFixed(1) });
    pen.axis(up, "left", LEFT, {
      ticks: up.ticks(6),
      show: (tick) => signed(tick, 1),
      grid: width - 82,
      title: width < NARROW ? "" : texts.score,
    });
    const [searched, chosen] = [search.alpha, alpha].map((each) => across.place(each));
    pen.line(searched, 10, searched, height - 34, { colour: theme.muted, width: 1, dash: [3, 4] });
    pen.note(fillText(texts.searched_with, { alpha: search.alpha }), searched + 6, height - 44, { size: 11 });
    pen.line(chosen, 4, chosen, height - 34, { colour: theme.text });
    for (const { node } of [...rows].reverse()) {
      const first = node === rows[0].node;
      const points = Array.from({ length: 41 }, (_, index) => [
        across.place((most * index) / 40),
        up.place(search.score(node, (most * index) / 40)),
      ]);
      pen.trace(points, { colour: first ? theme.kinds.cross : theme.mark, width: first ? 2.5 : 1.5 });
      const colour = first ? theme.kinds.cross : theme.muted;
      pen.dot(chosen, up.place(search.score(node, alpha)), first ? 5 : 3.5, colour, theme.background);
    }
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    return { alpha: this.across(pen).value(x) };
  }

  /** @type {Scene["say"]} */
  say({ alpha }) {
    const { search } = this;
    if (!search) return this.texts.no_search;
    const [{ text, length }] = ranked(search, alpha, 1);
    const penalty = lengthPenalty(length, alpha, search.penalty).toFixed(2);
    return fillText(this.texts.alpha_say, { alpha: alpha.toFixed(2), text, penalty });
  }

  /** @type {Scene["table"]} */
  table({ alpha }) {
    const { search, texts } = this;
    if (!search) return null;
    const rows = ranked(search, alpha).map(({ text, length, total, score }, index) => [
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
