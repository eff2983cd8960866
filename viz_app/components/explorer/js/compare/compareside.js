// One of the maps that stand side by side, with what it shows.

import { h } from "../../../common/page/dom.js";
import { fillText } from "../../../common/text/format.js";
import { LargeMap } from "../draw/map.js";
import { isCell } from "../draw/picture.js";
import { unitName } from "../sentences.js";

export class Side {
  /**
   * @param {string} name
   * @param {import("./compare.js").Compare} compare
   */
  constructor(name, compare) {
    this.compare = compare;
    this.title = h("figcaption");
    const hand = {
      cursor: () => compare.cursors[name] ?? null,
      /** @param {Cursor | null} cursor */
      move: (cursor) => compare.point(name, isCell(cursor) ? cursor : null),
      pick: () => {},
    };
    this.map = new LargeMap(hand, `side-map side-${name}`);
    this.element = h("figure", { class: "compare-side" }, this.title, this.map.element);
  }

  /**
   * @param {string} letter
   * @param {string} text
   * @param {Picture} picture
   * @param {Theme} theme
   */
  show(letter, text, picture, theme) {
    const { texts } = this.compare;
    const { sheet } = picture;
    const query = fillText(texts[`query_${sheet.kind}`], { unit: unitName(sheet, texts) });
    const axes = h("span", { class: "note side-axes" }, `\u2193 ${query}. \u2192 ${texts[`key_${sheet.kind}`]}.`);
    this.title.replaceChildren(h("b", {}, letter), ` ${text}`, axes);
    this.map.show(picture, theme, `${this.title.textContent}. ${texts.map_keys}`);
  }
}
