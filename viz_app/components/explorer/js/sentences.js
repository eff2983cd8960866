// What the pictures say in words: the caption of a head, the readout of a cell, the line for screen readers.

import { fill, h, tokenElement } from "../../common/page/dom.js";
import { decimals, fillText, percent } from "../../common/text/format.js";

/** @param {string} text */
const emphasised = (text) => tokenElement(text, "em");

const NEARLY = 0.1; // weights that differ by less are about as telling; the same in figures/captions.py

/**
 * Of a sheet that is a mean: "layer" or "all"; null for a head and for anything else.
 * @param {Sheet} sheet
 */
function meanOf({ name, groups }) {
  if (groups) return null;
  return name === "mean" ? "all" : name.endsWith(".mean") ? "layer" : null;
}

/**
 * "Mean of the 8 heads of layer 4"; empty when the sheet is no mean.
 * @param {Sheet} sheet
 * @param {ExplorerTexts} texts
 */
export function meanName(sheet, texts) {
  const mean = meanOf(sheet);
  if (!mean) return "";
  const { layers, heads } = sheet.view;
  return fillText(texts[`mean_${mean}`], {
    layer: sheet.name.split(".")[0],
    count: mean === "all" ? layers * heads : heads,
  });
}

/**
 * "Encoder-decoder attention, head 4.6", or of a token in all heads.
 * @param {Sheet} sheet
 * @param {ExplorerTexts} texts
 */
export function title(sheet, texts) {
  const kind = texts[`kind_${sheet.kind}`];
  if (sheet.groups) return fillText(texts.token_title, { kind, token: sheet.name });
  const mean = meanName(sheet, texts);
  return mean ? `${kind}, ${mean}` : fillText(texts.title, { kind, head: sheet.name });
}

/**
 * "Writing *Hund*, head 4.6 looked 81 % at *dog*": the row of the current step, or the most telling row of the head.
 * @param {Picture} picture
 * @param {ExplorerTexts} texts
 */
export function caption(picture, texts) {
  const { sheet } = picture;
  if (sheet.groups) return tokenCaption(picture, texts);
  const query = picture.current ?? tellingRow(picture);
  if (query === null) return document.createTextNode("");
  const key = picture.favourite(query);
  if (key < 0) return blindNote(picture, query, texts);
  const mean = meanName(sheet, texts);
  return fill(mean ? texts.mean_caption : texts[`caption_${sheet.kind}`], {
    mean,
    query: emphasised(sheet.queries[query].text),
    next: emphasised(sheet.others[query]?.text || "\u2026"),
    key: emphasised(sheet.keys[key].text),
    head: sheet.name,
    weight: percent(sheet.at(query, key)),
  });
}

/**
 * "*Hund* in all heads: head 4.6 looks most sharply, 81 % at *dog*."
 * @param {Picture} picture
 * @param {ExplorerTexts} texts
 */
function tokenCaption(picture, texts) {
  const { sheet } = picture;
  const name = emphasised(sheet.name);
  if (!picture.written) return fill(texts.token_unwritten, { token: name });
  const best = picture.strongest();
  if (!best) return fill(texts.blind_caption, { query: name });
  return fill(sheet.received ? texts.token_caption_key : texts.token_caption_query, {
    token: name,
    head: sheet.queries[best[0]].text,
    other: emphasised(sheet.keys[best[1]].text),
    weight: percent(sheet.at(...best)),
  });
}

/**
 * @param {Picture} picture
 * @param {number} query
 * @param {ExplorerTexts} texts
 */
function blindNote(picture, query, texts) {
  if (!picture.blind(query)) return document.createTextNode("");
  return fill(texts.blind_caption, { query: emphasised(picture.sheet.queries[query].text) });
}

/**
 * Of the rows with nearly the largest weight, text on text, the one with the longest query: words that carry meaning.
 * @param {Picture} picture
 */
export function tellingRow(picture) {
  const { sheet } = picture;
  const rows = [];
  for (const query of picture.rows.slice(0, picture.written)) {
    if (sheet.queries[query].special) continue;
    const key = picture.favourite(query, ({ special }) => !special);
    if (key >= 0) rows.push({ query, weight: sheet.at(query, key), length: [...sheet.queries[query].text].length });
  }
  if (!rows.length) return picture.written ? picture.rows[0] : null;
  const most = Math.max(...rows.map(({ weight }) => weight));
  const near = rows.filter(({ weight }) => weight > most - NEARLY);
  return near.reduce((best, row) => (row.length > best.length ? row : best)).query;
}

