// Where the words of the folded picture stand. A short sentence lies above its translation; a long one, or one on a
// telephone, stands to the left of it.

import { clamp } from "../../../common/page/keyboard.js";
import { single } from "./curves.js";

/** @typedef {{ at: number, line: "source" | "output", width: number }} Place Along its line.
 * @typedef {(text: string, size: number) => number} Measure Width of a text.
 * @typedef {{ source: Position[], outputs: Position[], first: Position, biases: string }} Tokens `first` is what the
 *   decoder reads before any output.
 */

const SIZES = [26, 21, 19, 17, 15.5, 14]; // of the words of a sentence above its translation
const NARROWEST = 33; // a token with its number above
const GAP = 26; // before the biases

/** Where everything stands. */
export class FoldedPlaces {
  /** @type {number} Of the letters. */
  size;
  /** @type {number} */
  width;
  /** @type {number} */
  height;
  /** @type {number} Where the tokens of the sentence stand, across the lines. */
  source;
  /** @type {number} And those of the translation. */
  output;
  /** @type {{ source: number, output: number, arc: number }} Where ribbons end. */
  ends;
  /** @type {number} Of the lowest arc. */
  depth;
  /** @type {number} Pixels of all that adds to a word. */
  wide;
  longest = { source: 0, output: 0 }; // widths of tokens, in lines that stand
  most = Infinity; // width of a token

  /**
   * @param {Tokens} tokens
   * @param {number} width
   * @param {number} height
   * @param {Measure} measure
   * @param {number} [scale] Of letters.
   * @param {boolean} [bare] Whether numbers and biases are left out.
   */
  constructor(tokens, width, height, measure, scale = 1, bare = false) {
    this.tokens = tokens;
    this.measure = measure;
    this.scale = scale;
    this.bare = bare;
    this.inputs = [tokens.first, ...tokens.outputs];
    /** @type {Map<string, Place>} */
    this.places = new Map();
    const upper = [...tokens.source, ...(bare ? [] : [biasToken(tokens.biases)])];
    const sizes = SIZES.slice(bare ? 1 : 0).map((size) => size * scale);
    const rows = (/** @type {number} */ size) => [
      this.slots(upper, size, measure),
      this.slots(this.inputs, size, measure),
    ];
    const natural = (/** @type {number} */ size) => Math.max(...rows(size).map(sum)) + GAP + 12;
    const size = sizes.find((each) => natural(each) <= width);
    this.across = size !== undefined;
    const across = size ? Math.min(width, natural(size) * 1.5) : width;
    if (size) this.lie(rows(size), size, across, bare ? (width - across) / 2 : 0, height);
    else this.stand(upper, width, height, measure);
  }

  /**
   * Room of each token of a line.
   * @param {Position[]} line
   * @param {number} size
   * @param {Measure} measure
   */
  slots(line, size, measure) {
    return line.map(({ text, start, special }, i) => {
      const space = i && !start && !special ? 0.35 : 0.95;
      return Math.max(NARROWEST * this.scale, measure(text, special ? size * 0.75 : size) + space * size);
    });
  }

  /**
   * The sentence above the translation.
   * @param {number[][]} rows
   * @param {number} size
   * @param {number} width
   * @param {number} indent Room to its left and right.
   * @param {number} height
   */
  lie(rows, size, width, indent, height) {
    const names = [this.names("s", rows[0].length), this.names("i", rows[1].length)];
    rows.forEach((slots, line) => {
      const gap = line || this.bare ? 0 : GAP;
      const spare = (width - 12 - sum(slots) - gap) / slots.length;
      let at = 6 + indent;
      slots.forEach((slot, i) => {
        if (names[line][i] === "b") at += gap;
        const width = slot + spare;
        this.places.set(names[line][i], { at: at + width / 2, line: line ? "output" : "source", width });
        at += width;
      });
    });
    this.size = size;
    this.width = width + 2 * indent;
    const unit = size / 19;
    const arcs = clamp(0.2 * height, 46, 110);
    this.height = clamp(height, this.bare ? 170 : 250, this.bare ? 460 : 600);
    const number = this.bare ? 0 : 24 * unit; // with its bar
    this.source = Math.max(12 * unit + number, 0.6 * size + (this.bare ? 4 : 24.5) * this.scale); // middles of two lines
    const arc = this.height - arcs;
    this.output = arc - 16 * unit - number;
    this.ends = { source: this.source + 0.85 * size, output: this.output - 0.85 * size, arc };
    this.depth = arcs - 4;
    this.wide = Math.min(46 * unit, Math.max(26, (width / this.inputs.length) * 0.62)); // of all that adds to a word
  }

