// The heads that pass the filters as a list, ordered by the measure; and all numbers of all heads as a table.

import { arrowTarget } from "../../common/page/arrowkeys.js";
import { h, rootOf } from "../../common/page/dom.js";
import { tableOf, tableRegion } from "../../common/text/tables.js";
import { describe } from "./grid.js";

export class Ranked {
  /** @param {AtlasActions} actions */
  constructor(actions) {
    this.actions = actions;
    this.element = h("div", {
      class: "scroll ranked",
      role: "region",
      keydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    });
  }

  /**
   * @param {AtlasData} data
   * @param {AtlasState} state
   * @param {Theme} theme
   */
  update(data, state, theme) {
    const { texts } = data;
    const measure = data.measure(state.by);
    const range = data.range(measure);
    this.element.setAttribute("aria-label", `${texts.view_list}: ${measure.label}`);
    const turn = h("button", { class: "turn", click: () => this.actions.set({ rising: !state.rising }) });
    turn.append(`${measure.label} ${state.rising ? "\u25b2" : "\u25bc"}`);
    const rows = data.ranked(state).map((head, rank) => {
      const numbers = /** @type {AtlasNumbers} */ (data.numbers(measure, head));
      const { background, ink } = data.colour(measure, numbers.value, range, theme);
      const button = h(
        "button",
        {
          class: "name",
          "data-place": head.place,
          "data-kind": head.kind,
          "aria-pressed": state.chosen.includes(head.place) ? "true" : "false",
          "aria-label": describe(data, measure, head),
          ...this.actions.of(head),
        },
        `${texts[`short_${head.kind}`]} ${head.name}`,
      );
      return [
        cell(String(rank + 1)),
        h("th", { scope: "row" }, button),
        h("td", {}, data.role(head)),
        h(
          "td",
          { class: "number", style: `background: ${background}; color: ${ink}` },
          data.format(measure, numbers.value),
        ),
        cell(data.format(measure, numbers.low)),
        cell(data.format(measure, numbers.high)),
        cell(data.format(measure, numbers.baseline)),
      ];
    });
    const columns = [texts.rank, texts.head_column, texts.role, turn, texts.low, texts.high, texts.baseline_column];
    const kept = this.focused;
    this.element.replaceChildren(tableOf(columns, rows));
    if (kept) this.button(kept)?.focus({ preventScroll: true });
  }

  /** The place of the head whose button has the focus. */
  get focused() {
    const active = rootOf(this.element).activeElement;
    return active instanceof HTMLElement && this.element.contains(active) ? active.dataset.place : undefined;
  }

  /** @param {string} place */
  button(place) {
    return /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-place="${CSS.escape(place)}"]`));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const buttons = /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll("button.name")]);
    const at = buttons.indexOf(/** @type {HTMLElement} */ (event.target));
    const to = at < 0 ? null : arrowTarget(event, [at, 0], buttons.length, 1);
    if (to) buttons[to[0]].focus();
  }
}

/** @param {string} text */
function cell(text) {
  return h("td", { class: "number" }, text);
}

/**
 * All measures of all heads, whatever the filters say.
 * @param {AtlasData} data
 */
export function wholeTable(data) {
  const { texts, header } = data;
  const rows = data.all.map((head) => [
    h("th", { scope: "row" }, `${texts[`short_${head.kind}`]} ${head.name}`),
    h("td", {}, data.role(head)),
    ...header.measures.map((measure) => cell(data.withInterval(measure, head))),
  ]);
  const columns = [texts.head_column, texts.role, ...header.measures.map(({ label }) => label)];
  return tableRegion(texts.table_all, columns, rows);
}
