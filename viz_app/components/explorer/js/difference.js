// Two matrices side by side: which of their cells belong together, and by how much they differ.

import { align } from "./align.js";

export class Difference {
  /**
   * `a` is the pinned sheet, `b` the one that is shown; differences are b - a, in the rows and columns of b.
   * @param {Sheet} a
   * @param {Sheet} b
   */
  constructor(a, b) {
    this.a = a;
    this.b = b;
    this.comparable = a.kind === b.kind;
    /**
     * @param {any[]} positions
     * @param {number} count
     */
    const names = (positions, count) => positions.slice(0, count).map(({ text, start }) => (start ? " " : "") + text);
    /** @param {number} length */
    const none = (length) => new Int32Array(length).fill(-1);
    this.rows = this.comparable ? align(names(a.queries, a.rows), names(b.queries, b.rows)) : none(b.rows);
    this.columns = this.comparable ? align(names(a.keys, a.columns), names(b.keys, b.columns)) : none(b.columns);
  }

  /**
   * The cell of a that belongs to a cell of b; a side without a partner is null.
   * @param {Cursor} given
   */
  partner({ query, key }) {
    /**
     * @param {Int32Array} positions
     * @param {number | null} index
     */
    const of = (positions, index) =>
      index === null || index === undefined || positions[index] < 0 ? null : (positions[index] ?? null);
    return { query: of(this.rows, query), key: of(this.columns, key) };
  }

  /**
   * The cell of b that belongs to a cell of a.
   * @param {Cursor} given
   */
  counterpart({ query, key }) {
    /**
     * @param {Int32Array} positions
     * @param {number | null} index
     */
    const of = (positions, index) => (index === null || positions.indexOf(index) < 0 ? null : positions.indexOf(index));
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

  /** Texts of the tokens without a partner: those of a, and those of b, each axis by itself. */
  alone() {
    /**
     * @param {any[]} positions
     * @param {number} count
     * @param {any} pairs
     */
    const inA = (positions, count, pairs) => {
      const paired = new Set(pairs);
      return positions
        .slice(0, count)
        .filter((_, index) => !paired.has(index))
        .map(({ text }) => text);
    };
    /**
     * @param {any[]} positions
     * @param {number} count
     * @param {any} pairs
     */
    const inB = (positions, count, pairs) =>
      positions
        .slice(0, count)
        .filter((_, index) => pairs[index] < 0)
        .map(({ text }) => text);
    const { a, b } = this;
    return {
      a: { queries: inA(a.queries, a.rows, this.rows), keys: inA(a.keys, a.columns, this.columns) },
      b: { queries: inB(b.queries, b.rows, this.rows), keys: inB(b.keys, b.columns, this.columns) },
    };
  }
}

/**
 * 0.3125 -> "+0.31", with a minus that is as wide as a plus; a value that rounds to 0 has no sign.
 * @param {number} value
 * @param {number} [digits]
 */
export function plus(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "\u2212" : "+"}${text}`;
}
