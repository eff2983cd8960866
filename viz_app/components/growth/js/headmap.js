// The chosen head as a large map; the cell under the pointer or of the arrow keys tells its weight.

import { fill, h, tokenElement } from "../../common/page/dom.js";
import { decimals, fillText, headName } from "../../common/text/format.js";
import { LargeMap } from "../../explorer/js/draw/map.js";
import { PLAIN } from "../../explorer/js/draw/paint.js";
import { isCell, Picture } from "../../explorer/js/draw/picture.js";

const HEIGHT = 380; // pixels that the map keeps to

export class HeadMap {
  /** @type {Picture} */
  picture;
  /** @type {GrowthTexts} */
  texts;
  /** @type {Cursor | null} */
  cursor = null;

  constructor() {
    this.title = h("h3", {});
    this.axes = h("p", { class: "note" });
    this.map = new LargeMap({ cursor: () => this.cursor, move: (cursor) => this.move(cursor), pick: () => {} });
    this.readout = h("p", { class: "readout", "aria-live": "polite" });
    this.element = h("div", { class: "large" }, this.title, this.axes, this.map.element, this.readout);
  }

  /**
   * @param {TrainingHistory} history
   * @param {GrowthState} state
   * @param {Theme} theme
   */
  update(history, state, theme) {
    const { kind, layer, head } = state;
    const { texts } = history;
    this.texts = texts;
    this.picture = new Picture(history.view(state).sheet(layer, head), { ...PLAIN, pin: null });
    const { rows, columns } = this.picture;
    if (isCell(this.cursor) && (this.cursor.query >= rows.length || this.cursor.key >= columns.length))
      this.cursor = null;
    this.title.textContent = fillText(texts.title_head, { kind: texts[`kind_${kind}`], head: headName(layer, head) });
    this.axes.textContent = `${texts[`query_${kind}`]} ↓ · ${texts[`key_${kind}`]} →`;
    this.map.show(this.picture, theme, `${this.title.textContent}. ${this.axes.textContent}. ${texts.point}`);
    this.map.layout(this.element.clientWidth, HEIGHT, HEIGHT);
    this.map.draw();
    this.readOut();
  }

  /** @param {Cursor | null} cursor */
  move(cursor) {
    this.cursor = cursor;
    this.map.draw();
    this.readOut();
  }

  readOut() {
    const { picture, cursor, texts } = this;
    if (!isCell(cursor)) return this.readout.replaceChildren(texts.point);
    const { query, key } = cursor;
    const { sheet } = picture;
    const weight = picture.forbidden(query, key) ? texts.masked : decimals(sheet.at(query, key));
    const values = {
      query: tokenElement(sheet.queries[query].text, "b"),
      key: tokenElement(sheet.keys[key].text, "b"),
      weight: h("b", { class: "value" }, weight),
    };
    this.readout.replaceChildren(fill(texts.cell, values));
  }
}
