// A payload of payload.py: its header, and its arrays as typed arrays with a shape.

import { readBuffer } from "../../../components/common/buffer.js";

/** @type {Record<string, any>} */
const TYPES = { float32: Float32Array, uint8: Uint8Array, int32: Int32Array };

/** An array of any number of dimensions, the last one fastest. */
export class NdArray {
  /**
   * @param {Float32Array} data Or bytes, or whole numbers: they have the same methods.
   * @param {number[]} shape
   */
  constructor(data, shape) {
    this.data = data;
    this.shape = shape;
  }

  /**
   * The value at some indices, one for each dimension.
   * @param {...number} indices
   */
  at(...indices) {
    let place = 0;
    for (let axis = 0; axis < this.shape.length; axis++) place = place * this.shape[axis] + indices[axis];
    return this.data[place];
  }

  /**
   * The part at the first indices, sharing memory: a row of a matrix, a matrix of a stack.
   * @param {...number} indices
   */
  part(...indices) {
    const rest = this.shape.slice(indices.length);
    const size = rest.reduce((product, length) => product * length, 1);
    let place = 0;
    for (let axis = 0; axis < indices.length; axis++) place = place * this.shape[axis] + indices[axis];
    return new NdArray(this.data.subarray(place * size, (place + 1) * size), rest);
  }
}

/**
 * Bytes -> header, with `arrays` replaced by arrays.
 * @param {Uint8Array} bytes
 */
export function readPayload(bytes) {
  const { header, data } = readBuffer(bytes);
  const aligned = data.slice(); // a copy, so that every array starts where its type may start
  header.arrays = Object.fromEntries(
    Object.entries(header.arrays).map(([name, { shape, type, offset }]) => {
      const size = shape.reduce((/** @type {number} */ product, /** @type {number} */ side) => product * side, 1);
      return [name, new NdArray(new TYPES[type](aligned.buffer, offset, size), shape)];
    }),
  );
  return header;
}
