// All heads of one kind as small pictures: rows are layers. A head is chosen by a click or with the arrow keys.

import { blank } from "../../common/draw/canvas.js";
import { h, setAttribute } from "../../common/page/dom.js";
import { ARROWS, hasModifier } from "../../common/page/keyboard.js";
import { fillText, headName, percent } from "../../common/text/format.js";
import { drawCells } from "./cells.js";

const SMALL = 60; // pixels from which on pictures of many heads are flattened, so that all fit into a window

/** @typedef {{ layer: number, head: number, canvas: HTMLCanvasElement, job: HTMLElement, button: HTMLButtonElement }} HeadTile */

export class Heads {
  /** @type {GrowthHistory} */
  history;

  /** @type {HeadTile[]} */
  tiles = [];

  /** @param {(layer: number, head: number) => void} choose */
  constructor(choose) {
    this.choose = choose;
    this.element = h("div", { class: "heads", role: "group", keydown: (event) => this.key(event) });
  }

  /**
   * @param {GrowthHistory} history
   * @param {Texts} texts
   */
  build(history, texts) {
    this.history = history;
    this.tiles = Array.from({ length: history.layers * history.heads }, (_, index) =>
      this.tile(Math.floor(index / history.heads), index % history.heads),
    );
    const rows = Array.from({ length: history.layers }, (_, layer) => {
      const buttons = this.tiles.filter((tile) => tile.layer === layer).map(({ button }) => button);
      const name = h("span", { class: "name" }, fillText(texts.layer, { layer: layer + 1 }));
      return h("div", { class: "row" }, name, h("div", { class: "of-layer" }, ...buttons));
    });
    this.element.replaceChildren(...rows);
  }

  /**
   * @param {number} layer
   * @param {number} head
   */
  tile(layer, head) {
    const canvas = h("canvas", { "aria-hidden": "true" });
    const job = h("span", { class: "job" });
    const title = h("span", { class: "title" }, headName(layer, head));
    const button = h(
      "button",
      { class: "tile", click: () => this.choose(layer, head) },
      canvas,
      h("span", { class: "under" }, title, job),
    );
    return { layer, head, canvas, job, button };
  }

  /**
   * @param {GrowthHistory} history
   * @param {GrowthState} state
   * @param {Theme} theme
   * @param {Texts} texts
   */
  update(history, state, theme, texts) {
    const kind = texts[`kind_${state.kind}`];
    setAttribute(this.element, "aria-label", kind);
    for (const tile of this.tiles) {
      const { layer, head, button } = tile;
      this.draw(tile, history.map(state.sentence, state.kind, state.moment, layer, head), theme);
      const found = history.job(state.kind, state.moment, layer, head);
      const job = found ? fillText(texts.job, { role: texts[`role_${found.role}`], share: percent(found.share) }) : "";
      tile.job.textContent = job;
      button.classList.toggle("has-job", Boolean(job));
      const selected = layer === state.layer && head === state.head;
      setAttribute(button, "aria-pressed", selected);
      setAttribute(button, "tabindex", selected ? 0 : -1);
      const values = { kind, head: headName(layer, head), job: job || texts.no_job };
      setAttribute(button, "aria-label", fillText(texts.tile, values));
    }
  }

  /**
   * @param {HeadTile} tile
   * @param {GrowthMap} map
   * @param {Theme} theme
   */
  draw({ canvas, button }, map, theme) {
    const { many } = this.history;
    const width = Math.max(many ? 20 : 40, Math.floor(button.clientWidth - (many ? 4 : 8)));
    const highest = many && width > SMALL ? 0.66 : 1.4; // heights, as shares of the width
    const height = Math.round(Math.min(highest, Math.max(0.6, map.queries.length / map.keys.length)) * width);
    drawCells(blank(canvas, width, height), map, theme, 0, 0, width, height);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (hasModifier(event)) return;
    const { heads } = this.history;
    const from = this.tiles.findIndex(({ button }) => button.getAttribute("aria-pressed") === "true");
    const last = this.tiles.length - 1;
    const [down, right] = ARROWS[event.key] ?? [];
    const to = event.key in ARROWS ? from + down * heads + right : { Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0 || to > last) return;
    const { layer, head, button } = this.tiles[to];
    this.choose(layer, head);
    button.focus();
  }
}
