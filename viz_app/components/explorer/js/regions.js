// For those who do not see the page: a heading for the picture and for the heads, and the way to both past the controls.

import { h, setAttribute } from "../../common/page/dom.js";
import { fillText } from "../../common/text/format.js";

export class Regions {
  /** @param {import("./explorer.js").Explorer} explorer */
  constructor({ figure, overview }) {
    this.picture = h("h2", { class: "unseen" });
    this.heads = h("h2", { class: "unseen" });
    const places = [() => figure.shown.element, () => overview.tiles.element.querySelector(".tile[tabindex='0']")];
    this.skips = places.map((place) =>
      h("button", { class: "skip", click: () => /** @type {HTMLElement | null} */ (place())?.focus() }),
    );
    this.element = h("nav", {}, ...this.skips);
  }

  /**
   * @param {ExplorerTexts} texts
   * @param {string} heads Name of all of them.
   */
  label(texts, heads) {
    setAttribute(this.element, "aria-label", texts.skips);
    this.picture.textContent = texts.picture;
    this.heads.textContent = heads;
    [texts.picture, heads].forEach((name, at) => (this.skips[at].textContent = fillText(texts.skip, { name })));
  }
}
