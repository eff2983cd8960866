// Every head as a cell: three blocks of layers and heads, coloured by the measure.

import { h, setAttribute } from "../../common/page/dom.js";
import { consume, hasModifier } from "../../common/page/keyboard.js";
import { fillText } from "../../common/text/format.js";
import { KINDS } from "./data.js";

export class Grid {
  /** @type {Map<string, HTMLButtonElement>} Cells by the place of their head. */
  cells = new Map();
  /** @type {AtlasData} */
  data;
  shape = "";

  /** @param {AtlasActions} actions */
  constructor(actions) {
    this.actions = actions;
    this.element = h("div", { class: "blocks", keydown: (event) => this.key(event) });
  }

  /**
   * Makes the cells for a model's size.
   * @param {AtlasData} data
   */
  build(data) {
    this.data = data;
    const shape = `${data.layers} ${data.heads} ${data.header.language}`;
    if (shape === this.shape) return;
    this.shape = shape;
    this.cells.clear();
    this.element.replaceChildren(...KINDS.map((kind) => this.block(kind)));
    const first = this.cells.get(data.all[0].place);
    if (first) first.tabIndex = 0;
  }

  /** @param {Kind} kind */
  block(kind) {
    const { data } = this;
    const { texts, heads, layers } = data;
    const numbers = Array.from({ length: heads }, (_, head) => h("span", { class: "at" }, String(head + 1)));
    const table = h(
      "div",
      { class: "cells", style: `--heads: ${heads}` },
      h("span", { class: "at" }),
      ...numbers,
      ...Array.from({ length: layers }, (_, layer) => [
        h("span", { class: "at" }, String(layer + 1)),
        ...data.all.filter((head) => head.kind === kind && head.layer === layer).map((head) => this.cell(head)),
      ]).flat(),
    );
    const title = texts[`kind_${kind}`];
    return h(
      "div",
      { class: "block", "data-kind": kind, role: "group", "aria-label": title },
      h("h4", {}, title),
      table,
    );
  }

  /** @param {AtlasHead} head */
  cell(head) {
    const cell = h("button", { class: "cell", tabindex: "-1", "data-place": head.place, ...this.actions.of(head) });
    cell.addEventListener("focus", () => this.reach(cell));
    this.cells.set(head.place, cell);
    return cell;
  }

  /** @param {HTMLElement} cell The one that the Tab key reaches from now on. */
  reach(cell) {
    for (const each of this.cells.values()) each.tabIndex = each === cell ? 0 : -1;
  }

  /**
   * Colours and names.
   * @param {AtlasState} state
   * @param {Theme} theme
   */
  paint(state, theme) {
    const { data } = this;
    const measure = data.measure(state.by);
    const range = data.range(measure);
    for (const head of data.all) {
      const cell = /** @type {HTMLButtonElement} */ (this.cells.get(head.place));
      const numbers = data.numbers(measure, head);
      const colour = numbers ? data.colour(measure, numbers.value, range, theme) : null;
      cell.style.background = colour?.background ?? "";
      cell.style.color = colour?.ink ?? "";
      cell.textContent = numbers ? data.short(measure, numbers.value) : "";
      cell.classList.toggle("undefined", !numbers);
      cell.classList.toggle("dim", !data.passes(state, head));
      setAttribute(cell, "aria-pressed", state.chosen.includes(head.place) ? "true" : "false");
      setAttribute(cell, "aria-label", describe(data, measure, head));
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (hasModifier(event)) return;
    const { layers, heads, byPlace } = this.data;
    const from = byPlace.get(/** @type {HTMLElement} */ (event.target).dataset?.place ?? "");
    if (!from) return;
    const at = KINDS.indexOf(from.kind);
    /** @type {(kind: number, layer: number, head: number) => void} */
    const go = (kind, layer, head) => {
      consume(event);
      if (KINDS[kind]) this.cells.get(`${KINDS[kind]}.${layer}.${head}`)?.focus();
    };
    const { layer, head } = from;
    /** @type {Record<string, () => void>} */
    const moves = {
      ArrowRight: () => (head + 1 < heads ? go(at, layer, head + 1) : go(at + 1, layer, 0)),
      ArrowLeft: () => (head ? go(at, layer, head - 1) : go(at - 1, layer, heads - 1)),
      ArrowDown: () => (layer + 1 < layers ? go(at, layer + 1, head) : go(at + 1, 0, head)),
      ArrowUp: () => (layer ? go(at, layer - 1, head) : go(at - 1, layers - 1, head)),
      Home: () => go(at, layer, 0),
      End: () => go(at, layer, heads - 1),
    };
    moves[event.key]?.();
  }
}

/**
 * "Encoder self-attention, head 3.5: looks at the previous token. Gain of the best rule: 43".
 * @param {AtlasData} data
 * @param {AtlasMeasure} measure
 * @param {AtlasHead} head
 */
export function describe(data, measure, head) {
  const { texts } = data;
  const numbers = data.numbers(measure, head);
  return fillText(texts.cell, {
    kind: texts[`kind_${head.kind}`],
    head: head.name,
    role: data.role(head),
    measure: measure.label,
    value: numbers ? data.format(measure, numbers.value) : texts.cell_none,
  });
}
