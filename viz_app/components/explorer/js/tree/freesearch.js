// What the paper's search, which allows any sequence of tokens, makes of a sentence of a parser that allows only trees.

import { h } from "../../../common/page/dom.js";
import { findings } from "../cards/findings.js";
import { nameChanges, nameRepairs } from "./treechanges.js";
import { spansOf, treeDifference } from "./treelayout.js";

export class FreeSearch {
  element = h("p", { class: "tree-free", hidden: true });
  /** @type {unknown[]} */
  shown = [];

  /**
   * @param {Translation} translation
   * @param {ExplorerTexts} texts
   */
  update({ tree, about, key }, texts) {
    const { free } = findings(key);
    const freeTree = free && tree && free.source === about?.source && free.model === about?.model ? free : null;
    if ([freeTree, tree, texts].every((each, index) => each === this.shown[index])) return;
    this.shown = [freeTree, tree, texts];
    this.element.hidden = !tree?.constrained;
    if (!tree?.constrained) return;
    const name = h("span", {}, texts.tree_free);
    if (!freeTree) return this.element.replaceChildren(name, " \u2026"); // so that nothing moves when it comes
    const changes = nameChanges(tree.words, treeDifference(spansOf(tree), freeTree.nodes), texts);
    const repairs = nameRepairs(freeTree.repairs, texts);
    const same = repairs || changes.length ? repairs : texts.tree_free_same;
    this.element.replaceChildren(name, " ", h("span", {}, same), ...changes);
  }
}
