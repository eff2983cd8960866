// The chapter "Sum": the embedding of each token, its position, and their sum, which the first layer reads; all numbers of the
// model. The cut adds one bar code to the other.

import { fillText } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { BarCodes } from "./barcodes.js";
import { drawTokens, positionAxis, tokenRow } from "./tokenaxis.js";

const HEAD = 20;
const GAP = 26;
const BRIGHT = 2.5; // root mean squares of the sum that have the full colour

export class Sum {
  bars = [new BarCodes(), new BarCodes(), new BarCodes()];

  /**
   * @param {LessonData<import("./numbers").Values>} lesson
   * @param {Texts} texts
   * @param {import("./story.js").Story} story
   */
  constructor(lesson, texts, story) {
    this.lesson = lesson;
    this.texts = texts;
    this.story = story;
    const { words, places } = lesson.arrays;
    this.width = words.shape[1];
    /** @type {[name: string, sign: string, numbers: Float32Array][]} */
    this.terms = [
      ["embedding", "", words.data],
      ["encoding", "+ ", places.data],
      ["input", "= ", words.data.map((value, index) => value + places.data[index])],
    ];
    const sum = this.terms[2][2];
    this.full = (BRIGHT * Math.hypot(...sum)) / Math.sqrt(sum.length);
  }

  /** @param {number} width */
  axis(width) {
    return positionAxis(width, this.lesson.values.tokens.length);
  }

  /**
   * Length of the vector of a token.
   * @param {Float32Array} numbers
   * @param {number} token
   */
  norm(numbers, token) {
    return Math.hypot(...numbers.subarray(token * this.width, (token + 1) * this.width));
  }

  /**
   * @param {Pen} pen
   * @param {Settings} settings
   */
  draw(pen, { at }) {
    const { theme, width, height } = pen;
    const { tokens } = this.lesson.values;
    const axis = this.axis(width);
    const cut = this.story.cut(at);
    const token = Math.round(cut);
    const row = tokenRow(pen, axis, tokens);
    const high = Math.floor((height - HEAD - row.height - 2 * GAP - 2) / 3);
    const rows = BarCodes.rows(high, this.width);
    this.terms.forEach(([name, sign, numbers], term) => {
      const place = { y: HEAD + term * (high + GAP), height: high };
      // Even columns above odd ones, as in the bar codes of sines and cosines.
      const value = (/** @type {number} */ each, /** @type {number} */ position) => {
        const column = Math.floor((each * this.width) / rows);
        const half = Math.ceil(this.width / 2);
        return numbers[position * this.width + (column < half ? 2 * column : 2 * (column - half) + 1)] / this.full;
      };
      const printed = term === 2 ? cut : tokens.length;
      this.bars[term].draw(pen, axis, place, { key: name, count: tokens.length, rows, value, printed });
      this.bars[term].mark(pen, axis, place, token, theme.kinds.decoder);
      pen.write(sign + this.texts[name], axis.from, place.y - 11, { weight: 600, most: axis.to - axis.from });
      const middle = place.y + high / 2;
      pen.write(this.norm(numbers, token).toFixed(1), width - 4, middle, { size: 16, weight: 650, align: "right" });
      pen.note(this.texts.norm, width - 4, middle + 19, { align: "right", most: width - axis.to - 8 });
    });
    drawTokens(pen, axis, tokens, { y: height - row.height, level: row.level, cut });
  }

  /** @param {Settings} settings */
  say({ at }) {
    const token = Math.round(this.story.cut(at));
    const [words, places, sum] = this.terms.map(([, , numbers]) => this.norm(numbers, token).toFixed(1));
    const text = tokenText(this.lesson.values.tokens[token]);
    return fillText(this.texts.sum_say, { token: text, words, places, sum, count: this.width });
  }

  /** @param {Settings} settings */
  table({ at }) {
    const token = Math.round(this.story.cut(at));
    const rows = Array.from({ length: this.width }, (_, column) => [
      column,
      ...this.terms.map(([, , numbers]) => numbers[token * this.width + column]),
    ]);
    return { columns: [this.texts.column, ...this.terms.map(([name]) => this.texts[name])], rows };
  }
}
