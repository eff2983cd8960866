// The explorer on a page without Python: it gets the bytes of a sentence, and what it asks is answered from the file.

import { mountWith } from "../../components/common/handover.js";
import { headPlace } from "../../components/common/heads/heads.js";
import { h } from "../../components/common/page/dom.js";
import { receiveFinding } from "../../components/explorer/js/cards/findings.js";
import { Host } from "./host.js";
import { readBytes, readJson, readPacked } from "./packed.js";

const SENDS = ["branch", "against", "vs", "vsbranch"]; // parts of a selection that need other maps

/** @typedef {{ text: string, branches: string[] }} PageSentence Its branches are names of data blocks.
 * @typedef {{ cards: Record<string, HeadCardData>, roles: Roles | null, sentences: SentenceFindings[] }} PageFindings
 * @typedef {{ off: Record<string, Without>, free: Free | null }} SentenceFindings
 */

class ExplorerPage {
  at = 0; // the sentence that is shown
  sent = 0;
  /** @type {string | null} The head that is switched off. */
  off = null;
  /** @type {PageFindings | null} */
  findings = null;

  constructor() {
    /** @type {{ sentences: PageSentence[], start: ExplorerSelection, failed: string }} */
    const { sentences, start, failed } = readJson("page");
    this.sentences = sentences;
    this.selection = start;
    this.host = new Host("explorer", (name, value) => this.answer(name, value));
    this.choice = /** @type {HTMLSelectElement} */ (document.querySelector("select"));
    this.choice.append(...sentences.map(({ text }, index) => h("option", { value: index }, text)));
    this.choice.hidden = sentences.length < 2;
    /** @type {HTMLElement} */ (document.querySelector(".page-title")).hidden = !this.choice.hidden;
    this.choice.addEventListener("change", () => this.show(Number(this.choice.value)));
    this.host.run(() => this.send(), failed).then(() => this.tellAll());
  }

  async tellAll() {
    this.findings = await readPacked("findings");
    receiveFinding({ roles: this.findings?.roles });
    this.tell();
  }

  /** What is known of the head, and of the sentence. */
  tell() {
    const { findings, off } = this;
    const found = findings?.sentences[this.at];
    const card = findings?.cards[headPlace(this.selection)] ?? null;
    receiveFinding({ card, off: found?.off[off ?? ""] ?? null, free: found?.free ?? null });
  }

  /** @param {number} index Of a sentence. */
  show(index) {
    this.at = index;
    this.selection = { ...this.selection, branch: 0 };
    this.choice.value = String(index);
    this.tell();
    this.send();
  }

  /** Shows the branch, beside what it is compared with. */
  async send() {
    const turn = ++this.sent;
    const [own, other] = await Promise.all([this.bytes(this.at, this.selection.branch), this.compared()]);
    if (turn === this.sent) mountWith("explorer", { ...this.host.component, data: other ? joined(own, other) : own });
  }

  /**
   * @param {number} at
   * @param {number} branch
   */
  bytes(at, branch) {
    const { branches } = this.sentences[at];
    return readBytes(branches[branch] ?? branches[0]);
  }

  /** What the selection is compared with, where that is not on the screen already. */
  compared() {
    const { against, vs, vsbranch, branch } = this.selection;
    const at = vs === null ? this.at : this.sentences.findIndex(({ text }) => text === vs);
    return against === null || at < 0 || (at === this.at && vsbranch === branch) ? null : this.bytes(at, vsbranch);
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  answer(name, value) {
    if (name === "sentence") this.show(this.sentences.findIndex(({ text }) => text === value.name));
    if (name === "off") this.off = value;
    if (name === "selection") {
      const before = /** @type {Record<string, any>} */ (this.selection);
      this.selection = value;
      if (SENDS.some((each) => before[each] !== value[each])) this.send();
    }
    this.tell();
  }
}

/**
 * Two payloads in one buffer, as `join_payloads` of payload.py.
 * @param {Uint8Array} shown
 * @param {Uint8Array} other
 */
function joined(shown, other) {
  const both = new Uint8Array(8 + shown.length + other.length);
  new DataView(both.buffer).setUint32(4, shown.length, true);
  both.set(shown, 8);
  both.set(other, 8 + shown.length);
  return both;
}

export default function start() {
  new ExplorerPage();
}
