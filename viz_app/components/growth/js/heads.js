// All heads of one kind as small pictures: rows are layers. A head is chosen by a click or with the arrow keys.

import { fillText, h, headName, percent, setAttribute } from "../../common/dom.js";
import { drawCells, sized } from "./cells.js";

const SMALL = 60; // pixels from which on pictures of many heads are flattened, so that all fit into a window

/** @type {Record<string, number>} */
const ACROSS = { ArrowRight: 1, ArrowLeft: -1 };
/** @type {Record<string, number>} */
const DOWN = { ArrowDown: 1, ArrowUp: -1 };

export class Heads {
  /** @type {GrowthHistory} */
  history;

  /** @param {any} choose */
  constructor(choose) {
    this.choose = choose;
    this.element = h("div", { class: "heads", role: "group", keydown: (event) => this.key(event) });
    /** @type {any[]} */
    this.tiles = [];
  }

  /**
   * @param {GrowthHistory} history
   * @param {Texts} texts
   */
  build(history, texts) {
    this.history = history;
    const rows = Array.from({ length: history.layers }, (_, layer) => {
      const tiles = Array.from({ length: history.heads }, (_, head) => this.tile(layer, head));
      this.tiles.push(...tiles);
      return h(
        "div",
        { class: "row" },
        h("span", { class: "name" }, fillText(texts.layer, { layer: layer + 1 })),
        h("div", { class: "of-layer" }, ...tiles.map(({ button }) => button)),
      );
    });
    this.element.replaceChildren(...rows);
  }

  clear() {
    /** @type {any[]} */
    this.tiles = [];
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
      { type: "button", class: "tile", click: () => this.choose(layer, head) },
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
    setAttribute(this.element, "aria-label", texts[`kind_${state.kind}`]);
    for (const tile of this.tiles) {
      const { layer, head } = tile;
      const side = Math.max(history.many ? 20 : 40, Math.floor(tile.button.clientWidth - (history.many ? 4 : 8)));
      const map = history.map(state.sentence, state.kind, state.moment, layer, head);
      const square = Math.min(
        history.many && side > SMALL ? 0.66 : 1.4,
        Math.max(0.6, map.queries.length / map.keys.length),
      );
      const tall = Math.round(square * side);
      drawCells(sized(tile.canvas, side, tall), map, theme, 0, 0, side, tall);
      const found = history.job(state.kind, state.moment, layer, head);
      const job = found ? fillText(texts.job, { role: texts[`role_${found.role}`], share: percent(found.share) }) : "";
      tile.job.textContent = job;
      tile.button.classList.toggle("has-job", Boolean(job));
      const selected = layer === state.layer && head === state.head;
      setAttribute(tile.button, "aria-pressed", selected);
      setAttribute(tile.button, "tabindex", selected ? 0 : -1);
      const kind = texts[`kind_${state.kind}`];
      setAttribute(
        tile.button,
        "aria-label",
        fillText(texts.tile, { kind, head: headName(layer, head), job: job || texts.no_job }),
      );
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { layers, heads } = this.history;
    const at = this.tiles.findIndex(({ button }) => button.getAttribute("aria-pressed") === "true");
    const last = layers * heads - 1;
    const to =
      event.key in ACROSS
        ? at + ACROSS[event.key]
        : event.key in DOWN
          ? at + heads * DOWN[event.key]
          : { Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0 || to > last) return;
    this.choose(Math.floor(to / heads), to % heads);
    this.tiles[to].button.focus();
  }
}
