// A translation as the explorer's payload, as viz_app/explorer_view/snapshot.py and components/explorer/payload.py pack it.
// Where the explorer starts is in the payload that Python has packed, the first.

import { joinBuffer } from "../../common/buffer.js";
import { FULL } from "../../explorer/js/data/weights.js";
import { axis } from "./axes.js";
import { PackedMaps } from "./packedmaps.js";
import { searchTree, shownBranch } from "./searchtree.js";

/** @typedef {import("./translator.js").Translator} Translator */
/** @typedef {import("./translator.js").Found} Found */

/**
 * Packs a branch of a search, with all weights from one forced pass.
 * @param {Translator} translator
 * @param {Found} state
 * @param {number} branch From 0, the best; an unknown one gives the best.
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function explorerPayload(translator, state, branch = 0) {
  const { live, model, special, tokenizer } = translator;
  const { search, text, encoding, off } = state;
  const { shown, ids, path, finished, read } = shownBranch(search, branch);
  const tokens = ids.map((id) => tokenizer.tokens[id]);
  const force = search.prefix.map((id) => tokenizer.tokens[id]).join(" ");
  const { num_layers, num_heads } = model.config;
  const packed = new PackedMaps(num_layers, num_heads, encoding.ids.length + 1, read + 1);
  translator.forcedPass(
    off,
    [...encoding.ids, special.eos],
    [special.bos, ...ids.slice(0, read)],
    (kind, layer, weights) => packed.add(kind, layer, weights),
  );
  const header = {
    ...live.header,
    bits: 16,
    resolution: 1 / FULL,
    kinds: packed.kinds,
    axes: {
      source: axis(encoding.tokens, { end: true }),
      inputs: axis(tokens.slice(0, read), { start: true }),
      outputs: axis(tokens, { end: finished }),
    },
    finished,
    steps: path.map(({ own, token, alternatives }) => [
      probability(own),
      alternatives.filter(([id]) => id !== token).map(([id, log]) => [tokenizer.tokens[id], probability(log)]),
    ]),
    about: { ...live.header.about, text, source: text, ...(force ? { force } : {}) },
    beam: searchTree(search, tokenizer.tokens, state.id, shown),
    id: `${state.id} ${shown}`,
  };
  return joinBuffer(header, new Uint8Array(packed.levels.buffer));
}

/** @param {number} log Its probability in six digits. */
const probability = (log) => Number(Math.exp(log).toPrecision(6));
