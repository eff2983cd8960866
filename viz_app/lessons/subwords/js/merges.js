// The sentence in letters, and over it the tree of all merges: each joint stands as high as its number in the vocabulary. A
// level rises over that list; what lies under it is merged, as it would be with a vocabulary of just so many merges.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, formatCount } from "../../../components/common/text/format.js";
import { BOUNDARY } from "../../../components/common/text/tokens.js";
import { playhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { letter } from "./boxes.js";

const HEAD = 30;
const BASE = 34; // height of the letters
const LEFT = 46; // for the numbers of merges
const MIN = 104; // height of a line
const MAX_LINES = 7;

/**
 * A merge of two parts of the sentence; `x`: its middle in letters.
 * @typedef {{ begin: number, middle: number, end: number, rank: number, x: number, parts: Part[] }} Merge
 */
/** @typedef {{ x: number, rank: number }} Part Of rank 0 where it is a letter. */
/** @typedef {[begin: number, end: number]} Line Its first letter, and the letter after its last. */

/** @extends {Scene<import("./numbers").Values>} */
export class Merges extends Scene {
  term = "first";

  letters = [...this.lesson.values.letters];
  merges = tree(this.lesson.arrays.merges);

  get playhead() {
    const { length: max } = this.merges;
    return playhead({ name: "done", label: this.texts.merges, max, rate: Math.max(2, max / 14) });
  }

  /**
   * The lines of the sentence, broken between words.
   * @param {number} width
   */
  lines(width) {
    const { letters } = this;
    const most = Math.floor((width - LEFT) / this.cell(width) + 1e-6);
    const words = letters.flatMap((each, index) => (each === BOUNDARY && index ? [index] : []));
    /** @type {Line[]} */
    const lines = [];
    let begin = 0;
    words.forEach((start, word) => {
      if ((words[word + 1] ?? letters.length) - begin <= most) return;
      lines.push([begin, start]);
      begin = start;
    });
    return [...lines, /** @type {Line} */ ([begin, letters.length])];
  }

  /**
   * The width of a letter.
   * @param {number} width
   */
  cell(width) {
    if (isNarrow(width)) return 14;
    return Math.max(15, Math.min(26, (width - LEFT) / this.letters.length));
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const count = Math.min(MAX_LINES, this.lines(width).length);
    return Math.max(Math.min(560, room), HEAD + count * (MIN + BASE));
  }

  /** @type {Scene["draw"]} */
  draw(pen, { done }) {
    const { width, height } = pen;
    const count = Math.floor(done + 1e-6);
    const lines = this.lines(width);
    const shown = lines.slice(0, MAX_LINES);
    const tall = (height - HEAD) / shown.length;
    this.drawHead(pen, count);
    shown.forEach((line, index) => {
      const bottom = HEAD + (index + 1) * tall;
      const up = new Axis(0.8, this.lesson.values.count, bottom - BASE - 12, bottom - tall + 14, { log: true });
      this.drawLevel(pen, up, this.level(done), line);
      if (!index) pen.note(this.texts.merge_number, LEFT + 2, up.to - 6, { size: 11 });
      this.drawTree(pen, up, line, count);
      this.drawLetters(pen, bottom - BASE, line, count);
    });
    if (lines.length > shown.length) pen.note("\u2026", width - 10, height - 10, { size: 16, align: "right" });
  }

  /**
   * Number of the merge that the level has reached; it glides from one merge of the sentence to the next.
   * @param {number} done
   */
  level(done) {
    const rank = (/** @type {number} */ number) =>
      number < 1 ? 0.8 : this.merges[Math.min(number, this.merges.length) - 1].rank;
    const [from, to] = [rank(Math.floor(done)), rank(Math.ceil(done))];
    return from * (to / from) ** (done % 1);
  }

  /**
   * @param {Pen} pen
   * @param {number} count
   */
  drawHead(pen, count) {
    const { theme, width } = pen;
    const { letters, texts } = this;
    const title = fillText(texts.count, { tokens: letters.length - count, letters: letters.length });
    pen.write(title, 0, 10, { size: 15, weight: 600 });
    const last = this.merges[count - 1];
    if (!last) return;
    const { left, right } = this.parts(last);
    const style = { colour: theme.kinds.decoder, size: 14, weight: 600, align: "right", most: width * 0.6 };
    if (isNarrow(width)) return pen.write(`${left} + ${right}`, width, 10, { ...style, font: theme.code });
    const number = fillText(texts.merge, {
      rank: formatCount(last.rank),
      count: formatCount(this.lesson.values.count),
    });
    return pen.write(`${number}:  ${left} + ${right}`, width, 10, style);
  }

  /**
   * Return the parts of a merge and its result, as text.
   * @param {Merge} merge
   */
  parts({ begin, middle, end }) {
    const text = (/** @type {Line} */ ...line) =>
      this.letters
        .slice(...line)
        .map(letter)
        .join("");
    return { left: text(begin, middle), right: text(middle, end), whole: text(begin, end) };
  }

  /**
   * @param {Pen} pen
   * @param {Axis} up
   * @param {number} level
   * @param {Line} line
   */
  drawLevel(pen, up, level, [begin, end]) {
    const { theme } = pen;
    const right = LEFT + (end - begin) * this.cell(pen.width);
    for (const tick of up.ticks()) {
      pen.line(LEFT - 6, up.place(tick), right, up.place(tick), { colour: theme.line, width: 1, alpha: 0.6 });
      pen.note(formatCount(tick), LEFT - 10, up.place(tick), { size: 11, align: "right" });
    }
    const y = up.place(Math.max(level, up.low));
    pen.line(LEFT - 6, y, right, y, { colour: theme.kinds.decoder, dash: [6, 4] });
  }

  /**
   * @param {Pen} pen
   * @param {Axis} up
   * @param {Line} line
   * @param {number} count
   */
  drawTree(pen, up, [begin, end], count) {
    const { kinds, mark } = pen.theme;
    const cell = this.cell(pen.width);
    const x = (/** @type {number} */ place) => LEFT + (place - begin) * cell;
    const y = (/** @type {number} */ rank) => (rank ? up.place(rank) : up.from + 12);
    this.merges.forEach((merge, number) => {
      if (merge.begin < begin || merge.begin >= end) return;
      const done = number < count;
      const colour = number === count - 1 ? kinds.decoder : done ? kinds.encoder : mark;
      const style = done ? { colour, width: 2 } : { colour, width: 1, alpha: 0.55 };
      for (const part of merge.parts) {
        const points = [
          [x(part.x), y(part.rank)],
          [x(part.x), y(merge.rank)],
          [x(merge.x), y(merge.rank)],
        ];
        pen.trace(points, style);
      }
    });
  }

  /**
   * @param {Pen} pen
   * @param {number} top
   * @param {Line} line
   * @param {number} count
   */
  drawLetters(pen, top, [begin, end], count) {
    const { theme } = pen;
    const cell = this.cell(pen.width);
    const joints = new Set(this.merges.slice(0, count).map(({ middle }) => middle));
    const last = this.merges[count - 1];
    let start = begin;
    for (let place = begin + 1; place <= end; place++) {
      if (place < end && joints.has(place)) continue;
      const now = last && last.begin === start && last.end === place;
      const colour = now ? theme.kinds.decoder : theme.kinds.encoder;
      const look = place - start > 1 ? { alpha: 0.18, thick: 1.5 } : { alpha: 0.05, thick: 0.75 };
      const style = { fill: colour, line: colour, radius: 5, ...look };
      pen.box(LEFT + (start - begin) * cell + 1, top, (place - start) * cell - 2, 25, style);
      start = place;
    }
    this.letters.slice(begin, end).forEach((each, index) => {
      const colour = each === BOUNDARY ? theme.muted : theme.text;
      const style = { colour, font: theme.code, size: cell < 16 ? 13 : 15, align: "center" };
      pen.write(letter(each), LEFT + (index + 0.5) * cell, top + 13, style);
    });
  }

  /** @type {Scene["say"]} */
  say({ done }) {
    const { letters, merges, texts } = this;
    const count = Math.floor(done + 1e-6);
    const last = merges[count - 1];
    if (!last) return texts.merges_start;
    if (count < merges.length) return fillText(texts.merges_say, { rank: formatCount(last.rank), ...this.parts(last) });
    return fillText(texts.merges_end, {
      tokens: letters.length - count,
      letters: letters.length,
      count: formatCount(this.lesson.values.count),
    });
  }

  table() {
    const { texts } = this;
    const rows = this.merges.map((merge) => {
      const { left, right, whole } = this.parts(merge);
      return [merge.rank, left, right, whole];
    });
    return { columns: [texts.merge_number, texts.left, texts.right_part, texts.token], rows };
  }
}

/**
 * The merges with the parts that each joins, which earlier ones have made, or letters.
 * @param {NdArray} merges (merges, 4): begin, middle, end, rank.
 */
function tree(merges) {
  /** @type {Map<string, Merge>} */
  const made = new Map();
  for (let index = 0; index < merges.shape[0]; index++) {
    const [begin, middle, end, rank] = merges.part(index).data;
    const part = (/** @type {number} */ from, /** @type {number} */ to) =>
      made.get(`${from} ${to}`) ?? { x: (from + to) / 2, rank: 0 };
    const parts = [part(begin, middle), part(middle, end)];
    made.set(`${begin} ${end}`, { begin, middle, end, rank, x: (parts[0].x + parts[1].x) / 2, parts });
  }
  return [...made.values()];
}
