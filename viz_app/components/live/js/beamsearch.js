// Beam search with a length penalty, the whole search kept (Section 6.1), as transformer_core/decoding/beam.py runs it.
// A beam of 1 is greedy.

import { lengthPenalty } from "../../explorer/js/data/search.js";

/** @typedef {import("./transformer.js").Transformer} Transformer */
/** @typedef {import("./transformer.js").KeysAndValues} KeysAndValues */
/** @typedef {[number, number][]} Alternatives Likeliest tokens with their log-probabilities, best first. */
/**
 * One candidate of the search; see `Node` of beam.py.
 * @typedef {object} SearchNode
 * @property {number} parent Index in the history; -1 at the start.
 * @property {number} step
 * @property {number} token
 * @property {number} total Log-probability of all tokens so far, in nats.
 * @property {number} own Of this token alone.
 * @property {"kept" | "finished" | "pruned"} status
 * @property {Alternatives} alternatives
 */
/** @typedef {{ pad: number, bos: number, eos: number, unk: number }} SpecialIds */
/**
 * The options of a search, as config.py has them.
 * @typedef {object} DecodingConfig
 * @property {number} beam
 * @property {number} alpha
 * @property {string} length_penalty
 * @property {number} min_length
 * @property {boolean} early_stopping
 * @property {number} extra_length
 * @property {number} alternatives
 */
/** @typedef {{ node: number, ids: number[], path: SearchNode[], finished: boolean, score: number }} Hypothesis */
/**
 * All weights of the rows that a step has read, (h, rows, K): first of self-attention, layer after layer, then of
 * encoder-decoder attention. Row r is in slot `first + r`.
 * @typedef {{ first: number, rows: number, weights: Float32Array[] }} RecordedStep
 */
/** @typedef {{ encoder: Float32Array[], steps: RecordedStep[] }} Recorded */

export class BeamSearch {
  /**
   * @param {Transformer} model
   * @param {number[]} ids Of the source, without `</s>`.
   * @param {SpecialIds} special
   * @param {DecodingConfig} decoding
   * @param {number[]} prefix Tokens with which the translation begins.
   */
  constructor(model, ids, special, decoding, prefix = []) {
    this.model = model;
    this.special = special;
    this.decoding = decoding;
    this.prefix = prefix;
    this.limit = ids.length + decoding.extra_length;
    this.checkPrefix();
    /** @type {Recorded | null} What the search has looked at so far; null when it is over. */
    this.recorded = { encoder: [], steps: [] };
    this.source = model.encode([...ids, special.eos], (_kind, _layer, weights) => this.recorded?.encoder.push(weights));
    /** Keys and values of the decoder; null when the search is over. */
    this.cache = /** @type {KeysAndValues[] | null} */ (model.makeCache(this.limit * decoding.beam));
    this.slots = 0;
    /** @type {SearchNode[]} */
    this.history = [];
    /** @type {{ score: number, node: number, path: Int32Array }[]} Finished hypotheses, best first. */
    this.ended = [];
    /** @type {{ node: number, token: number, total: number, path: Int32Array }[]} The beam, best first. */
    this.rows = [{ node: -1, token: special.bos, total: 0, path: new Int32Array() }];
    this.steps = 0;
  }

  get done() {
    return !this.cache;
  }

  /** Throws a RangeError, worded as Python's PrefixError. */
  checkPrefix() {
    const { prefix, limit, special } = this;
    if (prefix.length > limit)
      throw new RangeError(`the prefix has ${prefix.length} tokens, but this translation may have at most ${limit}`);
    for (const [place, token] of prefix.entries()) {
      const last = place + 1 === prefix.length && token === special.eos;
      const known = Number.isInteger(token) && token >= 0 && token < this.model.config.vocab_size;
      if (!known || ([special.pad, special.bos, special.eos].includes(token) && !last))
        throw new RangeError(`token ${place} of the prefix has the id ${token}, which cannot stand there`);
    }
  }

  /** Generates one more token in every beam. */
  step() {
    const { model, cache, decoding, special, rows } = this;
    if (!cache) return;
    const { beam } = decoding;
    const step = ++this.steps;
    const forced = this.prefix[step - 1] ?? -1;
    const never = [special.pad, special.bos, special.unk, ...(step <= decoding.min_length ? [special.eos] : [])];
    const paths = rows.map(({ path }) => Int32Array.of(...path, this.slots++));
    const tokens = rows.map(({ token }) => token);
    /** @type {Record<Kind, Float32Array[]>} */
    const weights = { encoder: [], decoder: [], cross: [] };
    const vectors = model.decode(this.source, cache, tokens, paths, (kind, _layer, each) => weights[kind].push(each));
    const first = paths[0][step - 1];
    this.recorded?.steps.push({ first, rows: rows.length, weights: [...weights.decoder, ...weights.cross] });
    const logits = model.logits(vectors, rows.length);
    const size = logits.length / rows.length;
    const width = Math.max(2 * beam, decoding.alternatives + 1);
    const likeliest = rows.map((_, row) =>
      nextTokens(logits.subarray(row * size, (row + 1) * size), width, never, forced),
    );
    const candidates = likeliest
      .flatMap((best, row) =>
        best.slice(0, 2 * beam).map(([token, own]) => ({ row, token, own, total: rows[row].total + own })),
      )
      .sort((a, b) => b.total - a.total)
      .slice(0, 2 * beam);
    this.grow(step, candidates, likeliest, paths);
    if (this.isOver(step)) this.cache = this.recorded = null;
  }

