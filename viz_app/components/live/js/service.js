// The translator behind messages: the newest request ends the others, and long work stops to hear of it.

import { headAddress } from "../../common/heads/heads.js";
import { draftOf } from "./draft.js";
import { headsByEffect } from "./effects.js";
import { flowData } from "./flowdata.js";
import { plainProduct } from "./linear.js";
import { readFiles } from "./loading.js";
import { makeMemory } from "./parameters.js";
import { explorerPayload } from "./payload.js";
import { refusalText } from "./sentence.js";
import { requestKey, Translator } from "./translator.js";

/** @typedef {import("./translator.js").Found} Found */
/** @typedef {import("./translator.js").LiveModel} LiveModel */
/** @typedef {import("./sentence.js").Sentence} Sentence */
/** @typedef {import("./transformer.js").HeadPlace} HeadPlace */
/** @typedef {import("./loading.js").FileSource} FileSource */
/** @typedef {import("./flowdata.js").FlowOptions} FlowOptions */
/**
 * What the service is told.
 *
 * `open`: the model and its files. `translate`: a sentence as typed, perhaps with a prefix and without some heads, and the
 * branch whose maps are wanted. `without`: the sentence again without some heads. `needed`: the head that it needs most.
 * `flow`: what each word of a branch is made of, in a long one those around the word `at`; or that word alone, compared with a token.
 * @typedef {{ request: number } & (
 *   { do: "open", live: LiveModel, files: FileSource } |
 *   { do: "translate", text: string, branch?: number } & import("./translator.js").Options |
 *   { do: "without", text: string, heads: HeadPlace[] } | { do: "needed", text: string } |
 *   { do: "flow", text: string } & Pick<import("./translator.js").Options, "prefix"> & FlowOptions
 * )} LiveRequest
 */
/**
 * What it answers, with the number of the request: bytes loaded so far, that it is ready and whether the kernel computes
 * (its twin takes several times as long), what a search has so far, a sentence with its translation
 * and payload or with the reason why it has none, a finding of the explorer, that a newer request came, or an error.
 * @typedef {{ request: number } & (
 *   { loaded: number, total: number } | { ready: true, kernel: boolean } | { draft: Draft } |
 *   { sentence: Sentence, refusal?: string, translation?: string, payload?: Uint8Array } |
 *   { off: Without } | { needed: NeededHead } | { flow: FlowData | null } | { superseded: true } | { failed: string }
 * )} LiveAnswer
 */

const MAX_SEARCHES = 8; // that are kept
const DRAFTS = 80; // milliseconds to the first draft, and between two; a short sentence has none
const MAX_TRIES = 5; // heads that a translation is made without
const MAX_SILENCE = 12; // milliseconds of work before it looks for a newer request

export class LiveService {
  /** @type {Translator | null} */
  translator = null;
  /** @type {Map<string, Found>} */
  searches = new Map();
  latest = 0;
  /** @type {Promise<void>} */
  work = Promise.resolve();
  rested = 0;

  /** @param {(answer: LiveAnswer, transfer?: ArrayBuffer[]) => void} post */
  constructor(post) {
    this.post = post;
  }

  /**
   * Answers a request, after those before it have ended.
   * @param {LiveRequest} message
   */
  receive(message) {
    const { request } = message;
    this.latest = request;
    this.work = this.work
      .then(() => this.answer(message))
      .catch((error) => this.post({ request, failed: error instanceof Error ? error.message : String(error) }));
    return this.work;
  }

