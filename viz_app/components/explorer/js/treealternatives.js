// The other trees of the search, as what they have and the shown one has not.

import { fillText, h, setAttribute, token } from "../../common/dom.js";
import { phrase, treeDifference } from "./treelayout.js";

const MOST = 3; // trees
const MOST_NODES = 3; // constituents named of each side

export class TreeAlternatives {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.title = h("h3", { class: "beam-title" });
    this.none = h("p", { class: "note" });
    this.list = h("ul", { class: "tree-others" });
    this.element = h("div", { class: "tree-alternatives", hidden: true }, this.title, this.none, this.list);
  }

  /**
   * @param {TreeData} data
   * @param {Texts} texts
   */
  build({ words, nodes, others }, texts) {
    /** @type {[string, number, number][]} */
    const own = nodes.map(({ label, begin, end }) => [label, begin, end]);
    const different = others
      .map((other) => ({ ...other, ...treeDifference(own, other.nodes) }))
      .filter(({ gone, come }) => gone.length || come.length);
    this.element.hidden = !others.length;
    this.title.textContent = texts.tree_others;
    this.none.hidden = different.length > 0;
    this.none.textContent = texts.tree_no_others;
    /** @type {(sign: string, nodes: [string, number, number][], label: string) => Node[]} */
    const named = (sign, list, name) =>
      list.slice(0, MOST_NODES).map(([label, begin, end]) => {
        const spoken = `${name} ${label}: ${phrase(words, begin, end)}`;
        const parts = [h("b", {}, `${sign} ${label} `), token(phrase(words, begin, end))];
        return h("span", { class: "tree-change", title: spoken }, ...parts);
      });
    this.list.replaceChildren(
      ...different.slice(0, MOST).map(({ branch, gone, come }) => {
        const rank = fillText(texts.tree_rank, { rank: branch + 1 });
        const changes = [...named("\u2212", gone, texts.tree_without), ...named("+", come, texts.tree_with)];
        const attributes = { class: "tree-other", "data-branch": branch, click: () => this.store.set({ branch }) };
        if (gone.length > MOST_NODES || come.length > MOST_NODES) changes.push(h("span", {}, "\u2026"));
        return h("li", {}, h("button", attributes, h("span", { class: "tree-rank" }, rank), ...changes));
      }),
    );
  }

  /** @param {State} state */
  update({ branch }) {
    for (const button of this.list.querySelectorAll("button"))
      setAttribute(button, "aria-current", String(Number(button.dataset.branch) === branch));
  }
}
