// The weights of a checkpoint, by the names that its files have, as float32 in one memory.

import { makeProducts, padded } from "./linear.js";
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

/**
 * Makes the memory of the weights, with room for the files at its end: before each number that is read from there, enough
 * room is left for all that were read before, as float32.
 * @param {Record<string, number[]>} shapes Of each weight, by its name.
 * @param {number} [size] Bytes of the files.
 * @param {boolean} [plain] Whether products are computed by the readable twins of the kernel.
 */
export function makeMemory(shapes, size = 0, plain = false) {
  const matrices = Object.values(shapes).map(layOut);
  const numbers = matrices.reduce((sum, { n, k }) => sum + n * k, 0);
  const room = matrices.reduce((sum, { length }) => sum + length, 0);
  const others = Math.max(0, size - 2 * numbers); // bytes in the files that are no weights
  const memory = makeProducts(room + Math.ceil(others / 4), Math.max(...matrices.flatMap(({ n, k }) => [n, k])), plain);
  const { buffer, byteOffset, byteLength } = memory.weights;
  return { ...memory, files: new Uint8Array(buffer, byteOffset + byteLength - size) };
}

/** @param {number[]} shape */
function layOut(shape) {
  const [n, k] = shape.length === 2 ? shape : [1, shape[0]];
  const stride = padded(k, 4);
  return { n, k, stride, length: stride * padded(n, 8) };
}

export class Parameters {
  /**
   * @param {Uint8Array[]} files Safetensors files that together hold the weights.
   * @param {Record<string, number[]>} shapes Of each weight, by its name.
   * @param {boolean} [plain] As for `makeMemory`.
   * @param {ReturnType<typeof makeMemory>} [memory] May hold the files, one behind the other, at its end.
   */
  constructor(files, shapes, plain, memory = makeMemory(shapes, 0, plain)) {
    const stored = new Map(files.flatMap((file) => [...readTensors(file)]));
    /** @type {Map<string, Matrix>} */
    this.matrices = new Map();
    this.product = memory.product;
    this.transposed = memory.transposed;
    for (const [name, shape] of Object.entries(shapes)) {
      const tensor = stored.get(name);
      if (!tensor) throw new Error(`the weights lack ${name}`);
      if (String(tensor.shape) !== String(shape))
        throw new Error(`${name} has shape ${tensor.shape.join(" x ")}, the model needs ${shape.join(" x ")}`);
    }
    let at = 0;
    const inOrder = [...stored].sort(([, one], [, other]) => one.bytes.byteOffset - other.bytes.byteOffset);
    for (const [name, tensor] of inOrder) {
      if (!Object.hasOwn(shapes, name)) continue;
      const { length, ...matrix } = layOut(tensor.shape);
      const data = memory.weights.subarray(at, at + matrix.n * matrix.stride);
      widen(tensor, data, matrix.stride);
      this.matrices.set(name, { ...matrix, at, data });
      at += length;
    }
  }

  /** @param {string} name */
  matrix(name) {
    const values = this.matrices.get(name);
    if (!values) throw new Error(`this model has no ${name}`);
    return values;
  }

  /**
   * x W: the gradient of what a weight of this name was multiplied with.
   * @param {string} name
   * @param {Float32Array} x (rows, n)
   * @param {number} rows
   * @returns {Float32Array} (rows, k)
   */
  back(name, x, rows) {
    return this.transposed(x, rows, this.matrix(`${name}.weight`));
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
