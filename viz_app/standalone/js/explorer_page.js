// The explorer on a page without Python: it gets the bytes of a sentence, and what it asks is answered from the file.

import { mountWith } from "../../components/common/handover.js";
import { headAddress } from "../../components/common/heads/heads.js";
import { h } from "../../components/common/page/dom.js";
import { receiveFinding } from "../../components/explorer/js/cards/findings.js";
import { Host } from "./host.js";
import { readBytes, readJson, readPacked } from "./packed.js";
import { followAddress, keepAddress, readAddress, startWith } from "./page_address.js";

/** @typedef {{ text: string, branches: string[] }} PageSentence Its branches are names of data blocks.
 * @typedef {{ cards: Record<string, HeadCardData>, roles: Roles | null, sentences: SentenceFindings[] }} PageFindings
 * @typedef {{ off: Record<string, Without>, needed: NeededHead, free: Free | null }} SentenceFindings
 */

class ExplorerPage {
  at = 0; // the sentence that is shown
  sent = 0;
  /** @type {string | null} The head that is switched off. */
  off = null;
  /** @type {PageFindings | null} */
  findings = null;

  constructor() {
    /** @type {{ label: string, sentences: PageSentence[], start: ExplorerSelection }} */
    const { label, sentences, start } = readJson("page");
    this.sentences = sentences;
    const { text, selection } = readAddress();
    this.selection = { ...start, ...selection };
    this.at = Math.max(
      0,
      sentences.findIndex((each) => each.text === text),
    );
    followAddress();
    this.host = new Host("explorer", (name, value) => this.answer(name, value));
    this.choices = sentences.map(({ text }, index) => h("button", { click: () => this.show(index) }, text));
    const title = /** @type {HTMLElement} */ (document.querySelector(".page-title"));
    const group = h("div", { class: "page-sentences", role: "group", "aria-label": label }, ...this.choices);
    if (sentences.length > 1) {
      (document.querySelector(".page-choices") ?? title).after(group);
      title.classList.toggle("unseen", title.textContent === sentences[0].text);
    }
    this.mark();
    this.host.run(() => this.send()).then(() => this.tellAll());
  }

  async tellAll() {
    this.findings = await readPacked("findings");
    receiveFinding({ roles: this.findings?.roles });
    this.tell();
  }

  /** What is known of the head, and of the sentence. */
  tell() {
    const { findings, off } = this;
    const prepared = findings?.sentences[this.at];
    const card = findings?.cards[headAddress(this.selection)] ?? null;
    const { needed = null, free = null } = prepared ?? {};
    receiveFinding({ card, off: prepared?.off[off ?? ""] ?? null, needed, free });
  }

  /** What the words are made of; of the first branch only. */
  async tellFlow() {
    const { at } = this;
    const flow = await readPacked(`s${at}flow`);
    if (at === this.at) receiveFinding({ flow: this.selection.branch ? null : flow });
  }

  /** @param {number} index Of a sentence. */
  show(index) {
    this.at = index;
    this.selection = { ...this.selection, branch: 0 };
    this.mark();
    keepAddress(this.sentences[index].text, this.selection);
    this.tell();
    this.host.again();
  }

  /** Marks the sentence that is shown. */
  mark() {
    this.choices.forEach((button, index) => button.setAttribute("aria-pressed", String(index === this.at)));
  }

  /** Shows the branch; the explorer itself holds what it is compared with. */
  async send() {
    const turn = ++this.sent;
    const { branches } = this.sentences[this.at];
    const data = await readBytes(branches[this.selection.branch] ?? branches[0]);
    if (turn !== this.sent) return;
    mountWith("explorer", { ...this.host.component, data: startWith(data, this.selection) });
    this.tellFlow();
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  answer(name, value) {
    if (name === "sentence") this.show(this.sentences.findIndex(({ text }) => text === value.name));
    if (name === "off") this.off = value;
    if (name === "selection") {
      const { branch } = this.selection;
      this.selection = value;
      keepAddress(this.sentences[this.at].text, value);
      if (branch !== value.branch) this.host.again();
    }
    this.tell();
  }
}

export default function start() {
  new ExplorerPage();
}
