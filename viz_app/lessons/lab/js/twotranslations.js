// The translation, and below it what the changed model generates; words that differ are marked.

import { comparedHeight, comparedWords } from "../../stage/js/paragraph.js";

const MANY = 25; // words from which on they are smaller

/** @typedef {[string, boolean][]} Words Each word, and whether it differs. */

export class TwoTranslations {
  /**
   * @param {string} text Of the unchanged model.
   * @param {{ original: Words, words: Words } | null} changed Null while nothing is changed.
   */
  constructor(text, changed) {
    /** @type {Words} */
    const plain = text.split(" ").map((word) => [word, false]);
    this.first = changed?.original ?? plain;
    this.second = changed?.words ?? null;
    this.size = plain.length > MANY ? 14 : 17;
  }

  /**
   * How high they stand.
   * @param {Pen} pen
   * @param {number} width
   */
  height(pen, width) {
    const { first, second, size } = this;
    /** @param {Words} words */
    const high = (words) => comparedHeight(pen, words, width, size);
    return 32 + high(first) + (second ? 28 + high(second) : 30);
  }

  /**
   * At the foot of a place.
   * @param {Pen} pen
   * @param {{ before: string, after: string }} titles `after` stands alone where nothing is changed.
   * @param {Box} place
   */
  draw(pen, { before, after }, { x, y, width, height }) {
    const { first, second, size } = this;
    const top = y + height - this.height(pen, width) + 8;
    pen.note(before, x, top + 8, { size: 13 });
    const down = top + 28 + comparedWords(pen, first, x, top + 32, width, null, size);
    pen.note(after, x, second ? down : down + 2, { size: 13, most: width });
    if (second) comparedWords(pen, second, x, down + 24, width, pen.theme.kinds.decoder, size);
  }
}
