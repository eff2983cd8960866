// A table of numbers that opens at a button. Long ones are shown some rows at a time, so that the page stays light.

import { fill, h, rootOf, setAttribute } from "../../../common/page/dom.js";
import { clamp } from "../../../common/page/keyboard.js";
import { tool } from "../../../common/page/tool.js";
import { tableOf } from "../../../common/text/tables.js";

/**
 * @typedef {object} TableContent
 * @property {ExplorerTexts} texts
 * @property {string} label Of the button that opens it.
 * @property {string} title
 * @property {(string | Node)[]} columns Their headings.
 * @property {number} count Of the rows.
 * @property {number} perPage
 * @property {(row: number) => Node[]} cells
 */

export class Table {
  open = false;
  first = 0; // row of the page
  /** @type {TableContent} */
  content;

  /** @param {() => void} [toggle] Called when the button is pressed. */
  constructor(toggle = () => this.toggle()) {
    const { button, words } = tool("table", { class: "tool plain", "aria-expanded": "false", click: toggle });
    this.button = button;
    this.words = words;
    this.back = h("button", { class: "plain", click: () => this.turn(-1) }, "\u2190");
    this.on = h("button", { class: "plain", click: () => this.turn(1) }, "\u2192");
    this.range = h("span", { class: "note" });
    this.pager = h("div", { class: "pager" }, this.back, this.range, this.on);
    this.scroll = h("div", { class: "table-scroll", tabindex: "0", role: "region" });
    this.element = h("div", { class: "table", hidden: true }, this.pager, this.scroll);
  }

  toggle() {
    this.open = !this.open;
    this.draw();
  }

  /** @param {number} pages */
  turn(pages) {
    this.first += pages * this.content.perPage;
    this.draw();
  }

  /**
   * @param {TableContent} content
   * @param {boolean} [open]
   */
  show(content, open = this.open) {
    this.content = content;
    this.open = open;
    this.draw();
  }

  draw() {
    const { open, scroll } = this;
    const { texts, label, title, columns, count, perPage, cells } = this.content;
    this.words.textContent = open ? texts.table_close : label;
    setAttribute(this.button, "aria-expanded", String(open));
    this.element.hidden = !open;
    if (!open) return scroll.replaceChildren();
    this.first = clamp(this.first, 0, Math.floor(Math.max(0, count - 1) / perPage) * perPage);
    const { first } = this;
    const end = Math.min(count, first + perPage);
    this.pager.hidden = perPage >= count;
    setAttribute(this.back, "aria-label", texts.rows_before);
    setAttribute(this.on, "aria-label", texts.rows_after);
    this.back.disabled = first === 0;
    this.on.disabled = end === count;
    this.range.replaceChildren(fill(texts.rows, { first: first + 1, last: end, all: count }));
    setAttribute(scroll, "aria-label", title);
    const rows = Array.from({ length: end - first }, (_, index) => cells(first + index));
    const focused = /** @type {HTMLElement | null} */ (
      scroll.contains(rootOf(scroll).activeElement) ? rootOf(scroll).activeElement : null
    );
    scroll.replaceChildren(tableOf(columns, rows, h("caption", { class: "unseen" }, title)));
    // A button in it is made anew and keeps the focus.
    const again = focused?.dataset.row && scroll.querySelector(`[data-row="${focused.dataset.row}"]`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }
}
