// Trees in words: what one has and another has not, and what had to be repaired.

import { h, tokenElement } from "../../../common/page/dom.js";
import { fillText } from "../../../common/text/format.js";
import { phrase } from "./treelayout.js";

const MAX = 3; // constituents named of each side

/**
 * "− NP the red car  + VP saw the red car"
 * @param {string[]} words
 * @param {{ gone: [string, number, number][], come: [string, number, number][] }} difference
 * @param {ExplorerTexts} texts
 */
export function nameChanges(words, { gone, come }, texts) {
  /** @type {(sign: string, nodes: [string, number, number][], name: string) => Node[]} */
  const named = (sign, list, name) =>
    list.slice(0, MAX).map(([label, begin, end]) => {
      const spoken = `${name} ${label}: ${phrase(words, begin, end)}`;
      const parts = [h("b", {}, `${sign} ${label} `), tokenElement(phrase(words, begin, end))];
      return h("span", { class: "tree-change", title: spoken }, ...parts);
    });
  const changes = [...named("\u2212", gone, texts.tree_without), ...named("+", come, texts.tree_with)];
  if (gone.length > MAX || come.length > MAX) changes.push(h("span", {}, "\u2026"));
  return changes;
}

/**
 * "2 missing words added. 1 open constituent closed at the end."
 * @param {Record<string, number>} repairs
 * @param {ExplorerTexts} texts
 */
export function nameRepairs(repairs, texts) {
  return Object.entries(repairs)
    .map(([name, count]) => fillText(texts[`tree_${name}`], { count }))
    .join(" ");
}
