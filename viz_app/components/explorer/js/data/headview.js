// All heads of one kind on one sentence: what tiles, maps and matrices are drawn from.

import { headAddress } from "../../../common/heads/heads.js";
import { BOUNDARY, tokenText } from "../../../common/text/tokens.js";
import { HeadMatrix } from "./labelledmatrix.js";

export class HeadView {
  unit = "tokens";
  step = 0;
  /** @type {Position[]} The other side of the decoder at the same position. */
  others = [];
  exactSums = false; // whether sums of rows are known better than from rounded weights

  /**
   * @param {Kind} kind
   * @param {{ layers: number, heads: number, absent?: number[] }} shape
   * @param {Position[]} queries
   * @param {Position[]} keys
   * @param {ArrayLike<number>} values
   * @param {number} scale Of `values`.
   */
  constructor(kind, { layers, heads, absent }, queries, keys, values, scale) {
    this.kind = kind;
    this.layers = layers;
    this.heads = heads;
    this.absent = new Set(absent);
    this.queries = queries;
    this.keys = keys;
    this.values = values;
    this.scale = scale;
    this.causal = kind === "decoder";
    this.rows = queries.length; // rows and columns that exist already
    this.columns = keys.length;
  }

  /**
   * Whether a layer has fewer heads than this: layers of another program's model may differ.
   * @param {number} layer
   * @param {number} head
   */
  lacks(layer, head) {
    return this.absent.has(layer * this.heads + head);
  }

  /**
   * The heads of these layers, as [layer, head].
   * @param {number[]} layers
   */
  present(layers) {
    return layers.flatMap((row) =>
      Array.from({ length: this.heads }, (_, column) => [row, column]).filter(([, column]) => !this.lacks(row, column)),
    );
  }

  /**
   * Where a head's row starts in `values`.
   * @param {number} layer
   * @param {number} head
   * @param {number} query
   */
  offset(layer, head, query) {
    return ((layer * this.heads + head) * this.queries.length + query) * this.keys.length;
  }

  /**
   * @param {number} layer
   * @param {number} head
   * @param {number} query
   * @param {number} key
   */
  at(layer, head, query, key) {
    return this.values[this.offset(layer, head, query) + key] * this.scale;
  }

  /**
   * Sum of a row of one head as it was before rounding, where `exactSums`.
   * @param {number} layer
   * @param {number} head
   * @param {number} query
   */
  rowSum(layer, head, query) {
    return 1;
  }

  /**
   * One head as a matrix of its own.
   * @param {number} layer
   * @param {number} head
   */
  matrix(layer, head) {
    return new HeadMatrix(
      this,
      headAddress({ kind: this.kind, layer, head }),
      this.values,
      this.offset(layer, head, 0),
      this.scale,
      [[layer, head]],
    );
  }

  /**
   * Whether the model may not look from this query at this key.
   * @param {number} query
   * @param {number} key
   */
  masked(query, key) {
    return this.causal && key > query;
  }
}

/**
 * Tokens as positions of an axis.
 * @param {string[]} tokens
 * @param {boolean[]} [special]
 * @returns {Position[]}
 */
export function tokenPositions(tokens, special = []) {
  return tokens.map((text, index) => ({
    text: tokenText(text),
    start: text.startsWith(BOUNDARY),
    special: special[index] ?? false,
    first: index,
    last: index,
  }));
}
