// The other trees of the search, as what they have and the shown one has not.

import { h, setAttribute } from "../../../common/page/dom.js";
import { fillText } from "../../../common/text/format.js";
import { nameChanges } from "./treechanges.js";
import { spansOf, treeDifference } from "./treelayout.js";

const MAX = 3; // trees

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
   * @param {ExplorerTexts} texts
   * @param {number[]} [open] Branches whose maps can be shown; all unless given.
   */
  build(data, texts, open) {
    const { words, others } = data;
    const own = spansOf(data);
    const different = others
      .map((other) => ({ ...other, ...treeDifference(own, other.nodes) }))
      .filter(({ gone, come }) => gone.length || come.length);
    this.element.hidden = !others.length;
    this.title.textContent = texts.tree_others;
    this.none.hidden = different.length > 0;
    this.none.textContent = texts.tree_no_others;
    this.list.replaceChildren(
      ...different.slice(0, MAX).map(({ branch, ...difference }) => {
        const rank = fillText(texts.tree_rank, { rank: branch + 1 });
        const changes = nameChanges(words, difference, texts);
        const attributes = { class: "tree-other", "data-branch": branch, click: () => this.store.set({ branch }) };
        const disabled = open && !open.includes(branch);
        return h(
          "li",
          {},
          h("button", { ...attributes, disabled }, h("span", { class: "tree-rank" }, rank), ...changes),
        );
      }),
    );
  }

  /** @param {State} state */
  update({ branch }) {
    for (const button of this.list.querySelectorAll("button"))
      setAttribute(button, "aria-current", String(Number(button.dataset.branch) === branch));
  }
}
