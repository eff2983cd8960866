// The weights of a checkpoint, by the names that its files have, as float32 in one memory.

import { makeProduct, padded } from "./linear.js";
import { readTensors, widen } from "./safetensors.js";

/** @typedef {import("./linear.js").Matrix} Matrix */

/**
 * The options of a model, as config.py has them; live.py refuses what is not run here.
 * @typedef {object} ModelConfig
 * @property {number} vocab_size
 * @property {number} d_model
 * @property {number} d_ff
 * @property {number} num_layers
 * @property {number} num_heads
 * @property {number} d_k
 * @property {number} d_v
 * @property {number} layer_norm_epsilon
 * @property {number} first_position
 * @property {"all" | "target" | "none"} tie
 * @property {boolean} scaled
 * @property {boolean} scaled_embeddings
 * @property {boolean} attention_biases
 * @property {boolean} output_bias
 */

/**
 * The shape of each weight of a model, by its name.
 * @param {ModelConfig} config
 */
export function weightShapes(config) {
  const { vocab_size, d_model, d_ff, num_layers, num_heads, d_k, d_v, tie } = config;
  /** @type {Map<string, number[]>} */
  const shapes = new Map();
  const linear = (/** @type {string} */ name, /** @type {number} */ n, /** @type {number} */ k, bias = true) => {
    shapes.set(`${name}.weight`, [n, k]);
    if (bias) shapes.set(`${name}.bias`, [n]);
  };
  const norm = (/** @type {string} */ name) => {
    for (const part of ["weight", "bias"]) shapes.set(`${name}.norm.${part}`, [d_model]);
  };
  linear("embedding", vocab_size, d_model, false);
  if (tie !== "all") linear("source_embedding", vocab_size, d_model, false);
  if (tie === "none") linear("projection", vocab_size, d_model, false);
  if (config.output_bias) shapes.set("output_bias", [vocab_size]);
  for (const stack of ["encoder", "decoder"])
    for (let layer = 0; layer < num_layers; layer++) {
      const place = `${stack}.layers.${layer}`;
      for (const attention of stack === "encoder" ? ["self"] : ["self", "cross"]) {
        const name = `${place}.${attention}_attention`;
        for (const [part, width] of /** @type {[string, number][]} */ (
          Object.entries({ w_q: d_k, w_k: d_k, w_v: d_v })
        ))
          linear(`${name}.${part}`, num_heads * width, d_model, config.attention_biases);
        linear(`${name}.w_o`, d_model, num_heads * d_v, config.attention_biases);
        norm(`${name}_add_norm`);
      }
      linear(`${place}.feed_forward.w_1`, d_ff, d_model);
      linear(`${place}.feed_forward.w_2`, d_model, d_ff);
      norm(`${place}.feed_forward_add_norm`);
    }
  return shapes;
}

export class Parameters {
  /**
   * @param {Uint8Array[]} files Safetensors files that together hold the weights.
   * @param {ModelConfig} config
   * @param {boolean} [plain] Whether products are computed by the readable twin of the kernel.
   */
  constructor(files, config, plain = false) {
    const stored = new Map(files.flatMap((file) => [...readTensors(file)]));
    /** @type {Map<string, Matrix>} */
    this.matrices = new Map();
    let size = 0;
    for (const [name, shape] of weightShapes(config)) {
      const tensor = stored.get(name);
      if (!tensor) throw new Error(`the weights lack ${name}`);
      if (String(tensor.shape) !== String(shape))
        throw new Error(`${name} has shape ${tensor.shape.join(" x ")}, the model needs ${shape.join(" x ")}`);
      const [n, k] = shape.length === 2 ? shape : [1, shape[0]];
      const stride = padded(k, 4);
      this.matrices.set(name, { n, k, stride, at: size, data: new Float32Array() });
      size += stride * padded(n, 8);
    }
    const widest = Math.max(...[...this.matrices.values()].map(({ n, k }) => Math.max(n, k)));
    const { weights, product } = makeProduct(size, widest, plain);
    this.product = product;
    for (const [name, matrix] of this.matrices) {
      const { n, at, stride } = matrix;
      matrix.data = weights.subarray(at, at + n * stride);
      const tensor = stored.get(name);
      if (tensor) widen(tensor, matrix.data, stride);
    }
  }

  /** @param {string} name */
  matrix(name) {
    const found = this.matrices.get(name);
    if (!found) throw new Error(`this model has no ${name}`);
    return found;
  }

  /**
   * x W^T + b, with the weight and the bias, if there is one, of this name.
   * @param {string} name
   * @param {Float32Array} x (rows, k)
   * @param {number} rows
   * @param {string} [biasName]
   */
  linear(name, x, rows, biasName = `${name}.bias`) {
    const out = this.product(x, rows, this.matrix(`${name}.weight`));
    const bias = this.matrices.get(biasName)?.data;
    if (bias) for (let i = 0, n = out.length / rows; i < out.length; i++) out[i] += bias[i % n];
    return out;
  }
}
