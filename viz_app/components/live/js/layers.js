// Feed-forward network, Add & Norm, and the layers of encoder and decoder (Section 3), post-norm as in the paper.

import { MultiHeadAttention } from "./attention.js";

/** @typedef {import("./parameters.js").Parameters} Parameters */
/** @typedef {import("./parameters.js").ModelConfig} ModelConfig */
/** @typedef {(x: Float32Array, rows: number) => Float32Array} Sublayer (rows, d) -> (rows, d) */

/** LayerNorm(x + Sublayer(x)) (Section 3.1). */
export class AddAndNorm {
  /** @param {Parameters} parameters @param {string} name @param {number} epsilon */
  constructor(parameters, name, epsilon) {
    this.weight = parameters.matrix(`${name}.norm.weight`).data;
    this.bias = parameters.matrix(`${name}.norm.bias`).data;
    this.width = parameters.matrix(`${name}.norm.weight`).k;
    this.epsilon = epsilon;
  }

  /**
   * @param {Float32Array} x (rows, d)
   * @param {Float32Array} out The same; it becomes the result.
   * @param {Float32Array} [factors] One over the standard deviation of each row, filled in.
   */
  apply(x, out, factors) {
    const { width, weight, bias } = this;
    for (let at = 0; at < x.length; at += width) {
      let mean = 0;
      for (let i = at; i < at + width; i++) mean += out[i] += x[i];
      mean /= width;
      let variance = 0;
      for (let i = at; i < at + width; i++) variance += (out[i] - mean) ** 2;
      const factor = 1 / Math.sqrt(variance / width + this.epsilon);
      if (factors) factors[at / width] = factor;
      for (let i = 0; i < width; i++) out[at + i] = (out[at + i] - mean) * factor * weight[i] + bias[i];
    }
    return out;
  }
}

/** max(0, x W_1 + b_1) W_2 + b_2 (Section 3.3) with its Add & Norm, which ends every layer. */
class FeedForward {
  /** @param {Parameters} parameters @param {string} layer @param {ModelConfig} config */
  constructor(parameters, layer, config) {
    this.parameters = parameters;
    this.name = `${layer}.feed_forward`;
    this.addAndNorm = new AddAndNorm(parameters, `${this.name}_add_norm`, config.layer_norm_epsilon);
  }

  /**
   * @param {Float32Array} x (rows, d)
   * @param {number} rows
   * @param {Float32Array} [factors] As for `AddAndNorm.apply`.
   * @returns {{ out: Float32Array, activations: Float32Array }} (rows, d) and (rows, d_ff).
   */
  apply(x, rows, factors) {
    const activations = this.parameters.linear(`${this.name}.w_1`, x, rows);
    for (let i = 0; i < activations.length; i++) if (activations[i] < 0) activations[i] = 0;
    const projected = this.parameters.linear(`${this.name}.w_2`, activations, rows);
    return { out: this.addAndNorm.apply(x, projected, factors), activations };
  }
}

/** Self-attention, then the feed-forward network, each with Add & Norm (Figure 1, left). */
export class EncoderLayer {
  /**
   * @param {Parameters} parameters
   * @param {string} name Such as encoder.layers.3.
   * @param {ModelConfig} config
   * @param {Set<number>} off Heads of self-attention that are switched off.
   */
  constructor(parameters, name, config, off) {
    this.selfAttention = new MultiHeadAttention(parameters, `${name}.self_attention`, config, off);
    this.selfAddAndNorm = new AddAndNorm(parameters, `${name}.self_attention_add_norm`, config.layer_norm_epsilon);
    this.feedForward = new FeedForward(parameters, name, config);
  }

  /**
   * @param {Float32Array} x (rows, d)
   * @param {number} rows
   * @param {Sublayer} attendToSelf
   */
  encode(x, rows, attendToSelf) {
    return this.feedForward.apply(this.selfAddAndNorm.apply(x, attendToSelf(x, rows)), rows).out;
  }
}

/** The same with attention over the encoder's output in between (Figure 1, right). */
export class DecoderLayer extends EncoderLayer {
  /**
   * @param {Parameters} parameters
   * @param {string} name Such as decoder.layers.3.
   * @param {ModelConfig} config
   * @param {Set<number>} off
   * @param {Set<number>} crossOff Heads of encoder-decoder attention that are switched off.
   */
  constructor(parameters, name, config, off, crossOff) {
    super(parameters, name, config, off);
    this.crossAttention = new MultiHeadAttention(parameters, `${name}.cross_attention`, config, crossOff);
    this.crossAddAndNorm = new AddAndNorm(parameters, `${name}.cross_attention_add_norm`, config.layer_norm_epsilon);
  }

  /**
   * The two attentions come with their keys and values, whole or cached.
   * @param {Float32Array} x (rows, d)
   * @param {number} rows
   * @param {Sublayer} attendToSelf
   * @param {Sublayer} attendToSource
   */
  decode(x, rows, attendToSelf, attendToSource) {
    const seen = this.selfAddAndNorm.apply(x, attendToSelf(x, rows));
    return this.feedForward.apply(this.crossAddAndNorm.apply(seen, attendToSource(seen, rows)), rows).out;
  }
}
