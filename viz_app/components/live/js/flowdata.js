// The flow of a translation as the explorer draws it: `FlowData` of types.d.ts.

import { STACKS } from "./flow.js";
import { frozenPass } from "./frozen.js";
import { Largest } from "./largest.js";
import { shownBranch } from "./searchtree.js";

/** @typedef {import("./flow.js").Flow} Flow */
/** @typedef {import("./flow.js").Edges} Edges */
/** @typedef {import("./translator.js").Translator} Translator */
/** @typedef {import("./translator.js").Found} Found */
/**
 * A branch; a word, by its position; a token that it is compared with.
 * @typedef {{ branch?: number, at?: number | null, against?: string | null }} FlowOptions
 */

const CARRIED = 0.98; // of all flow, by the ways that are listed
const MAX_WAYS = 1500;
const MAX_WORDS = 48; // of a longer translation those around one word
const MAX_HEADS = 3; // of a way
const KINDS = /** @type {const} */ ([...STACKS, "cross"]);

/**
 * Computes the flow of each word of a branch, or of one against another token; yields after each step.
 * @param {Translator} translator
 * @param {Found} found
 * @param {FlowOptions} options
 * @returns {Generator<undefined, FlowData | null>} Null for a word that is not there, or an unknown token.
 */
export function* flowData(translator, { search, text, encoding }, { branch = 0, at = null, against = null }) {
  const { live, model, special, tokenizer, frozenModel } = translator;
  const { ids, finished, read } = shownBranch(search, branch);
  const outputs = finished ? [...ids, special.eos] : ids;
  const other = against === null ? null : tokenizer.tokens.indexOf(against);
  if (other !== null && (other < 0 || at === null || !(at in outputs))) return null;
  const first = Math.max(0, Math.min(outputs.length - MAX_WORDS, (at ?? 0) - MAX_WORDS / 2));
  const [begin, end] = other === null || at === null ? [first, first + MAX_WORDS] : [at, at + 1];
  const frozen = frozenPass(model, [...encoding.ids, special.eos], [special.bos, ...ids.slice(0, read)]);
  /** @type {(FlowWord | null)[]} */
  const words = outputs.map(() => null);
  for (const [position, token] of outputs.entries()) {
    if (position < begin || position >= end) continue;
    yield;
    words[position] = flowWord(frozenModel.flow(frozen, position, token, other), outputs.length);
  }
  /** @type {string[][]} */
  const lens = [];
  for (const states of other === null ? frozen.decoder.states : []) {
    yield;
    const logits = model.logits(states, outputs.length);
    const size = logits.length / outputs.length;
    lens.push(outputs.map((_, row) => tokenizer.tokens[likeliest(logits.subarray(row * size, (row + 1) * size))]));
  }
  const tokens = outputs.map((token) => tokenizer.tokens[token]);
  return { model: live.header.about.model, source: text, tokens, against, at: other === null ? null : at, words, lens };
}

/**
 * @param {Flow} flow
 * @param {number} length Of the decoder's inputs.
 * @returns {FlowWord}
 */
function flowWord({ logit, edges, neurons, states, residuals }, length) {
  const rows = ({ encoder, decoder } = states) => ({
    encoder: encoder.map((values) => [...values]),
    decoder: decoder.map((values) => [...values, ...Array(length - values.length).fill(0)]),
  });
  const { encoder, decoder } = rows();
  const [source, inputs] = [encoder[0], decoder[0]];
  return {
    logit,
    source,
    inputs,
    biases: [...source, ...inputs].reduce((rest, part) => rest - part, logit),
    ...ways(edges),
    states: { encoder, decoder },
    residuals: rows(residuals),
    neurons: neurons.sorted().flatMap(([flow, ...place]) => [...place, flow]),
  };
}

/**
 * Edges of all heads of a layer together, the largest first, with their largest heads.
 * @param {Flow["edges"]} edges
 */
function ways(edges) {
  const found = new Largest(MAX_WAYS);
  let [total, count] = [0, 0];
  for (const [kind, name] of KINDS.entries())
    for (const [layer, { queries, keys, flows }] of edges[name].entries())
      for (let cell = 0, cells = queries * keys; cell < cells; cell++) {
        let sum = 0;
        for (let at = cell; at < flows.length; at += cells) sum += flows[at];
        if (!sum) continue;
        total += Math.abs(sum);
        count++;
        found.add(sum, kind, layer, Math.floor(cell / keys), cell % keys);
      }
  let carried = 0;
  const listed = found.sorted().filter(([flow]) => {
    const before = carried;
    carried += Math.abs(flow);
    return before < CARRIED * total;
  });
  return {
    total,
    count,
    ways: listed.flatMap((way) => way.slice(1)),
    flows: listed.map(([flow]) => flow),
    heads: listed.map(([, kind, layer, query, key]) => largestHeads(edges[KINDS[kind]][layer], query, key)),
  };
}

/**
 * Pairs of head and flow.
 * @param {Edges} edges
 * @param {number} query
 * @param {number} key
 */
function largestHeads({ queries, keys, flows }, query, key) {
  /** @type {number[]} */
  const found = [];
  for (let head = 0; head < flows.length / queries / keys; head++) {
    const flow = flows[(head * queries + query) * keys + key];
    let place = found.length;
    while (place && Math.abs(found[place - 1]) < Math.abs(flow)) place -= 2;
    if (!flow || place >= 2 * MAX_HEADS) continue;
    for (let i = Math.min(found.length + 2, 2 * MAX_HEADS) - 1; i > place + 1; i--) found[i] = found[i - 2];
    [found[place], found[place + 1]] = [head, flow];
  }
  return found;
}

/** @param {Float32Array} logits */
function likeliest(logits) {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
  return best;
}
