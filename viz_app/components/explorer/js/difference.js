// Two matrices side by side: which of their cells belong together, and by how much they differ.

import { align } from "./align.js";

// Purple for less, orange for more: told apart by every kind of colour vision, and the page itself where nothing differs.
const ENDS = {
  light: { less: ["#998ec3", "#542788"], more: ["#f1a340", "#b35806"] },
  dark: { less: ["#7b6bb5", "#cfc4ff"], more: ["#b3681a", "#ffc681"] },
};
const STEPS = 255; // on each side of 0

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
    const of = (positions, index) => (index === null || index === undefined || positions[index] < 0 ? null : positions[index] ?? null);
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
      return positions.slice(0, count).filter((_, index) => !paired.has(index)).map(({ text }) => text);
    };
    const inB = (positions, count, pairs) => positions.slice(0, count).filter((_, index) => pairs[index] < 0).map(({ text }) => text);
    const { a, b } = this;
    return {
      a: { queries: inA(a.queries, a.rows, this.rows), keys: inA(a.keys, a.columns, this.columns) },
      b: { queries: inB(b.queries, b.rows, this.rows), keys: inB(b.keys, b.columns, this.columns) },
    };
  }
}

/** A difference from -1 to 1 as a 32-bit pixel; the square root shows small ones, as it does for weights. */
export class Diverging {
  constructor(theme) {
    const { less, more } = ENDS[theme.dark ? "dark" : "light"];
    const zero = channels(theme.background);
    this.pixels = new Uint32Array(2 * STEPS + 1);
    for (let step = -STEPS; step <= STEPS; step++) {
      const [middle, end] = (step < 0 ? less : more).map(channels);
      const share = (2 * Math.abs(step)) / STEPS;
      const [from, to, part] = share <= 1 ? [zero, middle, share] : [middle, end, share - 1];
      const [red, green, blue] = from.map((value, index) => Math.round(value + (to[index] - value) * part));
      this.pixels[step + STEPS] = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    }
  }

  pixel(difference, scale = "linear") {
    const size = Math.min(1, Math.abs(difference));
    const share = scale === "sqrt" ? Math.sqrt(size) : size;
    return this.pixels[STEPS + Math.sign(difference) * Math.round(share * STEPS)];
  }
}

function channels(colour) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return Array.from(context.getImageData(0, 0, 1, 1).data).slice(0, 3);
}

/** 0.3125 -> "+0.31", with a minus that is as wide as a plus; a value that rounds to 0 has no sign. */
export function plus(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "\u2212" : "+"}${text}`;
}
