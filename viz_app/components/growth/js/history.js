// The history as Python has packed it: see payload.py.

import { readBuffer } from "../../common/buffer.js";
import { BOUNDARY, tokenText } from "../../common/text/tokens.js";

const MANY = 4; // layers; where there are more, heads are drawn smaller, so that all fit into a window
const MAX = 0.5; // of its places a role must explain, or it names no head

export const KINDS = ["encoder", "decoder", "cross"];
/** @type {Record<Kind, [AxisName, AxisName]>} */
const AXES = { encoder: ["source", "source"], decoder: ["inputs", "inputs"], cross: ["outputs", "source"] };

export class GrowthHistory {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    /** @type {{ header: GrowthHeader, data: Uint8Array }} */
    const { header, data } = readBuffer(bytes);
    this.alignment = header.alignment;
    this.causal = header.causal;
    this.colours = header.colours;
    this.course = header.course;
    this.heads = header.heads;
    this.language = header.language;
    this.layers = header.layers;
    this.roles = header.roles;
    this.sentences = header.sentences;
    this.start = header.start;
    this.steps = header.steps;
    this.texts = header.texts;
    this.training = header.training;
    this.validation = header.validation;
    this.bytes = data;
  }

  get many() {
    return this.layers > MANY;
  }

  /**
   * One head at one moment.
   * @param {number} sentence
   * @param {string} kind
   * @param {number} moment
   * @param {number} layer
   * @param {number} head
   */
  map(sentence, kind, moment, layer, head) {
    const { axes, maps } = this.sentences[sentence];
    const [queries, keys] = AXES[kind].map((name) => axes[name].tokens.map(toLabel));
    const [, layers, heads, rows, columns] = maps[kind].shape;
    const start = maps[kind].offset + ((moment * layers + layer) * heads + head) * rows * columns;
    const values = this.bytes.subarray(start, start + rows * columns);
    const causal = kind === "decoder" && this.causal;
    return {
      queries,
      keys,
      values,
      causal,
      /**
       * @param {number} query
       * @param {number} key
       */
      at: (query, key) => values[query * columns + key] / 255,
      /**
       * @param {number} query
       * @param {number} key
       */
      masked: (query, key) => causal && key > query,
    };
  }

  /**
   * The role that a head fits most clearly beyond chance; null when none explains most of its places.
   * @param {Kind} kind
   * @param {number} moment
   * @param {number} layer
   * @param {number} head
   */
  job(kind, moment, layer, head) {
    return this.fits(kind, moment, layer, head).find(({ share }) => share >= MAX) ?? null;
  }

  /**
   * How well each role describes a head, the clearest beyond chance first.
   * @param {Kind} kind
   * @param {number} moment
   * @param {number} layer
   * @param {number} head
   */
  fits(kind, moment, layer, head) {
    const roles = Object.entries(this.roles[kind]).map(([role, { places, chance, shares }]) => {
      return { role, places, chance, share: shares[moment][layer][head] };
    });
    return roles.sort((a, b) => b.share - b.chance - (a.share - a.chance));
  }

  /**
   * Alignment error of the head that aligns best at a moment; null when nobody has measured it.
   * @param {number} moment
   */
  aligner(moment) {
    if (!this.alignment) return null;
    /** @type {{ value: number, layer: number, head: number } | null} */
    let best = null;
    for (const [layer, row] of this.alignment.aer[moment].entries()) {
      for (const [head, value] of row.entries()) if (!best || value < best.value) best = { value, layer, head };
    }
    return best;
  }
}

/**
 * A token as it is read, and whether it begins a word.
 * @param {string} token
 */
function toLabel(token) {
  return { text: tokenText(token), starts: token.startsWith(BOUNDARY) };
}
