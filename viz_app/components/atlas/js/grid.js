// Every head as a cell: three blocks of layers and heads, coloured by the measure.

import { headRows } from "../../common/heads/headrows.js";
import { KINDS } from "../../common/heads/heads.js";
import { RovingFocus } from "../../common/page/arrowkeys.js";
import { h, setAttribute } from "../../common/page/dom.js";
import { fillText } from "../../common/text/format.js";

export class Grid {
  /** @type {Map<string, HTMLButtonElement>} Cells by the place of their head. */
  cells = new Map();
  /** @type {AtlasData} */
  data;
  shape = "";

  /** @param {AtlasActions} actions */
  constructor(actions) {
    this.actions = actions;
    this.element = h("div", { class: "blocks" });
    this.focus = new RovingFocus(this.element, { ownRow: true });
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
    // The layers of all kinds of one number are a line, as the blocks stand side by side.
    const lines = Array.from({ length: data.layers }, (_, layer) => data.all.filter((head) => head.layer === layer));
    this.focus.arrange(lines.map((line) => line.map(({ place }) => this.cells.get(place))));
  }

  /** @param {Kind} kind */
  block(kind) {
    const { all, heads, texts } = this.data;
    const cells = all.filter((head) => head.kind === kind).map((head) => this.cell(head));
    const title = texts[`kind_${kind}`];
    const style = `--heads: ${heads}`;
    const grid = { class: "cells", role: "grid", "aria-multiselectable": "true", "aria-label": title, style };
    const rows = h("div", grid, ...headRows(cells, heads));
    return h("div", { class: "block", "data-kind": kind }, h("h4", {}, title), rows);
  }

  /** @param {Head} head */
  cell(head) {
    const attributes = { class: "cell", role: "gridcell", tabindex: "-1", "data-place": head.place };
    const cell = h("button", { ...attributes, ...this.actions.of(head) });
    this.cells.set(head.place, cell);
    return cell;
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
      setAttribute(cell, "aria-selected", String(state.chosen.includes(head.place)));
      setAttribute(cell, "aria-label", describe(data, measure, head));
    }
  }
}

/**
 * "Encoder self-attention, head 3.5: looks at the previous token. Gain of the best rule: 43".
 * @param {AtlasData} data
 * @param {AtlasMeasure} measure
 * @param {Head} head
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
