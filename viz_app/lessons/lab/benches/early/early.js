// The encoder stopped early: what the decoder generates from its state after each layer.

import { fillText } from "../../../../components/common/text/format.js";
import { comparedHeight, comparedWords } from "../../../stage/js/paragraph.js";
import { Bench } from "../../js/bench.js";

/**
 * Numbers of `bench.py`. Translations from each layer of the encoder: words, and whether the final one lacks them; chrF against the final one.
 * @typedef {{ rows: [string, boolean][][]; chrf: number[] }} Numbers
 */

const HEAD = 26;
const LEFT = 44; // for the numbers of the layers
const RIGHT = 48; // for chrF
const BETWEEN = 12;
const SIZES = [18, 16, 14, 12]; // of letters: the largest that there is room for
const LONGEST = 20; // letters of a word; a longer one goes on in the next
const TYPICAL = 9; // pixels of a letter, about

/** @typedef {[string, boolean]} Word A word, and whether the final translation lacks it. */

/** @extends {Bench<Numbers>} */
export class Early extends Bench {
  name = "early";
  term = "memory";

  /** The translations; one that does not end is shown as far as twice the length of the final one. The table has all. */
  get rows() {
    const { rows = [] } = this.known ?? {};
    const most = 2 * lengthOf(rows[rows.length - 1] ?? []) + 10;
    return rows.map((words) => {
      const parts = words.flatMap(broken);
      const count = parts.findIndex((_, at) => lengthOf(parts.slice(0, at + 1)) > most);
      return count < 0 ? parts : [...parts.slice(0, count), /** @type {Word} */ (["\u2026", false])];
    });
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const lines = this.rows.map(
      (words) => Math.ceil((lengthOf(words) * TYPICAL) / Math.max(200, width - LEFT - RIGHT)) || 1,
    );
    const needed = HEAD + lines.reduce((sum, count) => sum + count * 24 + BETWEEN + 8, 0);
    return Math.max(300, width < 500 ? needed : Math.min(room, needed));
  }

  /**
   * How high every row is with letters of a size.
   * @param {Pen} pen
   * @param {number} size
   */
  heights(pen, size) {
    return this.rows.map((words) => comparedHeight(pen, words, pen.width - LEFT - RIGHT, size) + BETWEEN);
  }

  /** @type {Bench<Numbers>["picture"]} */
  picture(pen) {
    const { own, texts, rows } = this;
    const { theme, width, height } = pen;
    const fits = (/** @type {number} */ size) =>
      this.heights(pen, size).reduce((sum, each) => sum + each, HEAD) <= height;
    const size = SIZES.find((each) => (width < 500 ? each <= 14 : true) && fits(each)) ?? SIZES[SIZES.length - 1];
    const heights = this.heights(pen, size);
    pen.note(texts.encoder_layer, 0, 10, { size: 12 });
    pen.note("chrF", width, 10, { size: 12, align: "right" });
    let y = HEAD;
    rows.forEach((words, layer) => {
      pen.line(0, y, width, y, { colour: theme.line, width: 1 });
      const middle = y + BETWEEN / 2 + size * 0.8;
      pen.write(String(layer), 14, middle, { size, weight: 650, colour: theme.kinds.encoder, align: "center" });
      const last = layer === rows.length - 1;
      if (words.length)
        comparedWords(pen, words, LEFT, middle, width - LEFT - RIGHT, last ? null : theme.kinds.decoder, size);
      else pen.note(texts.nothing, LEFT, middle, { size });
      pen.note(String(Math.round(own.chrf[layer])), width, middle, { size: 13, align: "right" });
      y += heights[layer];
    });
  }

  /** From which layer on the translation is the final one. */
  get settledAt() {
    const rows = this.own.rows.map((words) => words.map(([word]) => word).join(" "));
    let from = rows.length - 1;
    while (from > 0 && rows[from - 1] === rows[rows.length - 1]) from--;
    return from;
  }

  /** @type {Scene["say"]} */
  say() {
    const { texts } = this;
    return `${fillText(texts.early_say, { layer: this.settledAt })} ${texts.chrf_say}`;
  }

  /** @type {Scene["table"]} */
  table() {
    const { own, texts } = this;
    const rows = own.rows.map((words, layer) => [layer, words.map(([word]) => word).join(" "), own.chrf[layer]]);
    return { columns: [texts.encoder_layer, texts.translation, texts.likeness], rows };
  }
}

/**
 * Letters of words in a row.
 * @param {Word[]} words
 */
function lengthOf(words) {
  return words.reduce((sum, [word]) => sum + word.length + 1, 0);
}

/**
 * A word in parts that fit into a line.
 * @param {Word} word
 * @returns {Word[]}
 */
function broken([word, differs]) {
  const count = Math.ceil(word.length / LONGEST);
  return Array.from({ length: count }, (_, at) => [word.slice(at * LONGEST, (at + 1) * LONGEST), differs]);
}
