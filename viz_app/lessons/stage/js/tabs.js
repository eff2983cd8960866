// The scenes of a lesson as a row of tabs.

import { h, setAttribute } from "../../../components/common/dom.js";
import { fitTabs } from "./fitting.js";

export class Tabs {
  /** @type {HTMLButtonElement[]} */
  buttons = [];

  /** @param {(name: string) => void} open */
  constructor(open) {
    this.open = open;
    this.element = h("div", { class: "tabs", role: "tablist" });
  }

  /**
   * @param {SceneWords[]} scenes
   * @param {string} label
   */
  build(scenes, label) {
    this.buttons = scenes.map(({ name, title }, index) =>
      h(
        "button",
        { role: "tab", class: "tab", "aria-label": title, title, "data-scene": name, click: () => this.open(name) },
        h("span", { class: "count" }, String(index + 1)),
        h("span", { class: "tab-title" }, title),
      ),
    );
    this.element.replaceChildren(...this.buttons);
    setAttribute(this.element, "aria-label", label);
  }

  /**
   * Marks a tab and brings it into its row, where they do not all fit.
   * @param {number} selected
   */
  select(selected) {
    this.buttons.forEach((button, index) => {
      setAttribute(button, "aria-selected", index === selected);
      button.tabIndex = index === selected ? 0 : -1;
    });
    fitTabs(this.element);
    const { offsetLeft, offsetWidth } = this.buttons[selected];
    const { clientWidth, scrollLeft } = this.element;
    const start = offsetLeft - this.element.offsetLeft;
    this.element.scrollLeft = Math.min(start - 4, Math.max(scrollLeft, start + offsetWidth + 4 - clientWidth));
  }
}
