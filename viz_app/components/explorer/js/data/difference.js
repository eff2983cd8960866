// Two matrices: their common cells, and the difference in each.

import { divergingPixel } from "../../../common/draw/diverging.js";
import { signed } from "../../../common/text/format.js";
import { Picture } from "../draw/picture.js";
import { align } from "./align.js";

export class Difference {
  /**
   * `a` is the pinned matrix, `b` the one that is shown; differences are b - a, in the rows and columns of b.
   * @param {LabelledMatrix} a
   * @param {LabelledMatrix} b
   */
  constructor(a, b) {
    this.a = a;
    this.b = b;
    this.comparable = a.kind === b.kind;
    /**
     * @param {Position[]} positions
     * @param {number} count
     */
    const names = (positions, count) => positions.slice(0, count).map(({ text, start }) => (start ? " " : "") + text);
    const [rowsOfA, columnsOfA] = this.comparable ? [a.rows, a.columns] : [0, 0];
    this.rows = align(names(a.queries, rowsOfA), names(b.queries, b.rows));
    this.columns = align(names(a.keys, columnsOfA), names(b.keys, b.columns));
  }

  /**
   * The cell of a that belongs to a cell of b; a side without a partner is null.
   * @param {Cursor} cursor
   */
  partner({ query, key }) {
    /**
     * @param {Int32Array} pairs
     * @param {number | null} index
     */
    const of = (pairs, index) => (index === null || !(pairs[index] >= 0) ? null : pairs[index]);
    return { query: of(this.rows, query), key: of(this.columns, key) };
  }

  /**
   * The cell of b that belongs to a cell of a.
   * @param {Cursor} cursor
   */
  counterpart({ query, key }) {
    /**
     * @param {Int32Array} pairs
     * @param {number | null} index
     */
    const of = (pairs, index) => (index === null || !pairs.includes(index) ? null : pairs.indexOf(index));
    return { query: of(this.rows, query), key: of(this.columns, key) };
  }

  /**
   * b - a; null where a token has no partner or the model may not look.
   * @param {number} query
   * @param {number} key
   */
  at(query, key) {
    const [row, column] = [this.rows[query], this.columns[key]];
    if (!(row >= 0 && column >= 0) || this.b.masked(query, key) || this.a.masked(row, column)) return null;
    return this.b.at(query, key) - this.a.at(row, column);
  }

  /** Texts of the tokens without a partner, of a and of b. */
  unpaired() {
    const { a, b, rows, columns } = this;
    /**
     * @param {Position[]} positions
     * @param {number} count
     * @param {(index: number) => boolean} isPaired
     */
    const texts = (positions, count, isPaired) =>
      positions.slice(0, count).flatMap(({ text }, index) => (isPaired(index) ? [] : [text]));
    return [
      [
        ...texts(a.queries, a.rows, (index) => rows.includes(index)),
        ...texts(a.keys, a.columns, (index) => columns.includes(index)),
      ],
      [
        ...texts(b.queries, b.rows, (index) => rows[index] >= 0),
        ...texts(b.keys, b.columns, (index) => columns[index] >= 0),
      ],
    ];
  }
}

/** The difference as a picture over the rows and columns of b. */
export class DifferencePicture extends Picture {
  /**
   * @param {Difference} difference
   * @param {State} state
   */
  constructor(difference, state) {
    super(difference.b, state);
    this.difference = difference;
  }

  /**
   * @param {number} query
   * @param {number} key
   * @param {Theme} theme
   */
  pixel(query, key, theme) {
    const value = this.difference.at(query, key);
    return value === null ? 0 : divergingPixel(theme, value, this.scale);
  }
}

/**
 * 0.3125 -> "+0.31", with a minus that is as wide as a plus; a value that rounds to 0 has no sign.
 * @param {number} value
 * @param {number} [digits]
 */
export function plus(value, digits = 2) {
  const text = signed(value, digits);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}
