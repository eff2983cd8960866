// Text in, translation and attention out: the browser's twin of transformer_core/translator.py.

import { headAddress } from "../../common/heads/heads.js";
import { BeamSearch, logSumExp } from "./beamsearch.js";
import { FrozenModel } from "./flow.js";
import { Parameters } from "./parameters.js";
import { validateSentence } from "./sentence.js";
import { SPACES, Tokenizer } from "./tokenizer.js";
import { Transformer } from "./transformer.js";
import { wordDiff } from "./worddiff.js";

/** @typedef {import("./transformer.js").HeadPlace} HeadPlace */
/** @typedef {import("./transformer.js").Start} Start */
/** @typedef {import("./sentence.js").Sentence} Sentence */
/** @typedef {import("./tokenizer.js").Encoding} Encoding */
/**
 * What Python says of a model that runs in the browser: explorer_view/live_model.py.
 * @typedef {object} LiveModel
 * @property {import("./parameters.js").ModelConfig} model
 * @property {Record<string, number[]>} weights Shape of each weight, by its name.
 * @property {import("./beamsearch.js").SpecialIds} special_ids
 * @property {import("./beamsearch.js").DecodingConfig} decoding
 * @property {import("./sentence.js").Limits} limits
 * @property {string} reads BCP 47 code of the source language.
 * @property {Record<string, string>} words Why a sentence is not translated, by its status; and two warnings.
 * @property {number | null} trained Tokens of the longest sentence in training.
 * @property {any} header What all payloads have.
 * @property {Record<string, number>} files Bytes of each file by its name, the tokenizer last.
 */
/**
 * How a sentence is translated: beginning with a prefix (a text, or tokens or their ids), without some heads.
 * @typedef {{ prefix?: string | (string | number)[], off?: HeadPlace[], beam?: number }} Options
 */
/**
 * A sentence with its search.
 * @typedef {object} Found
 * @property {string} id Of sentence and options.
 * @property {string} text As typed.
 * @property {Encoding} encoding
 * @property {BeamSearch} search
 * @property {HeadPlace[]} off
 */

export class Translator {
  /**
   * @param {LiveModel} live
   * @param {Uint8Array[]} weights Safetensors files.
   * @param {Uint8Array} tokenizer
   * @param {boolean} [plain] As for `Parameters`.
   * @param {ReturnType<typeof import("./parameters.js").makeMemory>} [memory] As for `Parameters`.
   */
  constructor(live, weights, tokenizer, plain, memory) {
    this.live = live;
    this.special = live.special_ids;
    this.tokenizer = new Tokenizer(tokenizer);
    if (this.tokenizer.tokens.length !== live.model.vocab_size)
      throw new Error(`the tokenizer has ${this.tokenizer.tokens.length} tokens, the model ${live.model.vocab_size}`);
    this.model = new Transformer(live.model, new Parameters(weights, live.weights, plain, memory));
    /** @type {FrozenModel | null} */
    this.frozen = null;
  }

  /** What the flow needs of the model, made when it is first asked for. */
  get frozenModel() {
    this.frozen ??= new FrozenModel(this.model);
    return this.frozen;
  }

  /** @param {string} typed */
  validate(typed) {
    return validateSentence(typed, this.tokenizer, this.live.limits, this.live.reads);
  }

  /**
   * Begins the search for a sentence; `search.step()` until `search.done` ends it.
   * @param {Sentence} sentence That `validate` calls good.
   * @param {Options} options
   * @returns {Found}
   */
  begin({ text, encoding = this.tokenizer.encode(text) }, options = {}) {
    const { prefix = [], off = [], beam = this.live.decoding.beam } = options;
    const { tokens } = this.tokenizer;
    const begun =
      typeof prefix === "string"
        ? this.tokenizer.encode(prefix).ids
        : prefix.map((each) => (typeof each === "string" ? tokens.indexOf(each) : each));
    const decoding = { ...this.live.decoding, beam };
    const search = new BeamSearch(this.model.without(off), encoding.ids, this.special, decoding, begun);
    return { id: requestKey(text, options), text, encoding, search, off };
  }

  /** @param {Found} found The text of its best translation. */
  text({ search }) {
    return this.tokenizer.decode(search.hypotheses[0].ids);
  }

  /**
   * Reads a source and a whole target at once: the vectors of the decoder, (T, d).
   * @param {HeadPlace[]} off
   * @param {number[]} source With `</s>`.
   * @param {number[]} target `<s>` and the tokens.
   * @param {import("./transformer.js").Record} [record]
   * @param {{ memory?: import("./transformer.js").Source, encoder?: Start, decoder?: Start }} [start] What is known
   *   of the layers below the heads.
   */
  forcedPass(off, source, target, record, start = {}) {
    const model = this.model.without(off);
    const slots = Int32Array.from(target.keys());
    const paths = target.map((_, position) => slots.subarray(0, position + 1));
    const memory = start.memory ?? model.encode(source, record, start.encoder);
    return model.decode(memory, model.makeCache(target.length), target, paths, record, start.decoder);
  }

  /**
   * Log-probabilities in nats of the tokens of a text as the translation of a source, `</s>` included.
   * @param {Encoding} source
   * @param {string} text
   * @param {HeadPlace[]} off
   */
  score(source, text, off = []) {
    const { bos, eos } = this.special;
    const { ids } = this.tokenizer.encode(text);
    return this.logProbabilities(this.forcedPass(off, [...source.ids, eos], [bos, ...ids]), [...ids, eos]);
  }

  /**
   * Log-probabilities in nats of tokens.
   * @param {Float32Array} vectors (n, d) of the decoder.
   * @param {number[]} ids (n)
   */
  logProbabilities(vectors, ids) {
    const logits = this.model.logits(vectors, ids.length);
    const size = logits.length / ids.length;
    return ids.map((id, row) => {
      const values = logits.subarray(row * size, (row + 1) * size);
      return values[id] - logSumExp(values);
    });
  }

  /**
   * A translation without some heads beside the one with all, as `without_head` of explorer_view/findings.py.
   * @param {Found} original
   * @param {Found} changed
   * @returns {Without}
   */
  compareWithout({ encoding, text, search }, changed) {
    const before = this.tokenizer.decode(search.hypotheses[0].ids);
    const words = (/** @type {string} */ sentence) => sentence.split(SPACES).filter(Boolean);
    const [original, now] = wordDiff(words(before), words(this.text(changed)));
    const [whole, less] = [this.score(encoding, before), this.score(encoding, before, changed.off)];
    const losses = whole.map((each, at) => each - less[at]);
    const at = losses.indexOf(Math.max(...losses));
    const ids = [...this.tokenizer.encode(before).ids, this.special.eos];
    return {
      model: this.live.header.about.model,
      source: text,
      head: changed.off.map(headAddress).join(" "),
      before: total(whole),
      after: total(less),
      worst: [this.tokenizer.tokens[ids[at]], Math.exp(whole[at]), Math.exp(less[at])],
      words: now,
      original,
    };
  }
}

/** @param {number[]} values */
export const total = (values) => values.reduce((sum, each) => sum + each, 0);

/**
 * One text for a sentence and its options.
 * @param {string} text
 * @param {Options} options
 */
export const requestKey = (text, { prefix = [], off = [], beam = 0 }) => JSON.stringify([text, prefix, off, beam]);
