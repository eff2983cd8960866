// Products of gradients with weights: out = x W, by the kernel, which needs the transpose of W.

import { makeProduct, padded, plainProduct } from "./linear.js";

/** @typedef {import("./linear.js").Matrix} Matrix */

export class Transposes {
  /**
   * @param {import("./parameters.js").Parameters} parameters
   * @param {RegExp} names Of the weights.
   */
  constructor(parameters, names) {
    const weights = [...parameters.matrices].filter(([name]) => names.test(name));
    const sizes = weights.map(([, { n, k }]) => padded(n, 4) * padded(k, 8));
    const size = sizes.reduce((sum, each) => sum + each, 0);
    const widest = Math.max(...weights.map(([, { n, k }]) => Math.max(n, k)));
    const { weights: memory, product } = makeProduct(size, widest, parameters.product === plainProduct);
    this.product = product;
    /** @type {Map<string, Matrix>} */
    this.matrices = new Map();
    let at = 0;
    for (const [index, [name, { n, k, stride, data }]] of weights.entries()) {
      const turned = { n: k, k: n, stride: padded(n, 4), at, data: memory.subarray(at, at + sizes[index]) };
      for (let row = 0; row < n; row++)
        for (let column = 0; column < k; column++)
          turned.data[column * turned.stride + row] = data[row * stride + column];
      this.matrices.set(name, turned);
      at += sizes[index];
    }
  }

  /** @param {string} name */
  matrix(name) {
    return /** @type {Matrix} */ (this.matrices.get(name));
  }

  /**
   * @param {Float32Array} x (rows, n)
   * @param {number} rows
   * @param {string} name Of a weight (n, k).
   * @returns {Float32Array} (rows, k)
   */
  times(x, rows, name) {
    return this.product(x, rows, this.matrix(name));
  }
}
