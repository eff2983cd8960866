// What the pictures say in words: the caption of a head, the readout of a cell, the line for screen readers.

import { decimals, fill, fillText, h, percent, token } from "./dom.js";

const emphasised = (text) => token(text, "em");

const NEARLY = 0.1; // weights that differ by less are about as telling; the same in figures/captions.py

/** "Writing *Hund*, head 4.6 looked 81 % at *dog*": the row of the current step, or the most telling row of the head. */
export function caption(sheet, current, texts) {
  const query = current ?? tellingRow(sheet);
  const key = query === null ? -1 : sheet.favourite(query);
  if (key < 0) return document.createTextNode("");
  return fill(texts[`caption_${sheet.kind}`], {
    query: emphasised(sheet.queries[query].text),
    next: emphasised(sheet.others[query]?.text || "\u2026"),
    key: emphasised(sheet.keys[key].text),
    head: sheet.name,
    weight: percent(sheet.at(query, key)),
  });
}

/** Of the rows with nearly the largest weight, text on text, the one with the longest query: words that carry meaning. */
function tellingRow(sheet) {
  const rows = [];
  for (let query = 0; query < sheet.rows; query++) {
    if (sheet.queries[query].special) continue;
    const key = sheet.favourite(query, ({ special }) => !special);
    if (key >= 0) rows.push({ query, weight: sheet.at(query, key), length: [...sheet.queries[query].text].length });
  }
  if (!rows.length) return sheet.rows ? 0 : null;
  const most = Math.max(...rows.map(({ weight }) => weight));
  const near = rows.filter(({ weight }) => weight > most - NEARLY);
  return near.reduce((best, row) => (row.length > best.length ? row : best)).query;
}

/** The row, the cell and their numbers, for the eye. */
export function readout(sheet, cursor, texts) {
  const { query, key } = cursor;
  const parts = [];
  if (query !== null) {
    parts.push(fill(texts[`readout_${sheet.kind}`], names(sheet, query, texts)));
  }
  if (key !== null) parts.push(fill(texts.readout_key, { key: strong(sheet.keys[key].text) }));
  if (query !== null && key !== null) {
    const masked = sheet.masked(query, key);
    parts.push(masked ? texts.masked : h("b", { class: "value" }, decimals(sheet.at(query, key))));
  }
  if (query !== null) parts.push(fill(texts.row_sum, { sum: decimals(sheet.rowSum(query)) }));
  return parts.map((part) => h("span", {}, part));
}

/** What a row is called; `next` and `input` are two roles of the decoder's other side. */
function names(sheet, query, texts) {
  const other = sheet.others[query]?.text || "\u2026";
  return { query: strong(sheet.queries[query].text), next: token(other), input: token(other), unit: unitName(sheet, texts) };
}

/** "piece" or "word". */
export function unitName({ unit }, texts) {
  return unit === "words" ? texts.unit_word : texts.unit_piece;
}

const strong = (text) => token(text, "b", { class: "token" });

/** The cell of the keyboard for the ear: "head 3.5, 'Hund' to 'dog', 0.81". The pointer says nothing. */
export function spoken(sheet, cursor, texts) {
  if (!cursor?.spoken) return "";
  const { query, key } = cursor;
  return fillText(texts.spoken, {
    head: sheet.name,
    query: sheet.queries[query].text,
    key: sheet.keys[key].text,
    weight: sheet.masked(query, key) ? texts.masked : sheet.at(query, key).toFixed(2),
  });
}
