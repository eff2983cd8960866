// The training history of a model as Python has packed it: see payload.py.

import { readBuffer } from "../../common/buffer.js";
import { byteView } from "../../explorer/js/data/headview.js";

const MANY = 4; // layers; where there are more, heads are drawn smaller, so that all fit into a window
const MIN_SHARE = 0.5; // of its positions a role must explain, or it names no head

export class TrainingHistory {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    /** @type {{ header: GrowthHeader, data: Uint8Array }} */
    const { header, data } = readBuffer(bytes);
    this.header = header;
    this.bytes = data;
    this.texts = header.texts;
    this.steps = header.steps;
    this.many = header.layers > MANY;
  }

  /**
   * All heads of a kind in a snapshot.
   * @param {Pick<GrowthState, "sentence" | "kind" | "snapshot">} state
   */
  view({ sentence, kind, snapshot }) {
    const { sentences, causal } = this.header;
    return byteView(sentences[sentence], this.bytes, kind, { causal: kind === "decoder" && causal, snapshot });
  }

  /**
   * The role that a head fits most clearly beyond chance; null when none explains most of its positions.
   * @param {HeadOfSnapshot} place
   */
  role(place) {
    return this.fits(place).find(({ share }) => share >= MIN_SHARE) ?? null;
  }

  /**
   * How well each role describes a head, the clearest beyond chance first.
   * @param {HeadOfSnapshot} place
   */
  fits({ kind, snapshot, layer, head }) {
    const roles = Object.entries(this.header.roles[kind]).map(([role, { places, chance, shares }]) => {
      return { role, places, chance, share: shares[snapshot][layer][head] };
    });
    return roles.sort((a, b) => b.share - b.chance - (a.share - a.chance));
  }

  /**
   * Alignment error of the head that aligns best in a snapshot; null when it was not measured.
   * @param {number} snapshot
   */
  aligner(snapshot) {
    const { alignment } = this.header;
    if (!alignment) return null;
    const all = alignment.aer[snapshot].flatMap((row, layer) => row.map((value, head) => ({ value, layer, head })));
    return all.reduce((best, each) => (each.value < best.value ? each : best));
  }
}

/** @typedef {Pick<GrowthState, "kind" | "snapshot" | "layer" | "head">} HeadOfSnapshot */
