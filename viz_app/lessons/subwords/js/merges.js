// The sentence in letters, and over it the tree of all merges: each joint stands as high as its number in the vocabulary. A
// level rises over that list; what lies under it is merged, as it would be with a vocabulary of just so many merges.

import { fillText } from "../../../components/common/dom.js";
import { grouped } from "../../../components/common/format.js";
import { Axis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { box, letter } from "./boxes.js";

const HEAD = 30;
const BASE = 34; // height of the letters
const LEFT = 46; // for the numbers of merges
const LEAST = 104; // height of a line
const MOST_LINES = 7;

export class Merges extends Scene {
  /** @type {any} */
  places;

  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    this.letters = [...lesson.values.letters];
    const { merges } = lesson.arrays;
    this.merges = Array.from({ length: merges.shape[0] }, (_, index) => {
      const [begin, middle, end, rank] = merges.part(index).data;
      return { begin, middle, end, rank };
    });
    this.nodes = this.tree();
  }

  /** For each merge the middles of its two parts and its own, in letters, and how high the parts stand. */
  tree() {
    const made = new Map(); // "begin end" -> number of the merge that made it
    return this.merges.map(({ begin, middle, end, rank }, number) => {
      /**
       * @param {number} from
       * @param {number} to
       */
      const part = (from, to) => {
        const before = made.get(`${from} ${to}`);
        return before === undefined
          ? { x: (from + to) / 2, rank: 0 }
          : { x: this.at(before), rank: this.merges[before].rank };
      };
      const [left, right] = [part(begin, middle), part(middle, end)];
      made.set(`${begin} ${end}`, number);
      this.places = this.places ?? [];
      this.places[number] = (left.x + right.x) / 2;
      return { left, right, rank, x: this.places[number], begin };
    });
  }

  /** @param {number} number */
  at(number) {
    return this.places[number];
  }

  get playhead() {
    const count = this.merges.length;
    return {
      name: "done",
      label: this.texts.merges,
      min: 0,
      max: count,
      step: 1,
      rate: Math.max(2, count / 14),
      start: 0,
      /** @param {number} value */
      show: (value) => String(Math.floor(value + 1e-6)),
    };
  }

  /**
   * The lines of the sentence: [first letter, letter after the last], broken between words.
   * @param {number} width
   */
  lines(width) {
    const most = Math.floor((width - LEFT) / this.cell(width) + 1e-6);
    const lines = [];
    let [begin, end] = [0, 0];
    this.letters.forEach((each, index) => {
      if (each === "\u2581" && index) {
        const next = this.letters.indexOf("\u2581", index + 1);
        if ((next < 0 ? this.letters.length : next) - begin > most) {
          lines.push([begin, index]);
          begin = index;
        }
      }
      end = index + 1;
    });
    lines.push([begin, end]);
    return lines;
  }

  /** @param {number} width */
  cell(width) {
    if (width < 520) return 14;
    return Math.max(15, Math.min(26, (width - LEFT) / this.letters.length));
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const count = Math.min(MOST_LINES, this.lines(width).length);
    return Math.max(Math.min(560, room), HEAD + count * (LEAST + BASE));
  }

  lit() {
    return "first";
  }

  /** @type {Scene["draw"]} */
  draw(pen, { done }) {
    const { context, width, height, theme } = pen;
    const count = Math.floor(done + 1e-6);
    const lines = this.lines(width);
    const shown = lines.slice(0, MOST_LINES);
    const tall = (height - HEAD) / shown.length;
    this.drawHead(pen, count);
    const level = this.level(done);
    shown.forEach(([begin, end], index) => {
      const bottom = HEAD + (index + 1) * tall;
      const up = new Axis(0.8, this.lesson.values.count, bottom - BASE - 12, bottom - tall + 14, { log: true });
      this.drawLevel(pen, up, level, begin, end, index);
      this.drawTree(pen, up, begin, end, count);
      this.drawLetters(pen, bottom - BASE, begin, end, count);
    });
    if (lines.length > shown.length)
      write(context, "\u2026", width - 10, height - 10, {
        colour: theme.muted,
        font: theme.font,
        size: 16,
        align: "right",
      });
  }

  /**
   * Number of the merge that the level has reached; it glides from one merge of the sentence to the next.
   * @param {any} done
   */
  level(done) {
    /** @param {number} number */
    const rank = (number) => (number < 1 ? 0.8 : this.merges[Math.min(number, this.merges.length) - 1].rank);
    const [from, to] = [rank(Math.floor(done)), rank(Math.ceil(done))];
    return from * (to / from) ** (done % 1);
  }

  /**
   * @param {Pen} pen
   * @param {number} count
   */
  drawHead({ context, theme, width }, count) {
    const style = { colour: theme.text, font: theme.font, size: 15, weight: 600 };
    const told = fillText(this.texts.count, { pieces: this.letters.length - count, letters: this.letters.length });
    write(context, told, 0, 10, style);
    const last = this.merges[count - 1];
    if (!last) return;
    const [left, right] = [this.text(last.begin, last.middle), this.text(last.middle, last.end)];
    const small = width < 520;
    write(
      context,
      small
        ? `${left} + ${right}`
        : `${fillText(this.texts.merge, { rank: grouped(last.rank), count: grouped(this.lesson.values.count) })}:  ${left} + ${right}`,
      width,
      10,
      {
        colour: theme.kinds.decoder,
        font: small ? theme.code : theme.font,
        size: 14,
        weight: 600,
        align: "right",
        most: width * 0.6,
      },
    );
  }

  /**
   * @param {any} begin
   * @param {number} end
   */
  text(begin, end) {
    return this.letters.slice(begin, end).map(letter).join("");
  }

  /**
   * @param {Pen} pen
   * @param {Axis} up
   * @param {number} level
   * @param {number} begin
   * @param {number} end
   * @param {number} index
   */
  drawLevel({ context, theme, width }, up, level, begin, end, index) {
    const right = LEFT + (end - begin) * this.cell(width);
    for (const tick of [1, 10, 100, 1000, 10000].filter((each) => each <= up.high)) {
      trace(
        context,
        [
          [LEFT - 6, up.place(tick)],
          [right, up.place(tick)],
        ],
        { colour: theme.line, width: 1, alpha: 0.6 },
      );
      write(context, grouped(tick), LEFT - 10, up.place(tick), {
        colour: theme.muted,
        font: theme.font,
        size: 11,
        align: "right",
      });
    }
    const y = up.place(Math.max(level, up.low));
    trace(
      context,
      [
        [LEFT - 6, y],
        [right, y],
      ],
      { colour: theme.kinds.decoder, width: 1.5, dash: [6, 4] },
    );
    if (!index)
      write(context, this.texts.merge_number, LEFT + 2, up.to - 6, { colour: theme.muted, font: theme.font, size: 11 });
  }

  /**
   * @param {Pen} pen
   * @param {Axis} up
   * @param {number} begin
   * @param {number} end
   * @param {number} count
   */
  drawTree({ context, theme, width }, up, begin, end, count) {
    const cell = this.cell(width);
    /** @param {number} place */
    const x = (place) => LEFT + (place - begin) * cell;
    /** @param {any} rank */
    const y = (rank) => (rank ? up.place(rank) : up.from + 12);
    this.nodes.forEach(({ left, right, rank, x: middle, begin: first }, number) => {
      if (first < begin || first >= end) return;
      const done = number < count;
      const colour = number === count - 1 ? theme.kinds.decoder : done ? theme.kinds.encoder : theme.mark;
      for (const part of [left, right]) {
        trace(
          context,
          [
            [x(part.x), y(part.rank)],
            [x(part.x), y(rank)],
            [x(middle), y(rank)],
          ],
          { colour, width: done ? 2 : 1, alpha: done ? 1 : 0.55 },
        );
      }
    });
  }

  /**
   * @param {Pen} pen
   * @param {number} top
   * @param {number} begin
   * @param {number} end
   * @param {number} count
   */
  drawLetters({ context, theme, width }, top, begin, end, count) {
    const cell = this.cell(width);
    const joints = new Set(this.merges.slice(0, count).map(({ middle }) => middle));
    const last = this.merges[count - 1];
    let start = begin;
    for (let place = begin + 1; place <= end; place++) {
      if (place < end && joints.has(place)) continue;
      const now = last && last.begin === start && last.end === place;
      const colour = now ? theme.kinds.decoder : theme.kinds.encoder;
      box(context, LEFT + (start - begin) * cell + 1, top, (place - start) * cell - 2, 25, {
        fill: colour,
        alpha: place - start > 1 ? 0.18 : 0.05,
        line: colour,
        thick: place - start > 1 ? 1.5 : 0.75,
      });
      start = place;
    }
    for (let place = begin; place < end; place++) {
      const mark = this.letters[place] === "\u2581";
      write(context, letter(this.letters[place]), LEFT + (place - begin + 0.5) * cell, top + 13, {
        colour: mark ? theme.muted : theme.text,
        font: theme.code,
        size: cell < 16 ? 13 : 15,
        align: "center",
      });
    }
  }

  /** @type {Scene["say"]} */
  say({ done }) {
    const count = Math.floor(done + 1e-6);
    const last = this.merges[count - 1];
    if (!last) return this.texts.merges_start;
    if (count === this.merges.length)
      return fillText(this.texts.merges_end, {
        pieces: this.letters.length - count,
        letters: this.letters.length,
        count: grouped(this.lesson.values.count),
      });
    return fillText(this.texts.merges_say, {
      rank: grouped(last.rank),
      left: this.text(last.begin, last.middle),
      right: this.text(last.middle, last.end),
    });
  }

  table() {
    const rows = this.merges.map(({ begin, middle, end, rank }) => [
      rank,
      this.text(begin, middle),
      this.text(middle, end),
      this.text(begin, end),
    ]);
    return { columns: [this.texts.merge_number, this.texts.left, this.texts.right_part, this.texts.piece], rows };
  }
}
