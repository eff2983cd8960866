// Scaled dot-product attention and multi-head attention (Section 3.2), readable and switchable head by head.

/** @typedef {import("./parameters.js").Parameters} Parameters */
/** @typedef {import("./parameters.js").ModelConfig} ModelConfig */

export class MultiHeadAttention {
  /**
   * @param {Parameters} parameters
   * @param {string} name Such as decoder.layers.3.cross_attention.
   * @param {ModelConfig} config
   * @param {Set<number>} off Heads whose outputs are zero.
   */
  constructor(parameters, name, config, off) {
    this.project = (/** @type {string} */ part, /** @type {Float32Array} */ x, /** @type {number} */ rows) =>
      parameters.linear(`${name}.${part}`, x, rows);
    this.config = config;
    this.off = off;
    this.scale = config.scaled ? 1 / Math.sqrt(config.d_k) : 1;
  }

  /**
   * (rows, d) -> (rows, h d_k) keys and (rows, h d_v) values.
   * @param {Float32Array} x
   * @param {number} rows
   */
  keysAndValues(x, rows) {
    return { keys: this.project("w_k", x, rows), values: this.project("w_v", x, rows) };
  }

  /**
   * Lets each row attend to the positions that it may see: Concat(head_1, ..., head_h) W^O.
   * @param {Float32Array} x (rows, d)
   * @param {number} rows
   * @param {{ keys: Float32Array, values: Float32Array }} memory
   * @param {(row: number) => Int32Array} visible Positions in the memory.
   * @param {Float32Array | null} weights (h, rows, K) that are filled in, if any are asked for.
   * @returns {Float32Array} (rows, d)
   */
  attend(x, rows, memory, visible, weights = null) {
    const { num_heads, d_v } = this.config;
    const queries = this.project("w_q", x, rows);
    const heads = new Float32Array(rows * num_heads * d_v);
    const columns = weights ? weights.length / num_heads / rows : 0;
    for (let row = 0; row < rows; row++) {
      const seen = visible(row);
      const softmax = new Float64Array(seen.length);
      for (let head = 0; head < num_heads; head++) {
        this.weigh(queries, row, head, memory.keys, seen, softmax);
        if (weights)
          for (let j = 0, at = (head * rows + row) * columns; j < seen.length; j++) weights[at + j] = softmax[j];
        if (!this.off.has(head)) this.sum(heads, row, head, memory.values, seen, softmax);
      }
    }
    return this.project("w_o", heads, rows);
  }

  /**
   * softmax(q K^T / sqrt(d_k)), in float64.
   * @param {Float32Array} queries
   * @param {number} row
   * @param {number} head
   * @param {Float32Array} keys
   * @param {Int32Array} seen
   * @param {Float64Array} softmax
   */
  weigh(queries, row, head, keys, seen, softmax) {
    const { num_heads, d_k } = this.config;
    const from = (row * num_heads + head) * d_k;
    let most = -Infinity;
    for (let j = 0; j < seen.length; j++) {
      const at = (seen[j] * num_heads + head) * d_k;
      let score = 0;
      for (let i = 0; i < d_k; i++) score += queries[from + i] * keys[at + i];
      softmax[j] = score * this.scale;
      if (softmax[j] > most) most = softmax[j];
    }
    let total = 0;
    for (let j = 0; j < seen.length; j++) total += softmax[j] = Math.exp(softmax[j] - most);
    for (let j = 0; j < seen.length; j++) softmax[j] /= total;
  }

  /**
   * Adds the values, weighted, to a head's output.
   * @param {Float32Array} heads
   * @param {number} row
   * @param {number} head
   * @param {Float32Array} values
   * @param {Int32Array} seen
   * @param {Float64Array} softmax
   */
  sum(heads, row, head, values, seen, softmax) {
    const { num_heads, d_v } = this.config;
    const to = (row * num_heads + head) * d_v;
    for (let j = 0; j < seen.length; j++) {
      const at = (seen[j] * num_heads + head) * d_v;
      const weight = softmax[j];
      for (let i = 0; i < d_v; i++) heads[to + i] += weight * values[at + i];
    }
  }
}
