// A matrix as it is drawn: its rows and columns without hidden tokens, scale, threshold, and what is pinned. Positions
// count in the matrix; `rows` and `columns` list those that are shown, in their order.

import { colourIndex, scalePlace } from "../data/colourmapping.js";
import { visibleTokens } from "../data/visibletokens.js";

export class Picture {
  /**
   * @param {LabelledMatrix} matrix A head, a mean, a difference; see data.js. `groups` rows of it may belong together.
   * @param {Pick<State, "special" | "scale" | "threshold" | "pin">} state Of the store: special, scale, threshold and pin count.
   * @param {number | null} [current] The row of the current step, or null.
   */
  constructor(matrix, state, current = null) {
    const { rows, columns } = visibleTokens(matrix, state);
    this.matrix = matrix;
    this.current = current;
    this.rows = rows;
    this.columns = columns;
    this.special = state.special;
    this.scale = state.scale;
    this.threshold = state.threshold;
    this.pin = pinned(state.pin);
    this.written = below(this.rows, matrix.rows);
    this.existing = below(this.columns, matrix.columns);
    this.largest = new Float64Array(matrix.queries.length).fill(-1);
  }

  /**
   * The largest weight that is shown of a row.
   * @param {number} query
   */
  rowMax(query) {
    if (this.largest[query] >= 0) return this.largest[query];
    let largest = 0;
    for (let slot = 0; slot < this.existing; slot++)
      largest = Math.max(largest, this.matrix.at(query, this.columns[slot]));
    this.largest[query] = largest;
    return largest;
  }

  /**
   * Index of a cell's colour, 0 to 255.
   * @param {number} query
   * @param {number} key
   */
  colourIndex(query, key) {
    const rowMax = this.scale === "row" ? this.rowMax(query) : 1;
    return colourIndex(this.matrix.at(query, key), rowMax, this.scale, this.threshold);
  }

  /**
   * A cell's colour as a 32-bit pixel; transparent where there is nothing to see.
   * @param {number} query
   * @param {number} key
   * @param {Theme} theme
   */
  pixel(query, key, theme) {
    return this.forbidden(query, key) ? 0 : theme.pixels[this.colourIndex(query, key)];
  }

  /**
   * Where a cell's weight stands on the scale, 0 to 1, whatever the threshold.
   * @param {number} query
   * @param {number} key
   */
  place(query, key) {
    return scalePlace(this.matrix.at(query, key), this.rowMax(query), this.scale);
  }

  /**
   * Whether a row looks nowhere: all its keys are masked, hidden ones included. Of what it receives nothing is known.
   * @param {number} query
   */
  blind(query) {
    if (this.rowMax(query) > 0 || this.matrix.received) return false;
    for (let key = 0; key < this.matrix.columns; key++) if (this.matrix.at(query, key) > 0) return false;
    return true;
  }

  /**
   * Whether there is nothing to see at a cell: it is masked, or its row looks nowhere.
   * @param {number} query
   * @param {number} key
   */
  forbidden(query, key) {
    return this.matrix.masked(query, key) || this.blind(query);
  }

  /**
   * Sum of a row over what is shown.
   * @param {number} query
   */
  rowSum(query) {
    return this.matrix.rowSum(query) - this.hidden(query); // the matrix knows the sum better than its rounded weights do
  }

  /** Whether special tokens are hidden among the keys. */
  hides() {
    return this.columns.length < this.matrix.keys.length;
  }

  /**
   * Sum of a row over the hidden tokens.
   * @param {number} query
   */
  hidden(query) {
    if (!this.hides()) return 0;
    const { keys, columns } = this.matrix;
    let sum = 0;
    for (let key = 0; key < columns; key++) if (keys[key].special) sum += this.matrix.at(query, key);
    return sum;
  }

  /** Mean of that over the rows that are shown; null when nothing is hidden or nothing is shown. */
  hiddenShare() {
    if (!this.hides() || !this.written) return null;
    let sum = 0;
    for (let slot = 0; slot < this.written; slot++) sum += this.hidden(this.rows[slot]);
    return sum / this.written;
  }

  /** Texts of the keys that are hidden, each once. */
  hiddenTexts() {
    const { keys, columns } = this.matrix;
    const hidden = keys.slice(0, columns).filter(({ special }) => special);
    return [...new Set(hidden.map(({ text }) => text))];
  }

  /**
   * The key with the largest weight among those that are shown; -1 when there is none.
   * @param {number} query
   * @param {(position: Position) => boolean} [allowed]
   */
  favourite(query, allowed = () => true) {
    if (this.blind(query)) return -1;
    return this.matrix.favourite(query, (key) => (this.special || !key.special) && allowed(key));
  }

  /**
   * Row and column of the largest weight; null when there is none.
   * @returns {[number, number] | null}
   */
  strongest() {
    /** @type {[number, number] | null} */
    let best = null;
    for (const row of this.rows.slice(0, this.written)) {
      const column = this.favourite(row);
      if (column >= 0 && (!best || this.matrix.at(row, column) > this.matrix.at(...best))) best = [row, column];
    }
    return best;
  }

  /**
   * The query that looks at a key most; -1 when there is none.
   * @param {number} key
   */
  admirer(key) {
    let best = -1;
    for (let slot = 0; slot < this.written; slot++) {
      const query = this.rows[slot];
      if (this.forbidden(query, key)) continue;
      if (best < 0 || this.matrix.at(query, key) > this.matrix.at(best, key)) best = query;
    }
    return best;
  }
}

/**
 * Whether a cursor is at a cell, not at a label or nowhere.
 * @param {Cursor | null} cursor
 * @returns {cursor is Cell}
 */
export function isCell(cursor) {
  return cursor !== null && cursor.query !== null && cursor.key !== null;
}

/**
 * "q3" -> {query: 3, key: null}, "k3" -> {query: null, key: 3}.
 * @param {string | null} pin
 * @returns {Cursor | null}
 */
export function pinned(pin) {
  if (!pin) return null;
  const position = Number(pin.slice(1));
  return pin.startsWith("q") ? { query: position, key: null } : { query: null, key: position };
}

/**
 * The state's name of a row or column that is to be pinned; null when it is pinned already, so that it comes off.
 * @param {Pick<State, "pin">} state
 * @param {Cursor} cell
 */
export function pinName({ pin }, { query, key }) {
  const name = query !== null ? `q${query}` : `k${key}`;
  return name === pin ? null : name;
}

/**
 * @param {number[]} indices
 * @param {number} end
 */
function below(indices, end) {
  const first = indices.findIndex((index) => index >= end);
  return first < 0 ? indices.length : first;
}
