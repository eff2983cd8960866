// Two matrices side by side: which of their cells belong together, and by how much they differ.

import { align } from "./align.js";

export class Difference {
  /** `a` is the pinned sheet, `b` the one that is shown; differences are b - a, in the rows and columns of b. */
  constructor(a, b) {
    Object.assign(this, { a, b, comparable: a.kind === b.kind });
    const names = (positions, count) => positions.slice(0, count).map(({ text, start }) => (start ? " " : "") + text);
    const none = (sheet) => new Int32Array(sheet).fill(-1);
    this.rows = this.comparable ? align(names(a.queries, a.rows), names(b.queries, b.rows)) : none(b.rows);
    this.columns = this.comparable ? align(names(a.keys, a.columns), names(b.keys, b.columns)) : none(b.columns);
  }

  /** The cell of a that belongs to a cell of b; a side without a partner is null. */
  partner({ query, key }) {
    const of = (positions, index) =>
      index === null || index === undefined || positions[index] < 0 ? null : (positions[index] ?? null);
    return { query: of(this.rows, query), key: of(this.columns, key) };
  }

  /** The cell of b that belongs to a cell of a. */
  counterpart({ query, key }) {
    const of = (positions, index) => (index === null || positions.indexOf(index) < 0 ? null : positions.indexOf(index));
    return { query: of(this.rows, query), key: of(this.columns, key) };
  }

  /** b - a; null where a token has no partner or the model may not look. */
  at(query, key) {
    const [row, column] = [this.rows[query], this.columns[key]];
    if (!(row >= 0 && column >= 0) || this.b.masked(query, key) || this.a.masked(row, column)) return null;
    return this.b.at(query, key) - this.a.at(row, column);
  }

  /** Texts of the tokens without a partner: those of a, and those of b, each axis by itself. */
  alone() {
    const inA = (positions, count, pairs) => {
      const paired = new Set(pairs);
      return positions
        .slice(0, count)
        .filter((_, index) => !paired.has(index))
        .map(({ text }) => text);
    };
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

/** 0.3125 -> "+0.31", with a minus that is as wide as a plus; a value that rounds to 0 has no sign. */
export function plus(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "\u2212" : "+"}${text}`;
}
