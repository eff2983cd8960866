// The chapter "Sum": the embedding of each token, its position, and their sum, which the first layer reads; all numbers of the
// model. The cut adds one bar code to the other.

import { fillText } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { BarCodes } from "./barcodes.js";
import { rootMeanSquare } from "./encoding.js";
import { drawTokens, tokenRow } from "./tokenaxis.js";
import { View } from "./view.js";

const HEAD = 20;
const GAP = 26;
const BRIGHT = 2.5; // root mean squares of the sum that have the full colour

export class Sum extends View {
  each = [new BarCodes(), new BarCodes(), new BarCodes()];
  terms = this.numbers();

  /** Return the name, the sign and the numbers of both terms and of their sum. */
  numbers() {
    const { words, places } = this.lesson.arrays;
    const sum = words.data.map((value, index) => value + places.data[index]);
    /** @type {[name: string, sign: string, numbers: Float32Array][]} */
    const terms = [
      ["embedding", "", words.data],
      ["encoding", "+ ", places.data],
      ["input", "= ", sum],
    ];
    return terms;
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
  draw(pen, settings) {
    const { theme, width, height } = pen;
    const { tokens } = this;
    const axis = this.axis(width, settings);
    const cut = this.story.cut(settings.at);
    const token = this.token(settings);
    const full = BRIGHT * rootMeanSquare(this.terms[2][2]);
    const row = tokenRow(pen, axis, tokens);
    const high = Math.floor((height - HEAD - row.height - 2 * GAP - 2) / 3);
    const rows = BarCodes.rows(high, this.width);
    this.terms.forEach(([name, sign, numbers], term) => {
      const place = { y: HEAD + term * (high + GAP), height: high };
      // Even columns above odd ones, as in the bar codes of sines and cosines.
      const value = (/** @type {number} */ each, /** @type {number} */ position) => {
        const column = Math.floor((each * this.width) / rows);
        const half = Math.ceil(this.width / 2);
        return numbers[position * this.width + (column < half ? 2 * column : 2 * (column - half) + 1)] / full;
      };
      const printed = term === 2 ? cut : tokens.length;
      this.each[term].draw(pen, axis, place, { key: name, count: tokens.length, rows, value, printed });
      this.each[term].mark(pen, axis, place, token, theme.kinds.decoder);
      pen.write(sign + this.texts[name], axis.from, place.y - 11, { weight: 600, most: axis.to - axis.from });
      const middle = place.y + high / 2;
      pen.write(this.norm(numbers, token).toFixed(1), width - 4, middle, { size: 16, weight: 650, align: "right" });
      pen.note(this.texts.norm, width - 4, middle + 19, { align: "right", most: width - axis.to - 8 });
    });
    drawTokens(pen, axis, tokens, { y: height - row.height, level: row.level, cut });
  }

  /** @param {Settings} settings */
  say(settings) {
    const token = this.token(settings);
    const [words, places, sum] = this.terms.map(([, , numbers]) => this.norm(numbers, token).toFixed(1));
    const text = tokenText(this.tokens[token]);
    return fillText(this.texts.sum_say, { token: text, words, places, sum, count: this.width });
  }

  /** @param {Settings} settings */
  table(settings) {
    const token = this.token(settings);
    const rows = Array.from({ length: this.width }, (_, column) => [
      column,
      ...this.terms.map(([, , numbers]) => numbers[token * this.width + column]),
    ]);
    return { columns: [this.texts.column, ...this.terms.map(([name]) => this.texts[name])], rows };
  }
}
