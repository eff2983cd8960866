// A translation as the explorer's payload, as viz_app/explorer_view/snapshot.py and components/explorer/payload.py pack it.

import { HeadView } from "../../explorer/js/data/headview.js";
import { information, RESTING_SHARE, restingShares } from "../../explorer/js/data/sinks.js";
import { axis } from "./axes.js";
import { PackedMaps } from "./packedmaps.js";
import { branchEnds, searchTree } from "./searchtree.js";

/** @typedef {import("./translator.js").Translator} Translator */
/** @typedef {import("./translator.js").Found} Found */
/** @typedef {import("./beamsearch.js").Hypothesis} Hypothesis */

const ALIGNMENT = 8; // bytes

/**
 * Packs a branch of a search.
 * @param {Translator} translator
 * @param {Found} found
 * @param {number} branch From 0, the best; an unknown one gives the best.
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function explorerPayload(translator, found, branch = 0) {
  const { live, tokenizer } = translator;
  const { search, text } = found;
  const ends = branchEnds(search);
  const shown = branch > 0 && branch < ends.length ? branch : 0;
  const hypothesis = search.hypothesis(ends[shown]);
  const { packed, best } = packMaps(translator, found, hypothesis);
  if (shown && !found.best) found.best = packMaps(translator, found, search.hypothesis(ends[0])).best;
  found.best ??= best;
  const tokens = hypothesis.ids.map((id) => tokenizer.tokens[id]);
  const [layer, head] = found.best;
  const header = {
    ...live.header,
    bits: packed.bits,
    resolution: packed.resolution,
    kinds: packed.kinds,
    axes: axesOf(found, tokens, hypothesis.finished),
    finished: hypothesis.finished,
    steps: hypothesis.path.map(({ own, token, alternatives }) => [
      probability(own),
      alternatives.filter(([id]) => id !== token).map(([id, log]) => [tokenizer.tokens[id], probability(log)]),
    ]),
    about: { ...live.header.about, text, source: text, prefix: search.prefix.length },
    beam: searchTree(search, tokenizer.tokens, found.id, shown),
    id: `${found.id} ${shown}`,
    selection: { ...live.header.selection, layer, head },
    gloss: [layer, head],
  };
  return joinBuffer(header, packed.data);
}

/** @param {number} log Its probability in six digits. */
const probability = (log) => Number(Math.exp(log).toPrecision(6));

/**
 * @param {Found} found
 * @param {string[]} tokens
 * @param {boolean} finished Whether `</s>` follows; if not, the last token was generated, but never read.
 */
function axesOf({ encoding }, tokens, finished) {
  return {
    source: axis(encoding.tokens, { end: true }),
    inputs: axis(finished ? tokens : tokens.slice(0, -1), { start: true }),
    outputs: axis(tokens, { end: finished }),
  };
}

/**
 * All weights of a hypothesis from one forced pass, and the head that the explorer opens with.
 * @param {Translator} translator
 * @param {Found} found
 * @param {Hypothesis} hypothesis
 */
function packMaps(translator, found, { ids, finished }) {
  const { model, special, tokenizer, live } = translator;
  const { num_layers, num_heads } = model.config;
  const read = [special.bos, ...(finished ? ids : ids.slice(0, -1))];
  const sources = [...found.encoding.ids, special.eos];
  const packed = new PackedMaps(num_layers, num_heads, sources.length, read.length);
  const axes = axesOf(
    found,
    ids.map((id) => tokenizer.tokens[id]),
    finished,
  );
  const [queries, keys] = [axes.outputs, axes.source].map(({ tokens, special }) =>
    tokens.map((text, index) => ({ text, special: special[index], start: false, first: index, last: index })),
  );
  /** @type {{ layer: number, head: number, resting: boolean, information: number }[]} */
  const heads = [];
  translator.forcedPass(found.off, sources, read, (kind, layer, weights) => {
    packed.add(kind, layer, weights);
    if (kind !== "cross") return;
    const view = new HeadView(kind, { layers: 1, heads: num_heads }, queries, keys, weights, 1);
    const shares = restingShares(view);
    for (const [head, found] of information(view).entries())
      heads.push({ layer, head, resting: shares[head] > RESTING_SHARE, information: found });
  });
  return { packed, best: bestHead(heads, live.best_head) };
}

/**
 * The head that aligns words best on the gold set, if it does not rest here; else the one that depends most on the query.
 * @param {{ layer: number, head: number, resting: boolean, information: number }[]} heads
 * @param {[number, number] | null} aligner
 * @returns {[number, number]}
 */
function bestHead(heads, aligner) {
  const measured = aligner && heads.find(({ layer, head }) => layer === aligner[0] && head === aligner[1]);
  const looking = heads.filter(({ resting }) => !resting);
  const most = (looking.length ? looking : heads).reduce((a, b) => (b.information > a.information ? b : a));
  const { layer, head } = measured && !measured.resting ? measured : most;
  return [layer, head];
}

/**
 * A header and data as one buffer, as `join_buffer` of components/buffer.py.
 * @param {object} header
 * @param {Uint8Array} data
 */
function joinBuffer(header, data) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil((text.length + 4) / ALIGNMENT) * ALIGNMENT - 4;
  const all = new Uint8Array(4 + length + data.length).fill(32, 4, 4 + length);
  new DataView(all.buffer).setUint32(0, length, true);
  all.set(text, 4);
  all.set(data, 4 + length);
  return all;
}
