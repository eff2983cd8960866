// x W^T, and x W for gradients: by the kernel, or by its readable twins where a browser has no WebAssembly.

import { kernelBytes } from "./kernel.js";

/**
 * A matrix (n, k) in rows of `stride` numbers, a multiple of 4; so many zeros follow that n becomes a multiple of 8.
 * Its numbers begin at `at` of the memory of all weights. A vector has one row.
 * @typedef {{ n: number, k: number, stride: number, at: number, data: Float32Array }} Matrix
 * @typedef {(x: Float32Array, rows: number, w: Matrix) => Float32Array} Product (rows, k), (n, k) -> (rows, n).
 */

const SCRATCH = 2 ** 20; // numbers
const BLOCK = 32; // numbers of out that `oneTransposed` computes at a time

/** @param {number} count @param {number} unit */
export const padded = (count, unit) => Math.ceil(count / unit) * unit;

/** @type {Product} */
export function plainProduct(x, rows, { n, k, stride, data }) {
  const out = new Float32Array(rows * n);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < n; column++) {
      let sum = 0; // in float64
      for (let i = row * k, j = column * stride, end = i + k; i < end; i++, j++) sum += x[i] * data[j];
      out[row * n + column] = sum;
    }
  return out;
}

/** @type {Product} (rows, n), (n, k) -> (rows, k): x W. */
export function plainTransposed(x, rows, { n, k, stride, data }) {
  const out = new Float32Array(rows * k);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < k; column++) {
      let sum = 0; // in float64
      for (let i = row * n, j = column, end = i + n; i < end; i++, j += stride) sum += x[i] * data[j];
      out[row * k + column] = sum;
    }
  return out;
}

/**
 * Makes the memory of all weights, and the products of a vector with one of them.
 * @param {number} size Numbers of all weights; 32 more follow.
 * @param {number} widest Numbers of the longest row of x or out.
 * @param {boolean} plain Whether the readable twins compute.
 * @returns {{ weights: Float32Array, product: Product, transposed: Product }}
 */
export function makeProducts(size, widest, plain) {
  const room = Math.max(SCRATCH, padded(widest, BLOCK)); // for x, and for out
  try {
    if (plain) throw new Error("the twins are asked for");
    const pages = Math.ceil((4 * (2 * room + size + BLOCK)) / 65536);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(kernelBytes()), { e: { m: memory } });
    const numbers = new Float32Array(memory.buffer);
    const { four, one, fourTransposed, oneTransposed } = /** @type {any} */ (exports);
    return {
      weights: numbers.subarray(2 * room),
      product: kernelProduct(four, one, numbers, room, ({ n, k, stride }) => [k, stride, n, padded(n, 8)]),
      transposed: kernelProduct(fourTransposed, oneTransposed, numbers, room, ({ n, k }) => [
        n,
        n,
        k,
        padded(k, BLOCK),
      ]),
    };
  } catch {
    return { weights: new Float32Array(size), product: plainProduct, transposed: plainTransposed };
  }
}

/**
 * A product by the kernel, of as many rows at a time as there is room for.
 * @param {any} four Its function for four rows.
 * @param {any} one
 * @param {Float32Array} numbers The memory: room for x, room for out, all weights.
 * @param {number} room
 * @param {(w: Matrix) => number[]} widths Numbers of a row of x, and from one to the next in the memory; the same of out.
 * @returns {Product}
 */
const kernelProduct = (four, one, numbers, room, widths) => (x, rows, w) => {
  const [k, stride, n, width] = widths(w);
  const out = new Float32Array(rows * n);
  const most = Math.floor(room / Math.max(stride, width));
  for (let first = 0; first < rows; first += most) {
    const count = Math.min(most, rows - first);
    // What remains behind a row meets zeros of W.
    for (let row = 0; row < count; row++)
      numbers.set(x.subarray((first + row) * k, (first + row + 1) * k), row * stride);
    for (let row = 0; row < count; row += count - row < 4 ? 1 : 4) {
      const to = 4 * (room + row * width);
      const run = count - row < 4 ? one : four;
      run(4 * row * stride, 4 * (2 * room + w.at), 4 * stride, to, to + 4 * width, 4 * width, 4 * w.stride);
    }
    for (let row = 0, from = room; row < count; row++, from += width)
      out.set(numbers.subarray(from, from + n), (first + row) * n);
  }
  return out;
};
