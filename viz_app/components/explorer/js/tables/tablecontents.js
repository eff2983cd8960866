// What the tables of the explorer hold: the weights of a picture, the difference of two heads, the heads by a measure, the
// branches of a search.

import { headAddress } from "../../../common/heads/heads.js";
import { h, tokenElement } from "../../../common/page/dom.js";
import { decimals, fillText, signed } from "../../../common/text/format.js";
import { plus } from "../data/difference.js";

const MAX_WEIGHTS = 900; // cells of a page
const MAX_DIFFERENCES = 600;
const HEADS = 48; // rows of a page
const BRANCHES = 12;

/** @typedef {import("./table.js").TableContent} TableContent */

/**
 * @param {Picture} picture
 * @param {string} title
 * @param {ExplorerTexts} texts
 * @param {string} [corner] What stands above the names of the rows; queries and keys when it is not given.
 * @returns {TableContent}
 */
export function weightTable(picture, title, texts, corner = axes(texts)) {
  const { matrix, rows, written, existing } = picture;
  const keys = picture.columns.slice(0, existing);
  /** @param {number} row */
  const cells = (row) => {
    const query = rows[row];
    const reason = picture.blind(query) ? texts.blind : texts.masked;
    const values = keys.map((key) =>
      picture.forbidden(query, key) ? nothing(reason) : h("td", {}, decimals(matrix.at(query, key))),
    );
    return [h("th", { scope: "row" }, tokenElement(matrix.queries[query].text)), ...values];
  };
  const columns = [corner, ...keys.map((key) => tokenElement(matrix.keys[key].text))];
  const perPage = Math.max(1, Math.floor(MAX_WEIGHTS / (existing + 1)));
  return { texts, label: texts.table, title, columns, count: written, perPage, cells };
}

/**
 * @param {Difference} difference
 * @param {Picture} picture Of the rows and columns that are shown.
 * @param {string} title
 * @param {ExplorerTexts} texts
 * @returns {TableContent}
 */
export function differenceTable(difference, picture, title, texts) {
  const { queries, keys } = difference.b;
  const columns = picture.columns.slice(0, picture.existing);
  /** @param {number} row */
  const cells = (row) => {
    const query = picture.rows[row];
    const values = columns.map((key) => {
      const value = difference.at(query, key);
      return value === null ? nothing(texts.compare_nothing) : h("td", {}, plus(value, 3));
    });
    return [h("th", { scope: "row" }, tokenElement(queries[query].text)), ...values];
  };
  return {
    texts,
    label: texts.compare_table,
    title,
    columns: [axes(texts), ...columns.map((key) => tokenElement(keys[key].text))],
    count: picture.written,
    perPage: Math.max(1, Math.floor(MAX_DIFFERENCES / (columns.length + 1))),
    cells,
  };
}

/**
 * The heads that pass a filter by a measure, each with its role and, of a head atlas, interval and baseline.
 * @param {Measures} measures
 * @param {{
 *   order: string,
 *   only: string | null,
 *   kinds: Kind[],
 *   title: string,
 *   open: (head: { kind: Kind, layer: number, head: number }) => void,
 * }} state
 * @param {ExplorerTexts} texts
 * @returns {TableContent}
 */
export function headTable(measures, { order, only, kinds, title, open }, texts) {
  const heads = measures.ranked(order, kinds, only);
  const { roles } = measures;
  const atlas = roles.measures[order];
  const measured = atlas && Object.values(atlas.kinds).some(({ low }) => low);
  const number = (/** @type {string} */ text) => h("td", { class: "number" }, text);
  /** @param {number} row */
  const cells = (row) => {
    const { kind, index } = heads[row];
    const count = measures.translation.kinds[kind].heads;
    const place = { kind, layer: Math.floor(index / count), head: index % count };
    const button = h("button", { class: "head-link", "data-row": row, click: () => open(place) }, headAddress(place));
    const { low, high, baseline } = atlas?.kinds[kind] ?? {};
    const [from, to, least] = [low, high, baseline].map((values) => measures.format(order, values?.[index] ?? null));
    return [
      number(String(row + 1)),
      h("th", { scope: "row" }, button),
      h("td", { class: "head-words" }, roles.words(kind, place.layer, place.head)),
      ...(order === "layer" ? [] : [number(measures.text(order, kind, index))]),
      ...(measured ? [number(fillText(texts.list_from_to, { from, to })), number(least)] : []),
    ];
  };
  const name = atlas ? `${atlas.label} (${atlas.unit})` : texts[`order_${order}`];
  const columns = [
    "",
    texts.list_head,
    texts.list_role,
    ...(order === "layer" ? [] : [name]),
    ...(measured ? [texts.list_interval, texts.list_baseline] : []),
  ];
  return { texts, label: texts.list, title, columns, count: heads.length, perPage: HEADS, cells };
}

/**
 * The branches of a search: the tree for readers who do not see it.
 * @param {Search} search
 * @param {{ alpha: number, shown: number, language: string, open: (branch: number) => void }} state
 * @param {ExplorerTexts} texts
 * @returns {TableContent}
 */
export function branchTable(search, { alpha, shown, language, open }, texts) {
  /** @param {number} branch */
  const cells = (branch) => {
    const node = search.leaves[branch];
    const number = String(branch + 1);
    const attributes = {
      class: "plain",
      "aria-label": fillText(texts.beam_open, { branch: branch + 1 }),
      "aria-pressed": String(branch === shown),
      "data-row": branch,
      click: () => open(branch),
    };
    return [
      h("th", { scope: "row" }, search.open.has(branch) ? h("button", attributes, number) : number),
      h("td", { class: "beam-cell" }, tokenElement(search.text(node) || "\u2205", "bdi", { lang: language })),
      h("td", {}, texts[`beam_end_${search.fate(branch)}`]),
      h("td", {}, String(search.step[node])),
      h("td", {}, signed(search.total[node], 3)),
      h("td", {}, signed(search.score(node, alpha), 3)),
    ];
  };
  const names = ["branch", "text", "end", "length", "total", "score"];
  const columns = names.map((name) => texts[`beam_column_${name}`]);
  const [label, count] = [texts.beam_all, search.leaves.length];
  return { texts, label, title: label, columns, count, perPage: BRANCHES, cells };
}

/** @param {ExplorerTexts} texts */
const axes = (texts) => `${texts.query} \u2193 ${texts.key} \u2192`;

/**
 * A cell without a number.
 * @param {string} reason
 */
const nothing = (reason) => h("td", { class: "masked", "aria-label": reason }, "\u2013");
