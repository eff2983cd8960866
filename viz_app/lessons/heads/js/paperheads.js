// The paper's Figures 3 to 5: which head of this model does the same over many sentences? Hidden until it is revealed.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, formatCount, percent } from "../../../components/common/text/format.js";
import { isNarrow } from "../../stage/js/layout.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";

const LINE = { tall: 100, narrow: 160 }; // of a row, in pixels

/** @extends {Scene<import("./numbers").Values>} */
export class PaperHeads extends Scene {
  get controls() {
    return [{ name: "row", kind: "held", start: 0 }];
  }

  get rows() {
    return this.lesson.values.paper?.rows ?? [];
  }

  /** @param {Settings} settings */
  shown({ row }) {
    return Math.max(0, Math.min(this.rows.length - 1, Math.round(row)));
  }

  /** @type {Scene["height"]} */
  height(width) {
    return Math.max(240, this.rows.length * this.line(width));
  }

  /** @param {number} width */
  line(width) {
    return isNarrow(width) ? LINE.narrow : LINE.tall;
  }

  missing() {
    return this.rows.length ? null : this.texts.paper_missing;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { texts } = this;
    const { theme, width, revealed } = pen;
    const line = this.line(width);
    const shown = this.shown(settings);
    this.rows.forEach((row, at) => {
      const top = at * line;
      if (at === shown) pen.frame(1, top + 1, width - 2, line - 6, theme.text, 2);
      const [x, room] = [12, width - 24];
      const title = `${fillText(texts.paper_number, { number: row.figure })}: ${texts[`paper_figure_${row.figure}`]}`;
      pen.write(title, x, top + 18, { size: 15, weight: 650, most: room });
      const asked = `${row.words} (${row.relation})`;
      const style = { size: 13, colour: theme.muted };
      const down = wrapped(pen, asked, x, top + 40, room, style);
      this.drawRow(pen, row, { x, y: top + 40 + down, width: room, height: 30 }, revealed);
    });
  }

  /**
   * The baseline, and once it is revealed the best head.
   * @param {Pen} pen
   * @param {import("./numbers").PaperRow} row
   * @param {Box} place
   * @param {boolean} revealed
   */
  drawRow(pen, row, { x, y, width }, revealed) {
    const { theme } = pen;
    const narrow = isNarrow(pen.width);
    const axis = new Axis(0, 1, x + 4, x + (narrow ? width : width * 0.42) - 4);
    const colour = theme.kinds.encoder;
    pen.line(axis.from, y, axis.to, y, { colour: theme.line, width: 2 });
    const tick = axis.place(row.baseline);
    pen.line(tick, y - 9, tick, y + 9, { colour: theme.text, width: 2.5 });
    if (revealed) {
      pen.line(axis.place(row.low), y, axis.place(row.high), y, { colour, width: 5 });
      pen.dot(axis.place(row.value), y, 5, colour, theme.background);
    }
    const [left, first] = narrow ? [x, y + 20] : [axis.to + 22, y - 8];
    const room = x + width - left;
    const head = revealed ? this.verdict(row) : "?";
    pen.write(head, left, first, {
      size: 14,
      weight: 650,
      most: room,
      colour: row.verdict === "holds" || !revealed ? theme.text : theme.muted,
    });
    pen.note(this.numbers(row, revealed), left, first + 21, { size: 13, most: room });
  }

  /** @param {import("./numbers").PaperRow} row */
  verdict(row) {
    return fillText(this.texts[`paper_${row.verdict}`], { head: row.head });
  }

  /**
   * @param {import("./numbers").PaperRow} row
   * @param {boolean | undefined} revealed
   */
  numbers(row, revealed) {
    const { texts } = this;
    const baseline = fillText(texts.paper_beside, { baseline: percent(row.baseline) });
    if (!revealed) return baseline;
    const shares = { value: percent(row.value), low: percent(row.low), high: percent(row.high) };
    return `${fillText(texts.paper_numbers, { ...shares, places: formatCount(row.places) })} ${baseline}`;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width }) {
    const row = Math.floor(y / this.line(width));
    return row >= 0 && row < this.rows.length ? { row } : null;
  }

  /** @type {Scene["hit"]} The number of a row. */
  hit(name, { width }) {
    return { x: 30, y: (Number(name) + 0.5) * this.line(width) };
  }

  /** @type {Scene["stepped"]} From row to row. */
  stepped(count, settings) {
    const { length } = this.rows;
    return length ? { row: (this.shown(settings) + count + length) % length } : null;
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { texts, rows } = this;
    const { paper, penalty } = this.lesson.values;
    const row = rows[this.shown(settings)];
    const about = row.figure === 4 ? `${texts.paper_anaphora} ` : "";
    if (!revealed) return `${about}${fillText(texts.paper_ask, { count: formatCount(paper.sentences) })}`;
    const number = fillText(texts.paper_number, { number: row.figure });
    return `${about}${number}, ${row.words}: ${this.verdict(row)} ${this.numbers(row, true)} ${penalty}`.trim();
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    const { texts } = this;
    if (!revealed) return null;
    const rows = this.rows.map((row) => [
      fillText(texts.paper_number, { number: row.figure }),
      row.words,
      row.head,
      row.value,
      row.low,
      row.high,
      row.baseline,
      row.places,
      row.verdict === "holds" ? texts.yes : texts.no,
    ]);
    const columns = ["rows", "relation", "best_head", "share", "low", "high", "baseline", "places", "role"];
    return { columns: columns.map((name) => texts[`paper_${name}`]), rows };
  }
}
