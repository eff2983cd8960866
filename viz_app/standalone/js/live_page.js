// The explorer of a translator that runs on the page itself: a worker answers what is typed and asked.

import { readBuffer } from "../../components/common/buffer.js";
import { mountWith } from "../../components/common/handover.js";
import { headAddress, parseHead } from "../../components/common/heads/heads.js";
import { h } from "../../components/common/page/dom.js";
import { fillText } from "../../components/common/text/format.js";
import { receiveFinding } from "../../components/explorer/js/cards/findings.js";
import { chosenToken } from "../../components/explorer/js/flow/flowparts.js";
import { Host } from "./host.js";
import { LiveClient } from "./live_client.js";
import { readBytes, readJson, readPacked } from "./packed.js";
import { followAddress, keepAddress, readAddress, startWith } from "./page_address.js";
import { noteSentence } from "./sentence_note.js";

const REST = 60; // milliseconds after a key; a newer text also ends the search for an older one
const MAX_EXAMPLES = 3; // beside each other
const LINES = /[\r\n]\s*/; // in a text that is pasted, as in sentence_field.js

/** @typedef {Record<"input" | "placeholder" | "examples" | "loading" | "load" | "unloaded", string>} Words
 * @typedef {{ text: string, examples: string[], words: Words, url: string | null, size: number }} About
 */

class LivePage {
  /** @type {Uint8Array | null} The payload that is shown. */
  data = null;
  branch = 0;
  /** @type {string | null} Tokens that the translation is forced to begin with, a space between. */
  force = null;
  /** @type {string | null} The head that is switched off, such as "cross.6.8"; "needed" for the one that is needed most. */
  off = null;
  /** @type {{ flow: FlowData | null, contrast: FlowData | null }} What the words are made of, as far as it is known. */
  made = { flow: null, contrast: null };
  explaining = "";
  updates = 1; // under way, with the opening
  timer = 0;
  asked = readAddress();
  /** @type {ExplorerSelection} */
  selection;
  /** @type {Record<string, HeadCardData>} */
  cards = {};

  constructor() {
    /** @type {About} */
    const about = readJson("page");
    const { text, examples, words, url, size } = about;
    this.about = about;
    this.text = text;
    this.host = new Host("explorer", (name, value) => this.answer(name, value));
    const attributes = { class: "live-text", rows: 1, placeholder: words.placeholder, "aria-label": words.input };
    const keydown = (/** @type {KeyboardEvent} */ event) => this.enter(event);
    this.field = h("textarea", { ...attributes, input: () => this.type(), keydown }, text);
    this.examples = h("p", { class: "live-examples", hidden: !examples.length });
    this.client = new LiveClient(url, {
      stage: (stage, reason) => this.stage(stage, reason),
      loaded: (bytes) => Object.assign(this.bar, { value: bytes }),
      draft: (draft) => receiveFinding({ draft }),
      failed: (reason) => Object.assign(this.host.note, { textContent: reason }),
    });
    const load = fillText(words.load, { size: (size / 1e6).toFixed(1) });
    this.load = h("button", { hidden: !url, click: () => this.client.open() }, load);
    this.bar = h("progress", { max: size, value: 0 });
    this.loading = h("label", { hidden: true }, words.loading, " ", this.bar);
    document.querySelector(".page-title")?.classList.add("unseen");
    const header = /** @type {HTMLElement} */ (document.querySelector("header"));
    header.append(this.field);
    header.after(h("div", { class: "live-line" }, this.examples, this.load, this.loading));
    this.offerExamples();
    followAddress();
    this.host.run(() => this.show()).then(() => this.begin());
  }

  async show() {
    this.data ??= startWith(await readBytes("opening"), this.asked.selection);
    this.selection ??= readBuffer(this.data).header.selection;
    mountWith("explorer", { ...this.host.component, data: this.data });
  }

