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
   */
  constructor(live, weights, tokenizer, plain) {
    this.live = live;
    this.special = live.special_ids;
    this.tokenizer = new Tokenizer(tokenizer);
    if (this.tokenizer.tokens.length !== live.model.vocab_size)
      throw new Error(`the tokenizer has ${this.tokenizer.tokens.length} tokens, the model ${live.model.vocab_size}`);
    this.model = new Transformer(live.model, new Parameters(weights, live.weights, plain));
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
   */
  forcedPass(off, source, target, record) {
    const model = this.model.without(off);
    const slots = Int32Array.from(target.keys());
    const paths = target.map((_, position) => slots.subarray(0, position + 1));
    return model.decode(model.encode(source, record), model.makeCache(target.length), target, paths, record);
  }

  /**
   * Log-probability in nats of a text as the translation of a source, `</s>` included.
   * @param {Encoding} source
   * @param {string} text
   * @param {HeadPlace[]} off
   */
  score(source, text, off = []) {
    const { bos, eos } = this.special;
    const { ids } = this.tokenizer.encode(text);
    const vectors = this.forcedPass(off, [...source.ids, eos], [bos, ...ids]);
    const logits = this.model.logits(vectors, ids.length + 1);
    const size = logits.length / (ids.length + 1);
    return [...ids, eos].reduce((total, id, row) => {
      const values = logits.subarray(row * size, (row + 1) * size);
      return total + values[id] - logSumExp(values);
    }, 0);
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
    return {
      model: this.live.header.about.model,
      source: text,
      head: changed.off.map(headAddress).join(" "),
      before: this.score(encoding, before),
      after: this.score(encoding, before, changed.off),
      words: now,
      original,
    };
  }
}

/**
 * One text for a sentence and its options.
 * @param {string} text
 * @param {Options} options
 */
export const requestKey = (text, { prefix = [], off = [], beam = 0 }) => JSON.stringify([text, prefix, off, beam]);
