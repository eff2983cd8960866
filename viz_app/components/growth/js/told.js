// The history as Python has packed it: see payload.py.

import { readBuffer } from "../../common/buffer.js";

const WORD = /\u2581/g;
const MANY = 4; // layers; where there are more, heads are drawn smaller, so that all fit into a window
const MOST = 0.5; // of its places a role must explain, or it names no head

export const KINDS = ["encoder", "decoder", "cross"];
const AXES = { encoder: ["source", "source"], decoder: ["inputs", "inputs"], cross: ["outputs", "source"] };

export class Told {
  constructor(bytes) {
    const { header, data } = readBuffer(bytes);
    Object.assign(this, header);
    this.bytes = data;
  }

  get many() {
    return this.layers > MANY;
  }

  /** One head at one moment. */
  map(sentence, kind, moment, layer, head) {
    const { axes, maps } = this.sentences[sentence];
    const [queries, keys] = AXES[kind].map((name) =>
      axes[name].tokens.map((token) => token.replace(WORD, "") || token),
    );
    const [queryStarts, keyStarts] = AXES[kind].map((name) =>
      axes[name].tokens.map((token) => token.startsWith("\u2581")),
    );
    const [, layers, heads, rows, columns] = maps[kind].shape;
    const start = maps[kind].offset + ((moment * layers + layer) * heads + head) * rows * columns;
    const values = this.bytes.subarray(start, start + rows * columns);
    const masks = kind === "decoder" && this.causal;
    return {
      queries,
      keys,
      queryStarts, // which of them begin a word
      keyStarts,
      values,
      at: (query, key) => values[query * columns + key] / 255,
      masked: (query, key) => masks && key > query,
    };
  }

  /** The role that a head fits most clearly beyond chance; null when none explains most of its places. */
  job(kind, moment, layer, head) {
    const found = this.fits(kind, moment, layer, head).filter(({ share }) => share >= MOST);
    return found.sort((a, b) => b.share - b.chance - (a.share - a.chance))[0] ?? null;
  }

  /** How well each role describes a head. */
  fits(kind, moment, layer, head) {
    return Object.entries(this.roles[kind]).map(([role, { places, chance, shares }]) => {
      return { role, places, chance, share: shares[moment][layer][head] };
    });
  }

  /** Alignment error of the head that aligns best at a moment; null when nobody has measured it. */
  aligner(moment) {
    if (!this.alignment) return null;
    let best = null;
    this.alignment.aer[moment].forEach((row, layer) =>
      row.forEach((value, head) => {
        if (!best || value < best.value) best = { value, layer, head };
      }),
    );
    return best;
  }
}
