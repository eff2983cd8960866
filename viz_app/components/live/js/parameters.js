// The weights of a checkpoint, by the names that its files have, as float32 in one memory.

import { makeProduct, padded } from "./linear.js";
import { readTensors, widen } from "./safetensors.js";

/** @typedef {import("./linear.js").Matrix} Matrix */

/**
 * The options of a model, as config.py has them; live_model.py refuses what is not run here.
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

export class Parameters {
  /**
   * @param {Uint8Array[]} files Safetensors files that together hold the weights.
   * @param {Record<string, number[]>} shapes Of each weight, by its name.
   * @param {boolean} [plain] Whether products are computed by the readable twin of the kernel.
   */
  constructor(files, shapes, plain = false) {
    const stored = new Map(files.flatMap((file) => [...readTensors(file)]));
    /** @type {Map<string, Matrix>} */
    this.matrices = new Map();
    let size = 0;
    for (const [name, shape] of Object.entries(shapes)) {
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
    const values = this.matrices.get(name);
    if (!values) throw new Error(`this model has no ${name}`);
    return values;
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
