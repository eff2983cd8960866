// The heads that pass the filters as a list, ordered by the measure; and all numbers of all heads as a table.

import { h } from "../../common/page/dom.js";
import { consume, hasModifier } from "../../common/page/keyboard.js";
import { tableOf } from "../../common/text/tables.js";
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
    const root = /** @type {ShadowRoot} */ (this.element.getRootNode());
    const active = root.activeElement;
    return active instanceof HTMLElement && this.element.contains(active) ? active.dataset.place : undefined;
  }

  /** @param {string} place */
  button(place) {
    return /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-place="${CSS.escape(place)}"]`));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || hasModifier(event)) return;
    const buttons = /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll("button.name")]);
    const at = buttons.indexOf(/** @type {HTMLElement} */ (event.target));
    if (at < 0) return;
    consume(event);
    buttons[at + step]?.focus();
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
    ...header.measures.map((measure) => {
      const numbers = data.numbers(measure, head);
      if (!numbers) return cell("–");
      const ends =
        numbers.low === null
          ? ""
          : ` [${[numbers.low, numbers.high].map((end) => data.short(measure, end ?? 0)).join(", ")}]`;
      return cell(`${data.format(measure, numbers.value)}${ends}`);
    }),
  ]);
  const columns = [texts.head_column, texts.role, ...header.measures.map(({ label }) => label)];
  const attributes = { class: "scroll", tabindex: "0", role: "region", "aria-label": texts.table_all };
  return h("div", attributes, tableOf(columns, rows, h("caption", {}, texts.table_all)));
}
