// Attention weights as uint16, packed layer by layer as viz_app/components/explorer/weights.py packs them. However many
// there are: nothing travels.

import { FULL } from "../../explorer/js/data/weights.js";

export class PackedMaps {
  /**
   * @param {number} layers
   * @param {number} heads
   * @param {number} sources
   * @param {number} targets Rows of the decoder.
   */
  constructor(layers, heads, sources, targets) {
    const shapes = { encoder: [sources, sources], decoder: [targets, targets], cross: [targets, sources] };
    let offset = 0;
    /** @type {Record<Kind, { layers: number, heads: number, queries: number, keys: number, offset: number }>} */
    this.kinds = Object.create(null);
    for (const [kind, [queries, keys]] of /** @type {[Kind, number[]][]} */ (Object.entries(shapes))) {
      this.kinds[kind] = { layers, heads, queries, keys, offset };
      offset += 2 * layers * heads * cells(kind, queries, keys);
    }
    this.levels = new Uint16Array(offset / 2);
  }

  /**
   * Adds a layer, (h, Q, K).
   * @param {Kind} kind
   * @param {number} layer
   * @param {Float32Array} weights
   */
  add(kind, layer, weights) {
    const { heads, queries, keys, offset } = this.kinds[kind];
    let at = offset / 2 + layer * heads * cells(kind, queries, keys);
    for (let row = 0; row < heads * queries; row++) {
      const length = kind === "decoder" ? (row % queries) + 1 : keys;
      for (const value of weights.subarray(row * keys, row * keys + length))
        this.levels[at++] = Math.round(Math.min(1, value) * FULL);
    }
  }
}

/**
 * Weights of a head; the zeros of the decoder's mask are left out.
 * @param {Kind} kind
 * @param {number} queries
 * @param {number} keys
 */
const cells = (kind, queries, keys) => (kind === "decoder" ? (queries * (queries + 1)) / 2 : queries * keys);
