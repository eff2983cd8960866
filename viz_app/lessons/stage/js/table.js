// The numbers behind a picture, for those who want to read or copy them.

import { h } from "../../../components/common/page/dom.js";
import { download } from "../../../components/common/page/recording.js";
import { csvFile, csvText } from "../../../components/common/text/csv.js";
import { tableOf } from "../../../components/common/text/tables.js";

const MAX_ROWS = 200;

/**
 * @param {TableData} data
 * @param {Texts} texts
 * @param {string} fileName Of the table as a file, without its ending.
 */
export function table({ columns, rows }, texts, fileName) {
  const cells = rows.slice(0, MAX_ROWS).map((row) => row.map(cell));
  const hidden = rows.length - MAX_ROWS;
  const more = hidden > 0 ? h("p", { class: "note" }, `… ${hidden} ${texts.more_rows}`) : null;
  const attributes = { class: "numbers", tabindex: "0", role: "region", "aria-label": texts.table };
  const save = () => download(csvFile(csvText([columns, ...rows])), `${fileName}.csv`);
  return h("div", {}, h("button", { click: save }, "CSV"), h("div", attributes, tableOf(columns, cells), more));
}

/**
 * Brings a table that was just opened into the window, with the focus.
 * @param {HTMLElement} place What it was put into.
 */
export function showTable(place) {
  place.querySelector("table")?.parentElement?.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
}

/** @param {string | number} value */
function cell(value) {
  if (typeof value === "string") return h("td", { dir: "auto" }, value);
  const small = Math.abs(value) < 1e-3;
  const text = Number.isInteger(value) ? String(value) : small ? value.toExponential(2) : value.toFixed(4);
  return h("td", { class: "number", dir: "auto" }, text);
}
