// out = x W^T + b: by the kernel, or by its readable twin where a browser has no WebAssembly.

import { kernelBytes } from "./kernel.js";

/**
 * A matrix (n, k) in rows of `stride` numbers, a multiple of 4; so many zeros follow that n becomes a multiple of 8.
 * Its numbers begin at `at` of the memory of all weights. A vector has one row.
 * @typedef {{ n: number, k: number, stride: number, at: number, data: Float32Array }} Matrix
 * @typedef {(x: Float32Array, rows: number, w: Matrix) => Float32Array} Product (rows, k), (n, k) -> (rows, n).
 */

const SCRATCH_BYTES = 2 ** 22; // for x, and for out

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

/**
 * Makes the memory of all weights, and the product of a vector with one of them.
 * @param {number} size Numbers of all weights.
 * @param {number} widest Numbers of the longest row of x or out.
 * @param {boolean} plain Whether the readable twin computes.
 * @returns {{ weights: Float32Array, product: Product }}
 */
export function makeProduct(size, widest, plain) {
  const scratch = Math.max(SCRATCH_BYTES, 4 * padded(widest, 8));
  try {
    if (plain) throw new Error("the twin is asked for");
    const pages = Math.ceil((2 * scratch + 4 * size) / 65536);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const { linear } = new WebAssembly.Instance(new WebAssembly.Module(kernelBytes()), { e: { m: memory } }).exports;
    const run = /** @type {(...numbers: number[]) => void} */ (linear);
    const floats = new Float32Array(memory.buffer);
    const weights = floats.subarray(scratch / 2);
    return { weights, product: (x, rows, w) => kernelProduct(run, floats, scratch, x, rows, w) };
  } catch {
    return { weights: new Float32Array(size), product: plainProduct };
  }
}

/**
 * The product of `rows` vectors, as many at a time as the scratch memory holds.
 * @param {(...numbers: number[]) => void} run
 * @param {Float32Array} floats The memory: x, out, weights.
 * @param {number} scratch
 * @param {Float32Array} x
 * @param {number} rows
 * @param {Matrix} w
 */
function kernelProduct(run, floats, scratch, x, rows, { n, k, stride, at }) {
  const out = new Float32Array(rows * n);
  const width = padded(n, 8);
  const most = Math.floor(scratch / 4 / Math.max(stride, width));
  const results = scratch / 4;
  for (let first = 0; first < rows; first += most) {
    const count = Math.min(most, rows - first);
    if (stride === k) floats.set(x.subarray(first * k, (first + count) * k));
    else
      for (let row = 0; row < count; row++) {
        floats.set(x.subarray((first + row) * k, (first + row + 1) * k), row * stride);
        floats.fill(0, row * stride + k, (row + 1) * stride);
      }
    run(0, count, 2 * scratch + 4 * at, width, stride, scratch);
    if (width === n) out.set(floats.subarray(results, results + count * n), first * n);
    else
      for (let row = 0; row < count; row++)
        out.set(floats.subarray(results + row * width, results + row * width + n), (first + row) * n);
  }
  return out;
}
