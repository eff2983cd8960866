// The large map as a table of numbers. Long sentences are shown a few rows at a time, so that the page stays light.

import { decimals, fill, h, setAttribute, token } from "./dom.js";

const MOST_CELLS = 900;

export class Table {
  constructor(store) {
    this.store = store;
    this.button = h("button", {
      type: "button",
      class: "plain",
      "aria-expanded": "false",
      click: () => store.set({ table: !store.state.table }),
    });
    this.back = h("button", { type: "button", class: "plain", click: () => this.turn(-1) }, "\u2190");
    this.on = h("button", { type: "button", class: "plain", click: () => this.turn(1) }, "\u2192");
    this.where = h("span", { class: "note" });
    this.pager = h("div", { class: "pager" }, this.back, this.where, this.on);
    this.scroll = h("div", { class: "table-scroll", tabindex: "0", role: "region" });
    this.element = h("div", { class: "table", hidden: true }, this.pager, this.scroll);
    this.first = 0;
  }

  update(sheet, { table }, title, texts) {
    this.button.textContent = table ? texts.table_close : texts.table;
    setAttribute(this.button, "aria-expanded", String(table));
    this.element.hidden = !table;
    if (!table) return this.scroll.replaceChildren();
    Object.assign(this, { sheet, title, texts });
    this.perPage = Math.max(1, Math.floor(MOST_CELLS / (sheet.columns + 1)));
    this.first = Math.min(this.first, Math.floor(Math.max(0, sheet.rows - 1) / this.perPage) * this.perPage);
    this.draw();
  }

  turn(pages) {
    const last = Math.floor((this.sheet.rows - 1) / this.perPage) * this.perPage;
    this.first = Math.max(0, Math.min(last, this.first + pages * this.perPage));
    this.draw();
  }

  draw() {
    const { sheet, texts, first } = this;
    const end = Math.min(sheet.rows, first + this.perPage);
    this.pager.hidden = this.perPage >= sheet.rows;
    setAttribute(this.back, "aria-label", texts.rows_before);
    setAttribute(this.on, "aria-label", texts.rows_after);
    this.back.disabled = first === 0;
    this.on.disabled = end === sheet.rows;
    this.where.replaceChildren(fill(texts.rows, { first: first + 1, last: end, all: sheet.rows }));
    setAttribute(this.scroll, "aria-label", this.title);
    const keys = sheet.keys.slice(0, sheet.columns);
    const head = h(
      "tr",
      {},
      h("th", { scope: "col" }, `${texts.query} \u2193 ${texts.key} \u2192`),
      ...keys.map(({ text }) => h("th", { scope: "col" }, token(text))),
    );
    const rows = Array.from({ length: end - first }, (_, index) => this.row(first + index, keys.length));
    const table = h("table", {}, h("caption", { class: "unseen" }, this.title), h("thead", {}, head), h("tbody", {}, ...rows));
    this.scroll.replaceChildren(table);
  }

  row(query, columns) {
    const { sheet, texts } = this;
    const cells = Array.from({ length: columns }, (_, key) => {
      if (sheet.masked(query, key)) return h("td", { class: "masked", "aria-label": texts.masked }, "\u2013");
      return h("td", {}, decimals(sheet.at(query, key)));
    });
    return h("tr", {}, h("th", { scope: "row" }, token(sheet.queries[query].text)), ...cells);
  }
}
