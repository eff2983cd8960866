// Tables of numbers.

import { h } from "./dom.js";

/**
 * @param {(string | Node)[]} columns Their headings.
 * @param {Node[][]} rows The cells of each.
 * @param {HTMLTableCaptionElement | null} [caption]
 */
export function tableOf(columns, rows, caption = null) {
  const head = h("tr", {}, ...columns.map((column) => h("th", { scope: "col" }, column)));
  const body = rows.map((cells) => h("tr", {}, ...cells));
  return h("table", {}, caption, h("thead", {}, head), h("tbody", {}, ...body));
}