  async begin() {
    if (!this.about.url) this.client.open();
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted))); // 180 kB are not for the first picture
    const [{ cards, roles }, flow] = await Promise.all([readPacked("findings"), readPacked("flow")]);
    this.cards = cards;
    this.made.flow ??= flow;
    receiveFinding({ roles, ...this.made });
    this.tellCard();
    this.updates--;
    const { text } = this.asked;
    if (text !== null && text !== this.text) return this.say(text);
    this.asked.text = null;
    return void this.explain();
  }

  tellCard() {
    receiveFinding({ card: this.cards[headAddress(this.selection)] ?? null });
  }

  /**
   * Shows whether the model is there.
   * @param {"loading" | "open" | "closed"} stage
   * @param {string} reason
   */
  stage(stage, reason) {
    this.host.note.textContent = reason && fillText(this.about.words.unloaded, { reason });
    this.load.hidden = stage !== "closed" || !this.about.url;
    this.loading.hidden = stage !== "loading";
  }

  /** A few examples, those after the one in the field. */
  offerExamples() {
    const { examples, words } = this.about;
    const after = examples.indexOf(this.field.value) + 1;
    const following = [...examples.slice(after), ...examples.slice(0, after)].slice(0, MAX_EXAMPLES);
    const chips = following.map((text) => h("button", { class: "live-example", click: () => this.say(text) }, text));
    this.examples.replaceChildren(words.examples, ...chips);
  }

  /** @param {KeyboardEvent} event A sentence has one line. */
  enter(event) {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    this.say(this.field.value);
  }

  type() {
    const lines = this.field.value.split(LINES);
    if (lines.length > 1) this.field.value = lines.map((line) => line.trimEnd()).join(" ");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.say(this.field.value), REST);
  }

  /**
   * Translates another text.
   * @param {string} text
   */
  say(text) {
    this.field.value = text;
    this.offerExamples();
    Object.assign(this, { branch: 0, force: null });
    this.update(text);
  }

  /**
   * Translates a text, and finds out what its words are made of.
   * @param {string} text
   */
  async update(text = this.text) {
    this.updates++;
    await this.translate(text).finally(() => this.updates--);
    this.explain();
  }

  /**
   * Translates a text, and again without the heads that are switched off.
   * @param {string} text
   */
  async translate(text) {
    const { branch, force } = this;
    const answer = await this.client.ask({ do: "translate", text, branch, prefix: force?.split(" ") });
    if (!answer) return;
    const { sentence, refusal, payload } = answer;
    if (sentence.status === "refused")
      this.field.value = this.text; // as the refusal says
    else this.text = text;
    noteSentence(this.host.note, answer, this.client.live);
    const hides = Boolean(refusal) && sentence.status !== "refused";
    /** @type {HTMLElement} */ (document.querySelector("main")).hidden = hides;
    if (!payload) return;
    const linked = text === this.asked.text; // for the first time; later on the reader's own selection stays
    this.data = linked ? startWith(payload, this.asked.selection, true) : payload;
    if (linked) this.selection = { ...this.selection, ...this.asked.selection };
    this.asked.text = null;
    keepAddress(text, this.selection);
    await this.show();
    if (!this.off) return;
    if (this.off === "needed") {
      const reply = await this.client.ask({ do: "needed", text });
      if (reply) receiveFinding({ needed: reply.needed });
    } else {
      const reply = await this.client.ask({ do: "without", text, heads: [parseHead(this.off)] });
      if (reply) receiveFinding({ off: reply.off });
    }
  }

  /** Asks for what is not known of the flow: of all words, then of the chosen one compared with a token. */
  async explain() {
    if (this.explaining || this.updates) return; // which then goes on with the newest selection
    for (let next = this.unexplained(); next && JSON.stringify(next) !== this.explaining; next = this.unexplained()) {
      this.explaining = JSON.stringify(next);
      const answer = await this.client.ask(next);
      if (!answer) break;
      Object.assign(this.made, next.against ? { contrast: answer.flow } : { flow: answer.flow });
      receiveFinding(this.made);
    }
    this.explaining = "";
  }

  /** The request for what is not known; null for nothing. */
  unexplained() {
    const { axes, about, beam } = readBuffer(/** @type {Uint8Array} */ (this.data)).header;
    const { text, source, force } = about;
    const { tokens } = axes.outputs;
    const fits = (/** @type {FlowData | null} */ data) =>
      data?.source === source && String(data?.tokens) === String(tokens);
    const { flow, contrast } = this.made;
    const { versus } = this.selection;
    const at = chosenToken(this.selection, { axes, length: tokens.length });
    const request = { do: "flow", text, branch: beam.shown, prefix: force?.split(" "), at };
    if (!flow || !fits(flow) || (at !== null && !flow.words[at])) return { ...request, against: null };
    const known = fits(contrast) && contrast?.at === at && contrast?.against === versus;
    return at === null || !versus || known ? null : { ...request, against: versus };
  }

  /**
   * Answers what the explorer asks.
   * @param {string} name
   * @param {any} value
   */
  answer(name, value) {
    if (name === "sentence") this.say(value.name);
    if (name === "off") {
      this.off = value;
      if (value) this.update();
    }
    if (name !== "selection") return;
    const { branch, force } = value;
    const chosen = branch !== this.selection.branch || force !== this.selection.force; // not a report of an older text
    this.selection = value;
    keepAddress(this.text, value);
    this.tellCard();
    if (!chosen || (branch === this.branch && force === this.force)) return void this.explain();
    Object.assign(this, { branch, force });
    this.update();
  }
}

export default function start() {
  new LivePage();
}
