// Tables of numbers.

import { typeset } from "../draw/typeset.js";
import { h } from "../page/dom.js";

/**
 * A table in a region that scrolls, with a caption.
 * @param {string} title
 * @param {(string | Node)[]} columns
 * @param {Node[][]} rows
 */
export function tableRegion(title, columns, rows) {
  const attributes = { class: "scroll", tabindex: "0", role: "region", "aria-label": title };
  return h("div", attributes, tableOf(columns, rows, h("caption", {}, title)));
}

/**
 * The cells of a row: its name, then numbers.
 * @param {string} name
 * @param {string[]} numbers
 */
export function numberRow(name, numbers) {
  const cells = numbers.map((number) => h("td", { class: "number" }, number));
  return [h("th", { scope: "row", dir: "auto" }, name), ...cells];
}

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