  /**
   * Sorts the candidates of a step into kept, finished and pruned.
   * @param {number} step
   * @param {{ row: number, token: number, own: number, total: number }[]} candidates
   * @param {Alternatives[]} likeliest
   * @param {Int32Array[]} paths
   */
  grow(step, candidates, likeliest, paths) {
    const { beam, alternatives } = this.decoding;
    const next = [];
    for (const [rank, { row, token, own, total }] of candidates.entries()) {
      /** @type {SearchNode["status"]} */
      let status = "pruned";
      const node = this.history.length;
      if (token === this.special.eos && rank < beam) {
        status = "finished";
        this.ended.push({ score: this.score(total, step), node, path: paths[row] });
      } else if (token !== this.special.eos && next.length < beam) {
        status = "kept";
        next.push({ node, token, total, path: paths[row] });
      }
      const shown = likeliest[row].slice(0, alternatives + 1);
      this.history.push({ parent: this.rows[row].node, step, token, total, own, status, alternatives: shown });
    }
    this.ended = this.ended.sort((a, b) => b.score - a.score).slice(0, beam);
    this.rows = next;
  }

  /**
   * Whether every hypothesis in the beam scores below the worst finished one kept.
   * @param {number} step
   */
  isOver(step) {
    const { beam, early_stopping } = this.decoding;
    if (step >= this.limit || !this.rows.length) return true;
    if (this.ended.length < beam) return false;
    return early_stopping || this.score(this.rows[0].total, step) <= this.ended[beam - 1].score;
  }

  /**
   * @param {number} total
   * @param {number} length
   */
  score(total, length) {
    return total / lengthPenalty(length, this.decoding.alpha, this.decoding.length_penalty);
  }

  /** The hypotheses found: finished ones first, each group by score. */
  get hypotheses() {
    return [...this.ended, ...this.rows].slice(0, this.decoding.beam).map(({ node }) => this.hypothesis(node));
  }

  /** The best hypothesis so far, finished or not, with the slots of what it has read. */
  get best() {
    const [[ended], [open]] = [this.ended, this.rows];
    const first = open && !(ended?.score >= this.score(open.total, this.steps)) ? open : ended;
    return { ...this.hypothesis(first.node), slots: first.path };
  }

  /**
   * The hypothesis that ends at a node.
   * @param {number} node
   * @returns {Hypothesis}
   */
  hypothesis(node) {
    /** @type {SearchNode[]} */
    const path = [];
    for (let at = node; at >= 0; at = this.history[at].parent) path.unshift(this.history[at]);
    const { token, total } = this.history[node];
    const finished = token === this.special.eos;
    const ids = path.map((each) => each.token).slice(0, finished ? -1 : undefined);
    return { node, ids, path, finished, score: this.score(total, path.length) };
  }
}

/**
 * The likeliest next tokens with their log-probabilities, best first. The probability of a token that may not come is
 * lost, not shared among the others.
 * @param {Float32Array} logits (V), changed in place.
 * @param {number} count
 * @param {number[]} never
 * @param {number} forced The only one that may come; -1 for any.
 * @returns {Alternatives}
 */
function nextTokens(logits, count, never, forced) {
  const normal = logSumExp(logits);
  if (forced >= 0) return [[forced, logits[forced] - normal]];
  for (const id of never) logits[id] = -Infinity;
  /** @type {number[]} */
  const best = [];
  let least = -Infinity;
  for (let id = 0; id < logits.length; id++) {
    if (logits[id] <= least) continue;
    let at = best.length;
    while (at > 0 && logits[best[at - 1]] < logits[id]) at--;
    best.splice(at, 0, id);
    if (best.length > count) best.pop();
    if (best.length === count) least = logits[best[count - 1]];
  }
  return best.filter((id) => logits[id] > -Infinity).map((id) => [id, logits[id] - normal]);
}

/**
 * log(sum(exp(values))), in float64.
 * @param {Float32Array} values
 */
export function logSumExp(values) {
  let most = -Infinity;
  for (let i = 0; i < values.length; i++) if (values[i] > most) most = values[i];
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += Math.exp(values[i] - most);
  return most + Math.log(sum);
}
