// The heads that were chosen, side by side: their maps and all their numbers.

import { h } from "../../common/page/dom.js";
import { fillText } from "../../common/text/format.js";
import { tableOf } from "../../common/text/tables.js";
import { showMap } from "./card.js";

export const MAX = 6; // heads side by side
const SIZE = 110; // CSS pixels of a map

export class Compared {
  /** @param {AtlasActions} actions */
  constructor(actions) {
    this.actions = actions;
    this.element = h("section", { class: "compared", hidden: true });
  }

  /**
   * @param {AtlasData} data
   * @param {AtlasState} state
   * @param {Theme} theme
   */
  update(data, state, theme) {
    const heads = state.chosen.flatMap((place) => data.byPlace.get(place) ?? []);
    this.element.hidden = !heads.length;
    if (!heads.length) return this.element.replaceChildren();
    const { texts, header } = data;
    const names = heads.map((head) => `${texts[`short_${head.kind}`]} ${head.name}`);
    const rows = [
      [h("th", { scope: "row" }, texts.role), ...heads.map((head) => h("td", {}, data.role(head)))],
      ...header.measures
        .filter((measure) => heads.some((head) => data.numbers(measure, head)))
        .map((measure) => [
          h("th", { scope: "row" }, measure.label),
          ...heads.map((head) => h("td", { class: "number" }, data.withInterval(measure, head))),
        ]),
    ];
    if (header.sentence)
      rows.unshift([h("th", { scope: "row" }, texts.map_row), ...heads.map((head) => this.map(data, head, theme))]);
    const clear = h("button", { class: "plain", click: () => this.actions.set({ chosen: [] }) }, texts.clear);
    const region = { class: "scroll", tabindex: "0", role: "region", "aria-label": texts.compare };
    this.element.replaceChildren(
      h("div", { class: "line" }, h("h4", {}, texts.compare), clear),
      h("div", region, tableOf(["", ...names], rows)),
      h("p", { class: "note" }, fillText(texts.compare_more, { most: MAX })),
    );
  }

  /**
   * @param {AtlasData} data
   * @param {Head} head
   * @param {Theme} theme
   */
  map(data, head, theme) {
    const canvas = h("canvas", { role: "img" });
    showMap(canvas, h("p"), data, head, theme, SIZE);
    return h("td", {}, canvas);
  }
}
