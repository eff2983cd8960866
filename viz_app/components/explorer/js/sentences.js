// What the pictures say in words: the caption of a head, the readout of a cell, the line for screen readers.

import { fill, h, tokenElement } from "../../common/page/dom.js";
import { decimals, fillText, percent } from "../../common/text/format.js";

/** @param {string} text */
const emphasised = (text) => tokenElement(text, "em");

// The same in figures/captions.py:
const NEARLY = 0.1; // weights that differ by less are about as telling
const SHORT = 3; // letters at most of a word that rarely carries meaning

/**
 * Of a matrix that is a mean: "layer" or "all"; null for a head and for anything else.
 * @param {LabelledMatrix} matrix
 */
function meanOf({ name, groups }) {
  if (groups) return null;
  if (!name.endsWith(".mean")) return null;
  return name.split(".").length === 2 ? "all" : "layer";
}

/**
 * "Mean of the 8 heads of layer 4"; empty when the matrix is no mean.
 * @param {LabelledMatrix} matrix
 * @param {ExplorerTexts} texts
 */
export function meanName(matrix, texts) {
  const mean = meanOf(matrix);
  if (!mean) return "";
  const { layers, heads } = matrix.view;
  return fillText(texts[`mean_${mean}`], {
    layer: matrix.name.split(".")[1],
    count: mean === "all" ? layers * heads : heads,
  });
}

/**
 * "Encoder-decoder attention, head cross.4.6", or of a token in all heads.
 * @param {LabelledMatrix} matrix
 * @param {ExplorerTexts} texts
 */
export function title(matrix, texts) {
  const kind = texts[`kind_${matrix.kind}`];
  if (matrix.groups) return fillText(texts.token_title, { kind, token: matrix.name });
  const mean = meanName(matrix, texts);
  return mean ? `${kind}, ${mean}` : fillText(texts.title, { kind, head: matrix.name });
}

/**
 * "Writing *Hund*, head cross.4.6 looked 81 % at *dog*": the pinned row, that of the current step, or the most telling one.
 * @param {Picture} picture
 * @param {ExplorerTexts} texts
 */
export function caption(picture, texts) {
  const { matrix } = picture;
  if (matrix.groups) return tokenCaption(picture, texts);
  const pinned = picture.pin?.query ?? -1;
  const query = picture.rows.slice(0, picture.written).includes(pinned)
    ? pinned
    : (picture.current ?? tellingRow(picture));
  if (query === null) return document.createTextNode("");
  const key = picture.favourite(query);
  if (key < 0) return blindNote(picture, query, texts);
  const mean = meanName(matrix, texts);
  return fill(mean ? texts.mean_caption : texts[`caption_${matrix.kind}`], {
    mean,
    query: emphasised(matrix.queries[query].text),
    next: emphasised(matrix.others[query]?.text || "\u2026"),
    key: emphasised(matrix.keys[key].text),
    head: matrix.name,
    weight: percent(matrix.at(query, key)),
  });
}

/**
 * "*Hund* in all heads: head cross.4.6 looks most sharply, 81 % at *dog*."
 * @param {Picture} picture
 * @param {ExplorerTexts} texts
 */
function tokenCaption(picture, texts) {
  const { matrix } = picture;
  const name = emphasised(matrix.name);
  if (!picture.written) return fill(texts.token_unwritten, { token: name });
  const best = picture.strongest();
  if (!best) return fill(texts.blind_caption, { query: name });
  return fill(matrix.received ? texts.token_caption_key : texts.token_caption_query, {
    token: name,
    head: `${matrix.kind}.${matrix.queries[best[0]].text}`,
    other: emphasised(matrix.keys[best[1]].text),
    weight: percent(matrix.at(...best)),
  });
}

/**
 * @param {Picture} picture
 * @param {number} query
 * @param {ExplorerTexts} texts
 */
function blindNote(picture, query, texts) {
  if (!picture.blind(query)) return document.createTextNode("");
  return fill(texts.blind_caption, { query: emphasised(picture.matrix.queries[query].text) });
}

