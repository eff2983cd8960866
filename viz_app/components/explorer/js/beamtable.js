// Every branch of a search as a table, a page at a time: the tree for readers who do not see it.

import { fill, fillText, h, setAttribute, token } from "../../common/dom.js";
import { signed } from "../../common/format.js";

const PER_PAGE = 12;

export class BeamTable {
  /** @type {any} */
  wanted;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.first = 0;
    this.open = false;
    this.button = h("button", { class: "plain", "aria-expanded": "false", click: () => this.toggle() });
    this.back = h("button", { class: "plain", click: () => this.turn(-PER_PAGE) }, "\u2190");
    this.on = h("button", { class: "plain", click: () => this.turn(PER_PAGE) }, "\u2192");
    this.where = h("span", { class: "note" });
    const pager = h("div", { class: "pager" }, this.back, this.where, this.on);
    this.scroll = h("div", { class: "table-scroll", tabindex: "0", role: "region" });
    this.element = h("div", { class: "table", hidden: true }, pager, this.scroll);
  }

  toggle() {
    this.open = !this.open;
    this.store.mark("alpha");
  }

  /** @param {number} rows */
  turn(rows) {
    this.first += rows;
    this.store.mark("alpha");
  }

  /**
   * @param {Search} search
   * @param {{ alpha: number, shown: number }} given
   * @param {Texts} texts
   * @param {string} language
   */
  update(search, { alpha, shown }, texts, language) {
    this.button.textContent = this.open ? texts.table_close : texts.beam_all;
    setAttribute(this.button, "aria-expanded", String(this.open));
    this.element.hidden = !this.open;
    if (!this.open) return this.scroll.replaceChildren();
    const all = search.leaves.length;
    this.first = Math.max(0, Math.min(this.first, Math.floor((all - 1) / PER_PAGE) * PER_PAGE));
    const last = Math.min(all, this.first + PER_PAGE);
    setAttribute(this.back, "aria-label", texts.rows_before);
    setAttribute(this.on, "aria-label", texts.rows_after);
    this.back.disabled = this.first === 0;
    this.on.disabled = last === all;
    this.where.replaceChildren(fill(texts.rows, { first: this.first + 1, last, all }));
    setAttribute(this.scroll, "aria-label", texts.beam_all);
    const names = ["branch", "text", "end", "length", "total", "score"];
    const head = h("tr", {}, ...names.map((name) => h("th", { scope: "col" }, texts[`beam_column_${name}`])));
    const rows = search.leaves.slice(this.first, last).map((node, index) => {
      const branch = this.first + index;
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, this.opener(branch, shown, texts)),
        h("td", { class: "beam-cell" }, token(search.text(node) || "\u2205", "bdi", { lang: language })),
        h("td", {}, texts[`beam_end_${search.fate(branch)}`]),
        h("td", {}, String(search.step[node])),
        h("td", {}, signed(search.total[node], 3)),
        h("td", {}, signed(search.score(node, alpha), 3)),
      );
    });
    this.scroll.replaceChildren(h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)));
    this.focus();
  }

  /**
   * @param {number} branch
   * @param {number} shown
   * @param {Texts} texts
   */
  opener(branch, shown, texts) {
    const open = () => {
      this.wanted = branch;
      this.store.set({ branch });
    };
    const label = fillText(texts.beam_open, { branch: branch + 1 });
    const attributes = {
      class: "plain",
      "aria-label": label,
      "aria-pressed": String(branch === shown),
      click: open,
    };
    return h("button", { ...attributes, "data-branch": branch }, String(branch + 1));
  }

  /** The table is made anew with every change; the button that was pressed keeps the focus. */
  focus() {
    if (this.wanted === undefined) return;
    /** @type {HTMLElement | null} */ (this.scroll.querySelector(`[data-branch="${this.wanted}"]`))?.focus({
      preventScroll: true,
    });
    this.wanted = undefined;
  }
}
