// What the pictures say in words: the caption of a head, the readout of a cell, the line for screen readers.

import { decimals, fill, fillText, h, headName, percent, token } from "./dom.js";

const emphasised = (text) => token(text, "em");

const NEARLY = 0.1; // weights that differ by less are about as telling; the same in figures/captions.py

/** "Writing *Hund*, head 4.6 looked 81 % at *dog*": the row of the current step, or the most telling row of the head. */
export function caption(view, { layer, head }, current, texts) {
  const query = current ?? tellingRow(view, layer, head);
  const key = query === null ? -1 : view.favourite(layer, head, query);
  if (key < 0) return document.createTextNode("");
  return fill(texts[`caption_${view.kind}`], {
    query: emphasised(view.queries[query].text),
    next: emphasised(view.others[query]?.text || "\u2026"),
    key: emphasised(view.keys[key].text),
    head: headName(layer, head),
    weight: percent(view.at(layer, head, query, key)),
  });
}

/** Of the rows with nearly the largest weight, text on text, the one with the longest query: words that carry meaning. */
function tellingRow(view, layer, head) {
  const rows = [];
  for (let query = 0; query < view.rows; query++) {
    if (view.queries[query].special) continue;
    const key = view.favourite(layer, head, query, ({ special }) => !special);
    if (key >= 0) rows.push({ query, weight: view.at(layer, head, query, key), length: [...view.queries[query].text].length });
  }
  if (!rows.length) return view.rows ? 0 : null;
  const most = Math.max(...rows.map(({ weight }) => weight));
  const near = rows.filter(({ weight }) => weight > most - NEARLY);
  return near.reduce((best, row) => (row.length > best.length ? row : best)).query;
}

/** The row, the cell and their numbers, for the eye. */
export function readout(view, { layer, head, cursor }, texts) {
  const { query, key } = cursor;
  const parts = [];
  if (query !== null) {
    parts.push(fill(texts[`readout_${view.kind}`], names(view, query, texts)));
  }
  if (key !== null) parts.push(fill(texts.readout_key, { key: strong(view.keys[key].text) }));
  if (query !== null && key !== null) {
    const masked = view.masked(query, key);
    parts.push(masked ? texts.masked : h("b", { class: "value" }, decimals(view.at(layer, head, query, key))));
  }
  if (query !== null) parts.push(fill(texts.row_sum, { sum: decimals(view.rowSum(layer, head, query)) }));
  return parts.map((part) => h("span", {}, part));
}

/** What a row is called; `next` and `input` are two roles of the decoder's other side. */
function names(view, query, texts) {
  const other = view.others[query]?.text || "\u2026";
  return { query: strong(view.queries[query].text), next: token(other), input: token(other), unit: unitName(view, texts) };
}

/** "piece" or "word". */
export function unitName({ unit }, texts) {
  return unit === "words" ? texts.unit_word : texts.unit_piece;
}

const strong = (text) => token(text, "b", { class: "token" });

/** The cell of the keyboard for the ear: "head 3.5, 'Hund' to 'dog', 0.81". The pointer says nothing. */
export function spoken(view, { layer, head, cursor }, texts) {
  if (!cursor?.spoken) return "";
  const { query, key } = cursor;
  return fillText(texts.spoken, {
    head: headName(layer, head),
    query: view.queries[query].text,
    key: view.keys[key].text,
    weight: view.masked(query, key) ? texts.masked : view.at(layer, head, query, key).toFixed(2),
  });
}
