// The rows of a grid of heads, as ARIA asks for them: a grid holds only rows, and a row only cells and headers.

import { h } from "../page/dom.js";

/**
 * One row for each layer, with its name, below a row with the numbers of the heads.
 * @param {HTMLElement[]} cells Layer after layer.
 * @param {number} heads
 */
export function headRows(cells, heads) {
  const rows = byLayer(cells, heads).map((own, layer) => row(header("rowheader", String(layer + 1)), ...own));
  const numbers = Array.from({ length: heads }, (_, head) => header("columnheader", String(head + 1)));
  return [row(h("span", { role: "columnheader" }), ...numbers), ...rows];
}

/**
 * @template Cell
 * @param {Cell[]} cells Layer after layer.
 * @param {number} heads
 */
export function byLayer(cells, heads) {
  return Array.from({ length: cells.length / heads }, (_, layer) => cells.slice(layer * heads, (layer + 1) * heads));
}

/** @param {...HTMLElement} cells */
function row(...cells) {
  return h("div", { class: "tile-row", role: "row" }, ...cells);
}

/**
 * @param {string} role
 * @param {string} text
 */
function header(role, text) {
  return h("span", { class: "tile-number", role }, text);
}