/**
 * The row of the most telling link, text on text: of encoder-decoder attention that of a whole word of some length that
 * is not copied, if there is any. Of links with nearly the largest weight it is the one of the longest query.
 * @param {Picture} picture
 */
export function tellingRow(picture) {
  const { matrix } = picture;
  const rows = [];
  for (const query of picture.rows.slice(0, picture.written)) {
    const { text, special } = matrix.queries[query];
    const key = picture.favourite(query, (position) => !position.special);
    if (special || key < 0) continue;
    const length = [...text].length;
    const fresh = matrix.kind !== "cross" || text.toLowerCase() !== matrix.keys[key].text.toLowerCase();
    const whole = length > SHORT && isWord(matrix, query) && key === picture.favourite(query);
    const rank = Number(fresh) + Number(fresh && whole && matrix.kind === "cross");
    rows.push({ query, weight: matrix.at(query, key), length, rank });
  }
  if (!rows.length) return picture.written ? picture.rows[0] : null;
  const first = Math.max(...rows.map(({ rank }) => rank));
  const best = rows.filter(({ rank }) => rank === first);
  const most = Math.max(...best.map(({ weight }) => weight));
  const near = best.filter(({ weight }) => weight > most - NEARLY);
  return near.reduce((longest, row) => (row.length > longest.length ? row : longest)).query;
}

/**
 * Whether a query is a word, and no part of one.
 * @param {LabelledMatrix} matrix
 * @param {number} query
 */
function isWord({ queries, unit }, query) {
  const next = queries[query + 1];
  const ends = !next || next.start || next.special || !/[\p{L}\p{N}]/u.test(next.text);
  return unit === "words" || (queries[query].start && ends);
}

/**
 * "Hund looks at dog, 0.812" for the eye, with the sum of its row.
 * @param {Picture} picture
 * @param {Cell} cell
 * @param {ExplorerTexts} texts
 */
export function readout(picture, { query, key }, texts) {
  const { matrix } = picture;
  const masked = picture.forbidden(query, key);
  const [row, column] = [matrix.queries[query].text, matrix.keys[key].text];
  const [looking, seen] = matrix.received ? [column, matrix.name] : [matrix.groups ? matrix.name : row, column];
  const line = fill(texts.cell, {
    query: strong(looking),
    key: strong(seen),
    weight: masked ? nothing(picture, query, texts) : h("b", { class: "value" }, decimals(matrix.at(query, key))),
  });
  const head = matrix.groups ? h("b", {}, `${matrix.kind}.${row} `) : "";
  return [h("span", {}, head, line), h("span", { class: "note" }, rowSum(picture, query, texts))];
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
  if (picture.matrix.received) return fill(texts.token_received, { sum });
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
 * The cell of the keyboard for the ear: "head cross.3.5, 'Hund' to 'dog', 0.81". The pointer says nothing. Of a query or a key
 * alone its strongest link is named.
 * @param {Picture} picture
 * @param {Cursor | null} cursor
 * @param {ExplorerTexts} texts
 */
export function spoken(picture, cursor, texts) {
  if (!cursor?.spoken) return "";
  const { matrix } = picture;
  const query = cursor.query ?? picture.admirer(cursor.key ?? -1);
  const key = cursor.key ?? (query < 0 ? -1 : picture.favourite(query));
  /**
   * @param {Position[]} positions
   * @param {number} index
   */
  const text = (positions, index) => (index < 0 ? "\u2013" : positions[index].text);
  const none = query < 0 || key < 0 || picture.forbidden(query, key);
  const weight = none ? nothing(picture, Math.max(0, query), texts) : matrix.at(query, key).toFixed(2);
  const [from, to] = [text(matrix.queries, query), text(matrix.keys, key)];
  const mean = meanName(matrix, texts);
  if (mean) return fillText(texts.mean_spoken, { mean, query: from, key: to, weight });
  if (!matrix.groups) return fillText(texts.spoken, { head: matrix.name, query: from, key: to, weight });
  const [looking, seen] = matrix.received ? [to, matrix.name] : [matrix.name, to];
  return fillText(texts.spoken, { head: `${matrix.kind}.${from}`, query: looking, key: seen, weight });
}
