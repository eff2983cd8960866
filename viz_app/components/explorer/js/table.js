// The picture that is seen as a table of numbers. Long sentences are shown a few rows at a time, so that the page stays light.

import { decimals, fill, h, setAttribute, token } from "../../common/dom.js";

const MOST_CELLS = 900;

export class Table {
  /** @type {Picture} */
  picture;
  /** @type {string} */
  title;
  /** @type {Texts} */
  texts;
  /** @type {any} */
  corner;
  /** @type {number} */
  perPage;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.button = h("button", {
      class: "plain",
      "aria-expanded": "false",
      click: () => store.set({ table: !store.state.table }),
    });
    this.back = h("button", { class: "plain", click: () => this.turn(-1) }, "\u2190");
    this.on = h("button", { class: "plain", click: () => this.turn(1) }, "\u2192");
    this.where = h("span", { class: "note" });
    this.pager = h("div", { class: "pager" }, this.back, this.where, this.on);
    this.scroll = h("div", { class: "table-scroll", tabindex: "0", role: "region" });
    this.element = h("div", { class: "table", hidden: true }, this.pager, this.scroll);
    this.first = 0;
  }

  /**
   * @param {Picture} picture
   * @param {Pick<State, "table">} state
   * @param {string} title
   * @param {Texts} texts
   * @param {string} [corner] What stands above the names of the rows; queries and keys when it is not given.
   */
  update(picture, { table }, title, texts, corner) {
    this.button.textContent = table ? texts.table_close : texts.table;
    setAttribute(this.button, "aria-expanded", String(table));
    this.element.hidden = !table;
    if (!table) return this.scroll.replaceChildren();
    this.picture = picture;
    this.title = title;
    this.texts = texts;
    this.corner = corner;
    this.perPage = Math.max(1, Math.floor(MOST_CELLS / (picture.existing + 1)));
    this.first = Math.min(this.first, Math.floor(Math.max(0, picture.written - 1) / this.perPage) * this.perPage);
    this.draw();
  }

  /** @param {number} pages */
  turn(pages) {
    const last = Math.floor((this.picture.written - 1) / this.perPage) * this.perPage;
    this.first = Math.max(0, Math.min(last, this.first + pages * this.perPage));
    this.draw();
  }

  draw() {
    const { picture, texts, first } = this;
    const { sheet, rows, columns, written, existing } = picture;
    const end = Math.min(written, first + this.perPage);
    this.pager.hidden = this.perPage >= written;
    setAttribute(this.back, "aria-label", texts.rows_before);
    setAttribute(this.on, "aria-label", texts.rows_after);
    this.back.disabled = first === 0;
    this.on.disabled = end === written;
    this.where.replaceChildren(fill(texts.rows, { first: first + 1, last: end, all: written }));
    setAttribute(this.scroll, "aria-label", this.title);
    const keys = columns.slice(0, existing);
    const head = h(
      "tr",
      {},
      h("th", { scope: "col" }, this.corner ?? `${texts.query} \u2193 ${texts.key} \u2192`),
      ...keys.map((key) => h("th", { scope: "col" }, token(sheet.keys[key].text))),
    );
    const body = h("tbody", {}, ...rows.slice(first, end).map((query) => this.row(query, keys)));
    const table = h("table", {}, h("caption", { class: "unseen" }, this.title), h("thead", {}, head), body);
    this.scroll.replaceChildren(table);
  }

  /**
   * @param {number} query
   * @param {number[]} keys
   */
  row(query, keys) {
    const { picture, texts } = this;
    const { sheet } = picture;
    const why = picture.blind(query) ? texts.blind : texts.masked;
    const cells = keys.map((key) => {
      if (picture.forbidden(query, key)) return h("td", { class: "masked", "aria-label": why }, "\u2013");
      return h("td", {}, decimals(sheet.at(query, key)));
    });
    return h("tr", {}, h("th", { scope: "row" }, token(sheet.queries[query].text)), ...cells);
  }
}