/**
 * The row, the cell and their numbers, for the eye.
 * @param {Picture} picture
 * @param {Cursor} cursor
 * @param {ExplorerTexts} texts
 */
export function readout(picture, { query, key }, texts) {
  const { sheet } = picture;
  const parts = [];
  if (query !== null) parts.push(rowName(sheet, query, texts));
  if (key !== null)
    parts.push(fill(sheet.received ? texts.token_from : texts.readout_key, { key: strong(sheet.keys[key].text) }));
  if (query !== null && key !== null) {
    const masked = picture.forbidden(query, key);
    parts.push(masked ? nothing(picture, query, texts) : h("b", { class: "value" }, decimals(sheet.at(query, key))));
  }
  if (query !== null) parts.push(rowSum(picture, query, texts));
  return parts.map((part) => h("span", {}, part));
}

/**
 * Why there is no weight at a cell.
 * @param {Picture} picture
 * @param {number} query
 * @param {ExplorerTexts} texts
 */
function nothing(picture, query, texts) {
  return picture.blind(query) ? texts.blind : texts.masked;
}

/**
 * "row sum 1.000", or what is left of it beside hidden tokens.
 * @param {Picture} picture
 * @param {number} query
 * @param {ExplorerTexts} texts
 */
function rowSum(picture, query, texts) {
  const sum = decimals(picture.rowSum(query));
  if (picture.sheet.received) return fill(texts.token_received, { sum });
  if (!picture.hides()) return fill(texts.row_sum, { sum });
  return fill(texts.row_sum_hidden, { sum, hidden: decimals(picture.hidden(query)) });
}

/**
 * "Hidden: `</s>`. Share of this head's attention: 34 %"; null when nothing is hidden.
 * @param {Picture} picture
 * @param {ExplorerTexts} texts
 */
export function hiddenNote(picture, texts) {
  const share = picture.hiddenShare();
  if (share === null) return null;
  const tokens = h("span", {});
  picture.hiddenTexts().forEach((text, index) => tokens.append(index ? ", " : "", tokenElement(text, "code")));
  return fill(texts.menu_hidden, { tokens, weight: percent(share) });
}

/**
 * What a row is called; `next` and `input` are two roles of the decoder's other side.
 * @param {Sheet} sheet
 * @param {number} query
 * @param {ExplorerTexts} texts
 */
function rowName(sheet, query, texts) {
  const { text } = sheet.queries[query];
  if (sheet.groups) return fill(texts.token_row, { head: h("b", {}, text), token: strong(sheet.name) });
  const other = sheet.others[query]?.text || "\u2026";
  const values = {
    query: strong(text),
    next: tokenElement(other),
    input: tokenElement(other),
    unit: unitName(sheet, texts),
  };
  return fill(texts[`readout_${sheet.kind}`], values);
}

/**
 * "token" or "word".
 * @param {{ unit: string }} view
 * @param {ExplorerTexts} texts
 */
export function unitName({ unit }, texts) {
  return unit === "words" ? texts.unit_word : texts.unit_token;
}

/** @param {string} text */
const strong = (text) => tokenElement(text, "b", { class: "token" });

/**
 * The cell of the keyboard for the ear: "head 3.5, 'Hund' to 'dog', 0.81". The pointer says nothing. Of a query or a key
 * alone its strongest link is named.
 * @param {Picture} picture
 * @param {Cursor | null} cursor
 * @param {ExplorerTexts} texts
 */
export function spoken(picture, cursor, texts) {
  if (!cursor?.spoken) return "";
  const { sheet } = picture;
  const query = cursor.query ?? picture.admirer(cursor.key ?? -1);
  const key = cursor.key ?? (query < 0 ? -1 : picture.favourite(query));
  /**
   * @param {Position[]} positions
   * @param {number} index
   */
  const text = (positions, index) => (index < 0 ? "\u2013" : positions[index].text);
  const none = query < 0 || key < 0 || picture.forbidden(query, key);
  const weight = none ? nothing(picture, Math.max(0, query), texts) : sheet.at(query, key).toFixed(2);
  const [from, to] = [text(sheet.queries, query), text(sheet.keys, key)];
  const mean = meanName(sheet, texts);
  if (mean) return fillText(texts.mean_spoken, { mean, query: from, key: to, weight });
  if (!sheet.groups) return fillText(texts.spoken, { head: sheet.name, query: from, key: to, weight });
  const [looking, seen] = sheet.received ? [to, sheet.name] : [sheet.name, to];
  return fillText(texts.spoken, { head: from, query: looking, key: seen, weight });
}
