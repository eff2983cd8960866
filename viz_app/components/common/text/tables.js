// Tables of numbers.

import { typeset } from "../draw/typeset.js";
import { h } from "../page/dom.js";

/**
 * The heading of a column of numbers stands over them, at its end.
 * @param {(string | Node)[]} columns Their headings.
 * @param {Node[][]} rows The cells of each.
 * @param {HTMLTableCaptionElement | null} [caption]
 */
export function tableOf(columns, rows, caption = null) {
  const isNumbers = (/** @type {number} */ index) =>
    rows.some((cells) => cells[index] instanceof Element && cells[index].classList.contains("number"));
  const head = h(
    "tr",
    {},
    ...columns.map((column, index) => {
      const content = typeof column === "string" ? typeset(column) : [column];
      return h("th", { scope: "col", class: isNumbers(index) ? "number" : null }, ...content);
    }),
  );
  const body = rows.map((cells) => h("tr", {}, ...cells));
  return h("table", {}, caption, h("thead", {}, head), h("tbody", {}, ...body));
}
