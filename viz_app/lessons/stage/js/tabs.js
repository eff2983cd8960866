// The scenes of a lesson as a row of tabs, each with its number and its name.

import { h, setAttribute } from "../../../components/common/page/dom.js";
import { fadeTabs, fitTabs } from "./fitting.js";

const PEEK = 44; // pixels of the neighbour that stay in sight

export class Tabs {
  /** @type {HTMLButtonElement[]} */
  buttons = [];
  selected = 0;

  /** @param {(name: string) => void} open */
  constructor(open) {
    this.open = open;
    this.element = h("div", { class: "tabs", role: "tablist" });
    this.legend = h("span", { class: "legend", "aria-hidden": true }); // each tab says it in its label
    this.element.addEventListener("scroll", () => fadeTabs(this.element), { passive: true });
  }

  /**
   * @param {SceneWords[]} scenes
   * @param {Texts} texts
   * @param {(name: string) => boolean} isFurther
   */
  build(scenes, texts, isFurther) {
    this.buttons = scenes.map(({ name, title, tab }, index) => {
      const mark = isFurther(name) ? ` (${texts.further})` : "";
      const label = (title.includes(tab) ? title : `${tab}: ${title}`) + mark;
      const look = { class: mark ? "tab further" : "tab", title: title + mark };
      return h(
        "button",
        { role: "tab", ...look, "aria-label": label, "data-scene": name, click: () => this.open(name) },
        h("span", { class: "count" }, String(index + 1)),
        h("span", { class: "tab-title" }, tab),
      );
    });
    this.element.replaceChildren(...this.buttons);
    this.legend.textContent = scenes.some(({ name }) => isFurther(name)) ? texts.further_legend : "";
    setAttribute(this.element, "aria-label", texts.scenes);
  }

  /**
   * Marks a tab.
   * @param {number} selected
   */
  select(selected) {
    this.selected = selected;
    this.buttons.forEach((button, index) => {
      setAttribute(button, "aria-selected", index === selected);
      button.tabIndex = index === selected ? 0 : -1;
    });
    this.fit();
  }

  /** Fits the row into its width, with the marked tab and a part of its neighbours in sight. */
  fit() {
    fitTabs(this.element);
    const marked = this.buttons[this.selected];
    if (!marked) return;
    const { clientWidth, scrollLeft } = this.element;
    const start = marked.offsetLeft - this.element.offsetLeft;
    const end = start + marked.offsetWidth;
    this.element.scrollLeft = Math.min(start - PEEK, Math.max(scrollLeft, end + PEEK - clientWidth));
    fadeTabs(this.element);
  }
}
