// The difference of two maps as a table of numbers, a few rows at a time.

import { fill, h, setAttribute, token } from "../../common/dom.js";
import { plus } from "./difference.js";

const MOST_CELLS = 600;

export class DifferenceTable {
  /** @type {Difference} */
  difference;
  /** @type {number[]} */
  rows;
  /** @type {number[]} */
  columns;
  /** @type {string} */
  title;
  /** @type {Texts} */
  texts;
  /** @type {number} */
  perPage;

  constructor() {
    this.open = false;
    this.first = 0;
    this.button = h("button", { class: "plain", "aria-expanded": "false", click: () => this.toggle() });
    this.back = h("button", { class: "plain", click: () => this.turn(-1) }, "\u2190");
    this.on = h("button", { class: "plain", click: () => this.turn(1) }, "\u2192");
    this.where = h("span", { class: "note" });
    this.pager = h("div", { class: "pager" }, this.back, this.where, this.on);
    this.scroll = h("div", { class: "table-scroll", tabindex: "0", role: "region" });
    this.element = h("div", { class: "table", hidden: true }, this.pager, this.scroll);
  }

  toggle() {
    this.open = !this.open;
    this.draw();
  }

  /** @param {number} pages */
  turn(pages) {
    this.first += pages * this.perPage;
    this.draw();
  }

  /**
   * @param {Difference} difference
   * @param {number[]} rows
   * @param {number[]} columns
   * @param {string} title
   * @param {Texts} texts
   */
  update(difference, rows, columns, title, texts) {
    this.difference = difference;
    this.rows = rows;
    this.columns = columns;
    this.title = title;
    this.texts = texts;
    this.draw();
  }

  draw() {
    const { difference, rows, columns, title, texts } = this;
    this.button.textContent = this.open ? texts.table_close : texts.compare_table;
    setAttribute(this.button, "aria-expanded", String(this.open));
    this.element.hidden = !this.open;
    if (!this.open) return this.scroll.replaceChildren();
    this.perPage = Math.max(1, Math.floor(MOST_CELLS / (columns.length + 1)));
    this.first = Math.max(0, Math.min(this.first, Math.floor((rows.length - 1) / this.perPage) * this.perPage));
    const last = Math.min(rows.length, this.first + this.perPage);
    this.pager.hidden = this.perPage >= rows.length;
    this.back.disabled = this.first === 0;
    this.on.disabled = last === rows.length;
    setAttribute(this.back, "aria-label", texts.rows_before);
    setAttribute(this.on, "aria-label", texts.rows_after);
    this.where.replaceChildren(fill(texts.rows, { first: this.first + 1, last, all: rows.length }));
    setAttribute(this.scroll, "aria-label", title);
    const { queries, keys } = difference.b;
    const heads = columns.map((key) => h("th", { scope: "col" }, token(keys[key].text)));
    const head = h("tr", {}, h("th", { scope: "col" }, `${texts.query} \u2193 ${texts.key} \u2192`), ...heads);
    const body = rows.slice(this.first, last).map((query) => {
      const cells = columns.map((key) => this.cell(difference.at(query, key)));
      return h("tr", {}, h("th", { scope: "row" }, token(queries[query].text)), ...cells);
    });
    const caption = h("caption", { class: "unseen" }, title);
    this.scroll.replaceChildren(h("table", {}, caption, h("thead", {}, head), h("tbody", {}, ...body)));
  }

  /** @param {number | null} value */
  cell(value) {
    if (value === null) return h("td", { class: "masked", "aria-label": this.texts.compare_nothing }, "\u2013");
    return h("td", {}, plus(value, 3));
  }
}
