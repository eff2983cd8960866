// The numbers of the flow as tables: the parts of every word, or the ways of one with their heads.

import { h, tokenElement } from "../../../common/page/dom.js";
import { signed } from "../../../common/text/format.js";
import { carrying, edgeAt, endsOf, partsOf } from "./flowparts.js";
import { partText } from "./flowwords.js";

const MAX_CELLS = 900;
const WAYS = 40; // rows of a page

/** @typedef {import("../tables/table.js").TableContent} TableContent */

/**
 * A row for each word: its logit and its parts, which sum to it.
 * @param {(FlowWord | null)[]} words
 * @param {import("./foldedplaces.js").Tokens} tokens
 * @param {ExplorerTexts} texts
 * @returns {TableContent}
 */
export function flowTable(words, tokens, texts) {
  const { source, outputs, first } = tokens;
  const inputs = [first, ...outputs.slice(0, -1)];
  const number = (/** @type {number | undefined} */ value) => h("td", {}, value === undefined ? "" : signed(value, 1));
  /** @param {number} row */
  const cells = (row) => {
    const word = words[row];
    const parts = new Map(word ? partsOf(word, row).map(({ name, value }) => [name, value]) : []);
    const names = [...source.map((_, i) => `s${i}`), ...inputs.map((_, i) => `i${i}`), "b"];
    return [
      h("th", { scope: "row" }, tokenElement(outputs[row].text)),
      number(word?.logit),
      ...names.map((name) => number(parts.get(name))),
    ];
  };
  const columns = [
    "",
    texts.flow_logit,
    ...[...source, ...inputs].map(({ text }) => tokenElement(text)),
    texts.flow_biases,
  ];
  const perPage = Math.max(1, Math.floor(MAX_CELLS / columns.length));
  return { texts, label: texts.table, title: texts.flow_title, columns, count: words.length, perPage, cells };
}

/**
 * The ways on the unfolded picture.
 * @param {FlowWord} word
 * @param {number} share
 * @param {{ tokens: import("./foldedplaces.js").Tokens, heads: (edge: import("./flowparts.js").Edge) => Node[] }} about
 * @param {ExplorerTexts} texts
 * @returns {TableContent}
 */
export function waysTable(word, share, { tokens, heads }, texts) {
  const { count } = carrying(word, share);
  /** @param {number} row */
  const cells = (row) => {
    const edge = edgeAt(word, row);
    const { kind, layer, flow } = edge;
    return [
      h("th", { scope: "row" }, `${kind}.${layer + 1}`),
      ...endsOf(edge).map((name) => h("td", {}, tokenElement(partText(name, tokens)))),
      h("td", {}, signed(flow, 2)),
      h("td", { class: "flow-heads" }, ...heads(edge)),
    ];
  };
  const columns = [texts.layer, texts.flow_from, texts.flow_to, texts.flow_column, texts.flow_heads];
  return { texts, label: texts.table, title: texts.flow_title, columns, count, perPage: WAYS, cells };
}
