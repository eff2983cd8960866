// Decoding one position at a time over cached keys and values.

/** @typedef {import("./transformer.js").Transformer} Transformer */
/** @typedef {import("./transformer.js").Source} Source */

export class IncrementalDecoder {
  /**
   * @param {Transformer} model
   * @param {Source} source
   * @param {number} slots Tokens that may be read in all.
   */
  constructor(model, source, slots) {
    const { num_heads, d_k, d_v } = model.config;
    this.model = model;
    this.source = source;
    this.all = Int32Array.from({ length: source.length }, (_, position) => position);
    this.used = 0;
    this.cache = model.decoder.map(() => ({
      keys: new Float32Array(slots * num_heads * d_k),
      values: new Float32Array(slots * num_heads * d_v),
    }));
  }

  /**
   * Reads one more token in every row. A path lists where in the cache the tokens of a row are, so that rows which go on
   * from one beginning share it.
   * @param {number[]} tokens
   * @param {Int32Array[]} paths What each row has read.
   * @returns {{ logits: Float32Array, paths: Int32Array[] }} (rows, V), and the paths with the new tokens.
   */
  step(tokens, paths) {
    const { model, source, all } = this;
    const rows = tokens.length;
    const first = this.used;
    this.used += rows;
    const grown = paths.map((path, row) => Int32Array.of(...path, first + row));
    /** @type {Float32Array} */
    let x = model.embed(tokens, (row) => paths[row].length);
    for (const [number, layer] of model.decoder.entries()) {
      const { selfAttention, crossAttention } = layer;
      const cache = this.cache[number];
      x = layer.decode(
        x,
        rows,
        (x) => {
          const { keys, values } = selfAttention.keysAndValues(x, rows);
          cache.keys.set(keys, (first * keys.length) / rows);
          cache.values.set(values, (first * values.length) / rows);
          return selfAttention.attend(x, rows, cache, (row) => grown[row]);
        },
        (x) => crossAttention.attend(x, rows, source.layers[number], () => all),
      );
    }
    return { logits: model.logits(x, rows), paths: grown };
  }
}