  /** @param {LiveRequest} message */
  async answer(message) {
    const { request } = message;
    if (message.do === "open") return this.open(message);
    const { translator } = this;
    if (!translator) throw new Error("no model is open");
    if (request !== this.latest) return this.post({ request, superseded: true });
    const sentence = translator.validate(message.text);
    const { encoding, ...told } = sentence;
    if (!encoding) return this.post({ request, sentence: told, refusal: refusalText(told, translator.live.words) });
    const drafts = message.do === "translate";
    const own = message.do === "without" || message.do === "needed"; // translation of the model
    const state = await this.search(translator, request, sentence, own ? {} : message, drafts);
    if (!state) return this.post({ request, superseded: true });
    if (message.do === "flow") {
      const flow = await this.finish(request, flowData(translator, state, message));
      return this.post({ request, ...(flow === undefined ? { superseded: true } : { flow }) });
    }
    if (message.do === "needed") {
      const needed = await this.needed(translator, request, sentence, state);
      return this.post({ request, ...(needed ? { needed } : { superseded: true }) });
    }
    if (message.do === "without") {
      const changed = await this.search(translator, request, sentence, { off: message.heads });
      const off = changed && translator.compareWithout(state, changed);
      return this.post({ request, ...(off ? { off } : { superseded: true }) });
    }
    const payload = explorerPayload(translator, state, message.branch);
    this.post({ request, sentence: told, translation: translator.text(state), payload }, [payload.buffer]);
  }

  /** @param {{ request: number, live: LiveModel, files: FileSource }} message */
  async open({ request, live, files }) {
    const sizes = Object.values(live.files);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const memory = makeMemory(live.weights, total);
    await readFiles(files, memory.files, (loaded) => this.post({ request, loaded, total }));
    let end = 0;
    const parts = sizes.map((size) => {
      end += size;
      return memory.files.subarray(end - size, end);
    });
    this.translator = new Translator(live, parts.slice(0, -1), parts[parts.length - 1], false, memory);
    this.searches.clear();
    this.post({ request, ready: true, kernel: this.translator.model.parameters.product !== plainProduct });
  }

  /**
   * The search for a sentence; null when a newer request came.
   * @param {Translator} translator
   * @param {number} request
   * @param {Sentence} sentence
   * @param {import("./translator.js").Options} options
   * @param {boolean} [drafts] Whether it posts what it has so far.
   */
  async search(translator, request, sentence, options, drafts = false) {
    const key = requestKey(sentence.text, options);
    const state = this.searches.get(key) ?? translator.begin(sentence, options);
    let due = performance.now() + DRAFTS;
    /** @type {Int32Array} */
    let sent = new Int32Array();
    while (!state.search.done) {
      if (!(await this.goesOn(request))) return null;
      state.search.step();
      if (!drafts || state.search.done || performance.now() < due) continue;
      const { draft, slots } = draftOf(translator, state, sent);
      this.post({ request, draft });
      due = performance.now() + DRAFTS;
      sent = slots;
    }
    this.searches.delete(key);
    this.searches.set(key, state); // the newest is the last
    for (const old of [...this.searches.keys()].slice(0, -MAX_SEARCHES)) this.searches.delete(old);
    return state;
  }

  /**
   * The head that a translation needs most: of those with the largest effects, the first without which it changes.
   * @param {Translator} translator
   * @param {number} request
   * @param {Sentence} sentence
   * @param {Found} found
   * @returns {Promise<NeededHead | null>} Null when a newer request came.
   */
  async needed(translator, request, sentence, found) {
    const heads = await this.finish(request, headsByEffect(translator, found));
    if (!heads) return null;
    let rank = 1;
    for (const [index, head] of heads.slice(0, MAX_TRIES).entries()) {
      const changed = await this.search(translator, request, sentence, { off: [head] });
      if (!changed) return null;
      if (translator.text(changed) === translator.text(found)) continue;
      rank = index + 1;
      break;
    }
    const about = { model: translator.live.header.about.model, source: found.text };
    return { ...about, head: headAddress(heads[rank - 1]), rank, count: heads.length };
  }

  /**
   * The result of work; undefined when a newer request came.
   * @template Value
   * @param {number} request
   * @param {Generator<undefined, Value>} work
   */
  async finish(request, work) {
    while (await this.goesOn(request)) {
      const { done, value } = work.next();
      if (done) return value;
    }
  }

  /**
   * Whether no newer request has come; lets messages come in after some work.
   * @param {number} request
   */
  async goesOn(request) {
    if (performance.now() - this.rested > MAX_SILENCE) await this.rest();
    return request === this.latest;
  }

  async rest() {
    const { port1, port2 } = new MessageChannel();
    await new Promise((resolve) => {
      port1.onmessage = resolve;
      port2.postMessage(null);
    });
    port1.close();
    this.rested = performance.now();
  }
}
