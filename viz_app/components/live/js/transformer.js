// The Transformer of "Attention Is All You Need" (Section 3, Figure 1), one sentence at a time.
//
// Shape legend: S source positions, T target positions, d = d_model, V = vocab_size, h heads.

import { DecoderLayer, EncoderLayer } from "./layers.js";

/** @typedef {import("./parameters.js").Parameters} Parameters */
/** @typedef {import("./parameters.js").ModelConfig} ModelConfig */
/** @typedef {{ keys: Float32Array, values: Float32Array }} KeysAndValues (n, h d_k) and (n, h d_v) */
/** @typedef {{ length: number, layers: KeysAndValues[] }} Source What the decoder reads of a sentence. */
/** @typedef {{ kind: Kind, layer: number, head: number }} HeadPlace All numbers from 0. */
/** @typedef {{ layer: number, x: Float32Array }} Start A layer and what it reads, (n, d). */
/**
 * Receives the weights of a layer, (h, Q, K).
 * @typedef {(kind: Kind, layer: number, weights: Float32Array) => void} Record
 */

export class Transformer {
  /**
   * @param {ModelConfig} config
   * @param {Parameters} parameters
   * @param {HeadPlace[]} off Heads whose outputs are zero.
   */
  constructor(config, parameters, off = []) {
    this.config = config;
    this.parameters = parameters;
    const heads = (/** @type {Kind} */ kind, /** @type {number} */ layer) =>
      new Set(off.filter((each) => each.kind === kind && each.layer === layer).map(({ head }) => head));
    const layers = Array.from({ length: config.num_layers }, (_, layer) => layer);
    this.encoder = layers.map(
      (layer) => new EncoderLayer(parameters, `encoder.layers.${layer}`, config, heads("encoder", layer)),
    );
    this.decoder = layers.map((layer) => {
      const [own, cross] = [heads("decoder", layer), heads("cross", layer)];
      return new DecoderLayer(parameters, `decoder.layers.${layer}`, config, own, cross);
    });
  }

  /**
   * The same weights with these heads switched off.
   * @param {HeadPlace[]} off
   */
  without(off) {
    return new Transformer(this.config, this.parameters, off);
  }

  /**
   * Embeddings plus positions, (n, d): PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same
   * (Sections 3.4 and 3.5).
   * @param {number[]} ids
   * @param {(row: number) => number} position
   * @param {string} name
   */
  embed(ids, position, name = "embedding") {
    const { d_model: d, scaled_embeddings, first_position } = this.config;
    const { data, stride } = this.parameters.matrix(`${name}.weight`);
    const scale = scaled_embeddings ? Math.sqrt(d) : 1;
    const out = new Float32Array(ids.length * d);
    for (const [row, id] of ids.entries())
      for (let i = 0; i < d; i++) {
        const angle = (first_position + position(row)) * Math.exp((i - (i % 2)) * (-Math.log(10000) / d));
        out[row * d + i] = data[id * stride + i] * scale + (i % 2 ? Math.cos(angle) : Math.sin(angle));
      }
    return out;
  }

  /**
   * Encodes a source, and projects it to the keys and values of each layer of the decoder.
   * @param {number[]} ids With `</s>`.
   * @param {Record} [record]
   * @param {Start} [start] If the layers below need not be read again.
   * @returns {Source}
   */
  encode(ids, record, start) {
    const { length } = ids;
    const all = Int32Array.from(ids.keys());
    let x = start?.x ?? this.embed(ids, (row) => row, this.config.tie === "all" ? "embedding" : "source_embedding");
    for (const [number, layer] of this.encoder.entries()) {
      if (number < (start?.layer ?? 0)) continue;
      const weights = record ? new Float32Array(this.config.num_heads * length * length) : null;
      const attention = layer.selfAttention;
      x = layer.encode(x, length, (x) =>
        attention.attend(x, length, attention.keysAndValues(x, length), () => all, weights),
      );
      if (weights) record?.("encoder", number, weights);
    }
    return { length, layers: this.decoder.map(({ crossAttention }) => crossAttention.keysAndValues(x, length)) };
  }

  /**
   * Makes room for the keys and values of the tokens that the decoder reads, each in a slot of its own.
   * @param {number} slots
   * @returns {KeysAndValues[]} Of each layer.
   */
  makeCache(slots) {
    const { num_heads, d_k, d_v } = this.config;
    const numbers = (/** @type {number} */ width) => new Float32Array(slots * num_heads * width);
    return this.decoder.map(() => ({ keys: numbers(d_k), values: numbers(d_v) }));
  }

  /**
   * Reads one more token in each row, (rows, d). A path lists the slots of all that its row has read, this token's last;
   * rows that go on from one beginning share it. The new slots follow one another.
   * @param {Source} source
   * @param {KeysAndValues[]} cache
   * @param {number[]} tokens
   * @param {Int32Array[]} paths
   * @param {Record} [record] With as many keys of self-attention as the last path is long.
   * @param {Start} [start] As for `encode`.
   */
  decode(source, cache, tokens, paths, record, start) {
    const rows = tokens.length;
    const first = paths[0][paths[0].length - 1];
    const all = Int32Array.from({ length: source.length }, (_, position) => position);
    const cells = (/** @type {number} */ keys) =>
      record ? new Float32Array(this.config.num_heads * rows * keys) : null;
    let x = start?.x ?? this.embed(tokens, (row) => paths[row].length - 1);
    for (const [number, layer] of this.decoder.entries()) {
      if (number < (start?.layer ?? 0)) continue;
      const { selfAttention, crossAttention } = layer;
      const [own, cross] = [cells(paths[rows - 1].length), cells(source.length)];
      const attendToSelf = (/** @type {Float32Array} */ x) => {
        const { keys, values } = selfAttention.keysAndValues(x, rows);
        cache[number].keys.set(keys, (first * keys.length) / rows);
        cache[number].values.set(values, (first * values.length) / rows);
        return selfAttention.attend(x, rows, cache[number], (row) => paths[row], own);
      };
      x = layer.decode(x, rows, attendToSelf, (x) =>
        crossAttention.attend(x, rows, source.layers[number], () => all, cross),
      );
      if (own) record?.("decoder", number, own);
      if (cross) record?.("cross", number, cross);
    }
    return x;
  }

  /**
   * (rows, d) -> (rows, V); softmax of these is the probability of each next token.
   * @param {Float32Array} x
   * @param {number} rows
   */
  logits(x, rows) {
    const name = this.config.tie === "none" ? "projection" : "embedding";
    return this.parameters.linear(name, x, rows, "output_bias");
  }
}
