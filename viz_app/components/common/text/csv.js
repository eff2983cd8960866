// Tables as CSV, as data_renderer.py writes them.

const FORMULA = /^[\p{Z}\p{C}"]*?[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]|^'/u; // a spreadsheet program may run it
const CELLS = /[^;\t\r\n]*(?:\r\n?|[;\t\n]|$)/g; // where semicolons separate them

/**
 * Rows as CSV.
 * @param {(string | number)[][]} rows
 */
export function csvText(rows) {
  return rows.map((cells) => `${cells.map(csvCell).join()}\r\n`).join("");
}

/**
 * CSV as a file; without the mark in front Excel misreads Korean.
 * @param {string} text
 */
export function csvFile(text) {
  return new Blob(["\ufeff", text], { type: "text/csv" });
}

/** @param {string | number} value */
export const csvCell = (value) =>
  typeof value === "number" ? value : `"${value.replace(CELLS, escapeCell).replaceAll('"', '""')}"`;

/** @param {string} cell */
const escapeCell = (cell) => cell.replace(FORMULA, "'$&");
