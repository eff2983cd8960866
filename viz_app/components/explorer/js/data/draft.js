// A translation that is still being generated: the rows that are there, and room for those to come.

import { Translation } from "./data.js";
import { FULL } from "./weights.js";

const ROOM = 1.2; // rows for each token of the source, and times as many whenever they are too few

export class DraftTranslation extends Translation {
  /** @type {Uint8Array[]} Weights of each position of the decoder, those of self-attention first. */
  rows = [];

  /**
   * @param {Translation} shown The one before: the draft has its labels.
   * @param {Draft} draft The first of a search.
   */
  constructor(shown, { axes, encoder }) {
    const header = { ...shown, axes, steps: [], finished: true, beam: undefined };
    super({ header: /** @type {any} */ (header), data: new Uint8Array() });
    const sources = axes.source.tokens.length;
    const levels = Uint16Array.from(encoder ?? [], level);
    this.weights.unpacked.set("encoder", levels);
    this.kinds = { ...this.kinds, encoder: { ...this.kinds.encoder, queries: sources, keys: sources } };
    this.makeRoom(Math.ceil(ROOM * sources));
  }

  /** @param {number} targets Rows of the decoder. */
  makeRoom(targets) {
    this.length = targets;
    const sources = this.axes.source.tokens.length;
    for (const [kind, keys] of /** @type {[Kind, number][]} */ ([
      ["decoder", targets],
      ["cross", sources],
    ])) {
      const { layers, heads } = this.kinds[kind];
      this.kinds[kind] = { ...this.kinds[kind], queries: targets, keys };
      this.weights.unpacked.set(kind, new Uint16Array(layers * heads * targets * keys));
    }
  }

  /** @param {Draft} draft Whether it is of the same sentence. */
  continues({ axes }) {
    return String(axes.source.tokens) === String(this.axes.source.tokens);
  }

  /**
   * Takes over the rows of a draft; returns the first that has changed.
   * @param {Draft} draft
   */
  take({ axes, from, rows }) {
    const { layers, heads } = this.kinds.cross;
    const written = axes.outputs.tokens.length;
    const shrinks = written < this.rows.length; // another hypothesis is the best now
    const grows = written > this.length;
    const before = this.rows.splice(from);
    let same = from; // rows that have not changed
    for (let row = from, at = 0; row < written; row++) {
      const size = layers * heads * (row + 1 + axes.source.tokens.length);
      this.rows.push(rows.subarray(at, at + size));
      at += size;
      if (same === row && equal(before[row - from], this.rows[row])) same++;
    }
    if (grows) this.makeRoom(Math.ceil(ROOM * written));
    const first = grows ? 0 : same;
    for (let row = first; row < written; row++) this.fill(row);
    const { length } = this;
    this.axes = { ...axes, inputs: padded(axes.inputs, length), outputs: padded(axes.outputs, length) };
    this.written = written;
    this.views.clear();
    this.words.clear();
    return shrinks ? 0 : first;
  }

  /** @param {number} row */
  fill(row) {
    let at = 0;
    for (const [kind, length] of /** @type {[Kind, number][]} */ ([
      ["decoder", row + 1],
      ["cross", this.axes.source.tokens.length],
    ])) {
      const { layers, heads, queries, keys } = this.kinds[kind];
      const weights = this.weights.of(kind);
      for (let map = 0; map < layers * heads; map++) {
        const start = (map * queries + row) * keys;
        for (let key = 0; key < length; key++) weights[start + key] = level(this.rows[row][at++]);
      }
    }
  }
}

/**
 * @param {Uint8Array | undefined} before
 * @param {Uint8Array} row
 */
const equal = (before, row) => before?.every((byte, index) => byte === row[index]);

/** @param {number} byte */
const level = (byte) => (byte * FULL) / 255;

/**
 * An axis with empty tokens at its end.
 * @param {ExplorerHeader["axes"]["outputs"]} axis
 * @param {number} length
 */
function padded({ tokens, words, special }, length) {
  const room = Array.from({ length: length - tokens.length }, (_, index) => index + 1);
  const last = words[words.length - 1];
  return {
    tokens: [...tokens, ...room.map(() => "")],
    words: [...words, ...room.map((index) => last + index)],
    special: [...special, ...room.map(() => false)],
  };
}
