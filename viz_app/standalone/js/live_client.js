// A translator in a worker: opened once, then asked; only the newest question gets an answer.

import { readBytes, readPacked, takeText } from "./packed.js";

/** @typedef {import("../../components/live/js/service.js").LiveAnswer} LiveAnswer
 * @typedef {object} Listener
 * @property {(stage: "loading" | "open" | "closed", reason: string) => void} stage Of the model; a reason if it failed.
 * @property {(bytes: number) => void} loaded
 * @property {(draft: Draft | null) => void} draft What the newest search has so far; null at its end.
 * @property {(reason: string) => void} failed
 */

export class LiveClient {
  turn = 0;
  requests = 0;
  /** @type {Map<number, (answer: any) => void>} By number of the request. */
  waiting = new Map();
  /** @type {Worker | null} */
  worker = null;
  /** @type {Promise<boolean> | null} Whether the model is there. */
  opened = null;
  /** @type {import("../../components/live/js/translator.js").LiveModel} Known once it is open. */
  live;

  /**
   * @param {string | null} url File of the weights; null for those in the page.
   * @param {Listener} listener
   * @param {string} [block] Data block that describes the model.
   */
  constructor(url, listener, block = "live") {
    this.url = url;
    this.listener = listener;
    this.block = block;
  }

  /** Loads the model, once; says whether it is there. */
  open() {
    this.opened ??= this.start().catch(({ message }) => {
      this.opened = null;
      this.listener.stage("closed", message);
      return false;
    });
    return this.opened;
  }

  async start() {
    this.worker?.terminate(); // of an attempt that failed
    this.listener.stage("loading", "");
    const [code, live] = await Promise.all([readBytes("worker"), readPacked(this.block)]);
    this.live = live;
    const script = URL.createObjectURL(new Blob([new Uint8Array(code)], { type: "text/javascript" }));
    const worker = new Worker(script);
    this.worker = worker;
    worker.onmessage = ({ data }) => this.receive(data);
    worker.onerror = ({ message }) => this.waiting.forEach((answer) => answer({ failed: message }));
    const { url } = this;
    const files = url ? { url: new URL(url, document.baseURI).href } : { base64: takeText("weights") };
    const { failed } = await this.post({ do: "open", live, files });
    URL.revokeObjectURL(script);
    if (failed !== undefined) throw new Error(failed);
    this.listener.stage("open", "");
    return true;
  }

  /** @param {LiveAnswer} answer */
  receive(answer) {
    if ("loaded" in answer) {
      this.listener.loaded(answer.loaded);
      return;
    }
    const newest = answer.request === this.requests;
    if ("draft" in answer) {
      if (newest) this.listener.draft(answer.draft);
      return;
    }
    this.waiting.get(answer.request)?.(answer);
    this.waiting.delete(answer.request);
    if (newest) this.listener.draft(null);
  }

  /**
   * Sends a request of service.js; returns its answer.
   * @param {any} message
   * @returns {Promise<any>}
   */
  post(message) {
    const request = ++this.requests;
    this.worker?.postMessage({ request, ...message });
    return new Promise((resolve) => this.waiting.set(request, resolve));
  }

  /**
   * The answer of the model; null if something newer was asked meanwhile.
   * @param {any} message
   */
  async ask(message) {
    const turn = ++this.turn;
    if (!(await this.open()) || turn !== this.turn) return null;
    const answer = await this.post(message);
    if (answer.failed) this.listener.failed(answer.failed);
    return turn !== this.turn || "superseded" in answer || answer.failed ? null : answer;
  }
}
