// The weights of one payload as uint16, 65535 for a weight of 1, whatever they travelled as (weights.py).

export const FULL = 65535;

export class Weights {
  /**
   * @param {Pick<ExplorerHeader, "bits" | "kinds">} header
   * @param {Uint8Array} data
   */
  constructor({ bits, kinds }, data) {
    this.bits = bits;
    this.kinds = kinds;
    this.data = data;
    /** @type {Map<Kind, Uint16Array>} */
    this.unpacked = new Map();
    /** @type {Map<Kind, Uint16Array>} */
    this.sums = new Map();
  }

  /**
   * All heads of a kind, (layers, heads, queries, keys) in a row; unpacked when first asked for.
   * @param {Kind} kind
   */
  of(kind) {
    let weights = this.unpacked.get(kind);
    if (!weights) {
      weights = this.unpack(kind);
      this.unpacked.set(kind, weights);
    }
    return weights;
  }

  /** @param {Kind} kind */
  unpack(kind) {
    const shape = this.kinds[kind];
    const { queries, keys } = shape;
    const rows = shape.layers * shape.heads * queries;
    const triangle = kind === "decoder";
    const size = triangle ? (rows / Math.max(1, queries)) * ((queries * (queries + 1)) / 2) : rows * keys;
    if (this.bits === 16 && !triangle) return this.uint16(shape.offset, size);
    const travelled = this.bits === 16 ? this.uint16(shape.offset, size) : this.bytes(shape.offset, size);
    const largest = this.bits === 8 ? this.uint16(shape.rows, 2 * rows) : null; // of a row; then comes its sum
    const weights = new Uint16Array(rows * keys);
    let from = 0;
    for (let row = 0; row < rows; row++) {
      const length = triangle ? (row % queries) + 1 : keys;
      const start = row * keys;
      if (!largest) weights.set(travelled.subarray(from, from + length), start);
      else spread(travelled, from, length, largest[2 * row] / 255, weights, start);
      from += length;
    }
    return weights;
  }

  /**
   * The sum of a row as it was before rounding to bytes.
   * @param {Kind} kind
   * @param {number} row
   */
  rowSum(kind, row) {
    let sums = this.sums.get(kind);
    const { layers, heads, queries, rows } = this.kinds[kind];
    if (!sums) {
      sums = this.uint16(rows, 2 * layers * heads * queries);
      this.sums.set(kind, sums);
    }
    return sums[2 * row + 1] / FULL;
  }

  /**
   * @param {number} offset
   * @param {number} count
   */
  bytes(offset, count) {
    return this.data.subarray(offset, offset + count);
  }

  /**
   * uint16 in place, or a copy where the message from the server put them on an odd address.
   * @param {number} offset
   * @param {number} count
   */
  uint16(offset, count) {
    const bytes = this.bytes(offset, 2 * count);
    return bytes.byteOffset % 2
      ? new Uint16Array(bytes.slice().buffer)
      : new Uint16Array(bytes.buffer, bytes.byteOffset, count);
  }
}

/**
 * One row, multiplied and rounded.
 * @param {Uint8Array | Uint16Array} travelled
 * @param {number} from
 * @param {number} length
 * @param {number} factor
 * @param {Uint16Array} weights
 * @param {number} start
 */
function spread(travelled, from, length, factor, weights, start) {
  for (let i = 0; i < length; i++) weights[start + i] = (travelled[from + i] * factor + 0.5) | 0;
}
