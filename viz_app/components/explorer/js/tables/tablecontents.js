// What the tables of the explorer hold: the weights of a picture, the difference of two heads, the branches of a search.

import { h, tokenElement } from "../../../common/page/dom.js";
import { decimals, fillText, signed } from "../../../common/text/format.js";
import { plus } from "../data/difference.js";

const MAX_WEIGHTS = 900; // cells of a page
const MAX_DIFFERENCES = 600;
const BRANCHES = 12; // rows of a page

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
