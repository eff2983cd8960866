// All heads of one kind as small maps: rows are layers. A head is chosen by a click or with the arrow keys.

import { resize } from "../../common/draw/canvas.js";
import { byLayer, headRows } from "../../common/heads/headrows.js";
import { allHeads } from "../../common/heads/heads.js";
import { RovingFocus } from "../../common/page/arrowkeys.js";
import { h, setAttribute } from "../../common/page/dom.js";
import { fillText, percent } from "../../common/text/format.js";
import { Look, PLAIN, paintHead } from "../../explorer/js/draw/paint.js";

const SMALL = 60; // pixels from which on maps of many heads are flattened, so that all fit into a window

/** @typedef {ReturnType<HeadTiles["tile"]>} HeadTile */

export class HeadTiles {
  /** @type {HeadTile[]} */
  tiles = [];

  /** @param {(layer: number, head: number) => void} choose */
  constructor(choose) {
    this.choose = choose;
    this.element = h("div", { class: "heads", role: "grid" });
    this.focus = new RovingFocus(this.element, { ownRow: true, moved: (button) => button.click() });
  }

  /** @param {TrainingHistory} history */
  build({ header, texts }) {
    const { layers, heads } = header;
    this.tiles = allHeads(layers, heads, ["cross"]).map((head) => this.tile(head));
    const buttons = this.tiles.map(({ button }) => button);
    const layerName = (/** @type {number} */ layer) => fillText(texts.layer, { layer: layer + 1 });
    this.element.style.setProperty("--heads", String(heads));
    this.element.replaceChildren(...headRows(buttons, heads, { layerName, numbered: false }));
    this.focus.arrange(byLayer(buttons, heads));
  }

  /** @param {Head} place */
  tile({ layer, head, name }) {
    const canvas = h("canvas", { "aria-hidden": "true" });
    const role = h("span", { class: "job" });
    const under = h("span", { class: "under" }, h("span", { class: "title" }, name), role);
    const click = () => this.choose(layer, head);
    const button = h("button", { class: "tile", role: "gridcell", click }, canvas, under);
    return { layer, head, name, canvas, role, button };
  }

  /**
   * @param {TrainingHistory} history
   * @param {GrowthState} state
   * @param {Theme} theme
   */
  update(history, state, theme) {
    const { texts } = history;
    const kind = texts[`kind_${state.kind}`];
    const view = history.view(state);
    const look = new Look(view, PLAIN, theme);
    setAttribute(this.element, "aria-label", kind);
    for (const tile of this.tiles) {
      const { layer, head, name, button } = tile;
      const { width, height } = this.size(button, view, history.many);
      paintHead(resize(tile.canvas, width, height), view, layer, head, look);
      const found = history.role({ ...state, layer, head });
      const role = found ? fillText(texts.job, { role: texts[`role_${found.role}`], share: percent(found.share) }) : "";
      tile.role.textContent = role;
      button.classList.toggle("has-job", Boolean(role));
      const selected = layer === state.layer && head === state.head;
      setAttribute(button, "aria-selected", String(selected));
      setAttribute(button, "aria-label", fillText(texts.tile, { kind, head: name, job: role || texts.no_job }));
      if (selected) this.focus.reach(button);
    }
  }

  /**
   * @param {HTMLElement} button
   * @param {View} view
   * @param {boolean} many
   */
  size(button, { queries, keys }, many) {
    const width = Math.max(many ? 20 : 40, Math.floor(button.clientWidth - (many ? 4 : 8)));
    const highest = many && width > SMALL ? 0.66 : 1.4; // heights, as shares of the width
    return { width, height: Math.round(Math.min(highest, Math.max(0.6, queries.length / keys.length)) * width) };
  }
}
