// Quiet marks: one line that answers what a reader does for the first time.

import { h, setAttribute } from "../../common/page/dom.js";

const SEEN = Symbol.for("headlight.marks"); // of the window: the names of those that were shown
const shared = /** @type {Record<symbol, Set<string>>} */ (/** @type {unknown} */ (globalThis));

export class Marks {
  name = ""; // of the last one

  constructor() {
    this.text = h("span");
    this.close = h("button", { class: "mark-close", click: () => this.hide() }, "\u00d7");
    this.element = h("p", { class: "note mark", role: "status", hidden: true }, this.text, this.close);
  }

  /** @param {ExplorerTexts} texts */
  label({ mark_close }) {
    setAttribute(this.close, "aria-label", mark_close);
  }

  /**
   * Shows a mark, unless this window has seen it.
   * @param {string} name
   * @param {Node | string} text
   */
  show(name, text) {
    shared[SEEN] ??= new Set();
    if (name !== this.name) this.hide();
    if (shared[SEEN].has(name)) return;
    shared[SEEN].add(name);
    this.name = name;
    this.text.replaceChildren(text);
    this.element.hidden = false;
  }

  hide() {
    this.element.hidden = true;
  }
}
