// The order of all heads by a measure, a filter of them, and the same as a ranked list.

import { h } from "../../common/page/dom.js";
import { Table } from "./tables/table.js";
import { headTable } from "./tables/tablecontents.js";

export class HeadOrder {
  /** @type {Measures} */
  measures;
  /** @type {ExplorerTexts} */
  texts;
  /** @type {string} What the menus offer. */
  offered;
  /** @type {string} The order that holds. */
  order;
  /** @type {string | null} The filter that holds. */
  only = null;
  moved = false; // whether the order has changed

  /**
   * @param {Store} store
   * @param {(head: { kind: Kind, layer: number, head: number }) => void} open
   */
  constructor(store, open) {
    this.open = open;
    this.orders = h("select", { class: "order-select", change: () => store.set({ order: this.orders.value }) });
    this.filters = h("select", {
      class: "only-select",
      change: () => store.set({ only: this.filters.value || null }),
    });
    this.orderName = h("span", {});
    this.filterName = h("span", {});
    this.byMeasure = h("label", { class: "order" }, this.orderName, this.orders);
    this.byRole = h("label", { class: "order" }, this.filterName, this.filters);
    this.list = new Table();
    this.tools = [this.byMeasure, this.byRole, this.list.button];
  }

  /**
   * @param {Measures} measures
   * @param {ExplorerTexts} texts
   */
  receive(measures, texts) {
    this.measures = measures;
    this.texts = texts;
    this.orderName.textContent = texts.order;
    this.filterName.textContent = texts.only;
  }

  /**
   * Offers the orders and filters that exist for some kinds, and takes over those of a state, as far as they do.
   * @param {State} state
   * @param {Kind[]} kinds
   */
  update(state, kinds) {
    const { orders, measures } = this;
    const offered = measures.orders(kinds);
    const { filters } = measures.roles;
    this.offer(offered);
    const order = offered.includes(state.order) ? state.order : "layer";
    this.moved = order !== this.order;
    this.order = order;
    this.only = filters.some(({ label }) => label === state.only) ? state.only : null;
    orders.value = order;
    this.filters.value = this.only ?? "";
    this.byRole.hidden = !filters.length || (state.zoom !== "heads" && this.only === null); // no room beside a map
    this.byMeasure.hidden = state.zoom !== "heads" && order === "layer"; // all heads are the place to order them
    this.byMeasure.title = this.note();
    this.list.button.hidden = state.zoom !== "heads";
    const title = `${this.texts.list}: ${this.label(order)}`;
    const content = { order, only: this.only, kinds, title, open: this.open };
    this.list.show(headTable(measures, content, this.texts), this.list.open && state.zoom === "heads");
  }

  /** @param {string[]} orders */
  offer(orders) {
    const { measures, texts } = this;
    const { measures: atlas, filters } = measures.roles;
    const key = JSON.stringify([texts.language, orders, filters]);
    if (this.offered === key) return;
    this.offered = key;
    const option = (/** @type {string} */ name) => h("option", { value: name }, this.label(name));
    const measured = orders.filter((name) => atlas[name]);
    this.orders.replaceChildren(
      ...orders.filter((name) => !atlas[name]).map(option),
      ...grouped(texts.order_atlas, measured.map(option)),
    );
    const groups = [...new Set(filters.map(({ group }) => group))].flatMap((group) => {
      const each = filters.filter((filter) => filter.group === group);
      const options = each.map(({ label, words }) => h("option", { value: label }, words));
      return grouped(group, options);
    });
    this.filters.replaceChildren(h("option", { value: "" }, texts.only_all), ...groups);
  }

  /** @param {string} order */
  label(order) {
    return this.measures.roles.measures[order]?.label ?? this.texts[`order_${order}`];
  }

  /** What the order that holds means. */
  note() {
    return this.measures.roles.measures[this.order]?.note ?? this.texts[`order_${this.order}_note`];
  }
}

/**
 * Options under a heading, or alone.
 * @param {string} label
 * @param {HTMLOptionElement[]} options
 */
function grouped(label, options) {
  return label && options.length ? [h("optgroup", { label }, ...options)] : options;
}