  /**
   * The sentence to the left of the translation.
   * @param {Position[]} upper
   * @param {number} width
   * @param {number} height
   * @param {Measure} measure
   */
  stand(upper, width, height, measure) {
    const count = Math.max(upper.length + 1, this.inputs.length);
    const row = clamp((height - 8) / count, 17, 27) * this.scale;
    this.size = Math.min(15, row * 0.74) * Math.min(1.2, this.scale);
    const longest = (/** @type {Position[]} */ line, /** @type {number} */ most) =>
      Math.min(most, Math.max(...line.map(({ text }) => measure(text, this.size))));
    const most = width * 0.25;
    const number = this.bare ? 0 : 34 * this.scale;
    this.longest = { source: longest(upper, most), output: longest(this.inputs, most) };
    const left = number + this.longest.source + 6;
    const right = this.longest.output + number + 6;
    const arcs = clamp(width * 0.12, 34, 90);
    this.most = most;
    this.width = Math.min(width, left + right + arcs + Math.max(460, 0.45 * width));
    this.height = row * count + 8;
    const put = (/** @type {string[]} */ names, /** @type {"source" | "output"} */ line, /** @type {number} */ gap) => {
      const step = (this.height - 8 - gap) / names.length;
      names.forEach((name, i) => {
        const at = 4 + step * (i + 0.5) + (name === "b" ? gap : 0);
        this.places.set(name, { at, line, width: step });
      });
    };
    put(this.names("s", upper.length), "source", row);
    put(this.names("i", this.inputs.length), "output", 0);
    this.source = left;
    this.output = this.width - arcs - right;
    this.ends = { source: left + 9, output: this.output - 9, arc: this.width - arcs + 4 };
    this.depth = arcs - 8;
    this.wide = row * 1.35;
  }

  /**
   * @param {"s" | "i"} prefix
   * @param {number} count
   */
  names(prefix, count) {
    return Array.from({ length: count }, (_, i) =>
      prefix === "s" && !this.bare && i === count - 1 ? "b" : `${prefix}${i}`,
    );
  }

  /** @param {string} name */
  place(name) {
    return /** @type {Place} */ (this.places.get(name));
  }

  /**
   * The way of a ribbon from an output to one of its parts; `from` is where it leaves, along the line.
   * @param {number} from
   * @param {string} name Of the part.
   */
  way(from, name) {
    const { at, line } = this.place(name);
    const { source, output, arc } = this.ends;
    const middle = (source + output) / 2;
    const deep = arc + (4 / 3) * Math.min(this.depth, 10 + this.depth * Math.sqrt(Math.abs(at - from) / this.extent()));
    const [a, b, c, d] = line === "source" ? [output, middle, middle, source] : [arc, deep, deep, arc];
    return this.across ? single(from, a, from, b, at, c, at, d) : single(a, from, b, from, c, at, d, at);
  }

  extent() {
    return this.across ? this.width : this.height;
  }

  /**
   * The token at a place of the picture.
   * @param {Point} point
   * @returns {import("./flowparts.js").Focus | null}
   */
  at({ x, y }) {
    const [along, beside] = this.across ? [x, y] : [y, x];
    const middle = (this.ends.source + this.ends.output) / 2;
    const line = beside < middle ? "source" : "output";
    const near = [...this.places].filter(([name, place]) => place.line === line && name !== "b" && name !== "i0");
    const [name] = near.find(([, place]) => Math.abs(place.at - along) <= place.width / 2) ?? [null];
    if (!name) return null;
    const index = Number(name.slice(1));
    return line === "source" ? { source: index } : { output: index - 1 };
  }
}

/**
 * A text, or its beginning with an ellipsis.
 * @param {string} text
 * @param {number} most
 * @param {Measure} measure
 * @param {number} size
 */
export function shortened(text, most, measure, size) {
  const letters = [...text];
  while (letters.length > 1 && measure(letters.join(""), size) > most + 0.5) letters.splice(-2, 2, "\u2026");
  return letters.join("");
}

/**
 * @param {string} text
 * @returns {Position}
 */
export const biasToken = (text) => ({ text, start: true, special: true, first: 0, last: 0 });

const sum = (/** @type {number[]} */ numbers) => numbers.reduce((total, value) => total + value, 0);
