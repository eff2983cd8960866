// Attention weights as bytes, packed layer by layer as viz_app/components/explorer/weights.py packs them.

/** @typedef {{ layers: number, heads: number, queries: number, keys: number, offset: number, rows?: number }} PackedKind */

export const FULL = 65535; // the uint16 that stands for a weight of 1
export const MAX_BYTES = 16 * 2 ** 20; // of weights in uint16; more travel as bytes
const NEARLY_FULL = 255 * 256;

export class PackedMaps {
  /**
   * @param {number} layers
   * @param {number} heads
   * @param {number} sources
   * @param {number} targets Rows of the decoder.
   * @param {number} most Bytes of weights in uint16.
   */
  constructor(layers, heads, sources, targets, most = MAX_BYTES) {
    const shapes = { encoder: [sources, sources], decoder: [targets, targets], cross: [targets, sources] };
    /** @type {Record<Kind, PackedKind>} */
    this.kinds = Object.create(null);
    const entries = /** @type {[Kind, number[]][]} */ (Object.entries(shapes));
    const count = (/** @type {Kind} */ kind, /** @type {number} */ queries, /** @type {number} */ keys) =>
      layers * heads * (kind === "decoder" ? (queries * (queries + 1)) / 2 : queries * keys);
    const weights = entries.reduce((sum, [kind, [queries, keys]]) => sum + count(kind, queries, keys), 0);
    this.bits = 2 * weights <= most ? 16 : 8;
    const rows = entries.reduce((sum, [, [queries]]) => sum + layers * heads * queries, 0);
    let offset = this.bits === 16 ? 0 : 4 * rows;
    let at = 0;
    for (const [kind, [queries, keys]] of entries) {
      this.kinds[kind] = { layers, heads, queries, keys, ...(this.bits === 8 ? { rows: at } : {}), offset };
      at += 4 * layers * heads * queries;
      offset += (count(kind, queries, keys) * this.bits) / 8;
    }
    this.data = new Uint8Array(offset);
    this.levels = new Uint16Array(this.data.buffer, 0, offset >> 1);
  }

  /** Largest step between two neighbouring values. */
  get resolution() {
    return this.bits === 16 ? 1 / FULL : 1 / 255;
  }

  /**
   * Adds a layer, (h, Q, K).
   * @param {Kind} kind
   * @param {number} layer
   * @param {Float32Array} weights
   */
  add(kind, layer, weights) {
    const { heads, queries, keys, offset, rows = 0 } = this.kinds[kind];
    const triangle = kind === "decoder";
    const cells = heads * (triangle ? (queries * (queries + 1)) / 2 : queries * keys);
    let at = (offset * 8) / this.bits + layer * cells;
    for (let row = 0; row < heads * queries; row++) {
      const values = weights.subarray(row * keys, row * keys + (triangle ? (row % queries) + 1 : keys));
      if (this.bits === 16) for (const value of values) this.levels[at++] = Math.round(Math.min(1, value) * FULL);
      else {
        const factor = this.addRow(rows / 2 + 2 * (layer * heads * queries + row), values);
        for (const value of values) this.data[at++] = Math.round(Math.min(1, value) * factor);
      }
    }
  }

  /**
   * Writes the largest weight and the sum of a row; returns the factor from a weight to its byte.
   * @param {number} at
   * @param {Float32Array} values
   */
  addRow(at, values) {
    const capped = Array.from(values, (value) => Math.min(1, value));
    const ceiling = Math.ceil(Math.max(0, ...capped) * FULL);
    const largest = ceiling > NEARLY_FULL ? FULL : ceiling;
    const sum = capped.reduce((total, value) => total + value, 0);
    this.levels[at] = largest;
    this.levels[at + 1] = Math.round(Math.min(1, sum) * FULL);
    return largest ? (255 * FULL) / largest : 0;
  }
}
