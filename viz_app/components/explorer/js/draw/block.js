// The tiles of one kind: every head of it, or the heads of one layer, as buttons with a small picture.

import { resize } from "../../../common/draw/canvas.js";
import { headRows } from "../../../common/heads/headrows.js";
import { h, rootOf, setAttribute } from "../../../common/page/dom.js";
import { define } from "../../../common/page/explained.js";
import { headName } from "../../../common/text/format.js";
import { Look, paintHead } from "./paint.js";
import { copy } from "./transition.js";

/** @typedef {import("../data/arrange.js").Fit} Fit */
/**
 * @typedef {object} Tile
 * @property {Block} block
 * @property {number} row
 * @property {number} head
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLButtonElement} button
 * @property {HTMLElement} [name]
 * @property {HTMLElement} [value]
 */

export class Block {
  /** @type {Kind} */
  kind;
  /** @type {string} */
  arranged;
  /** @type {boolean} Whether its tiles flow in reading order, each with a line of text. */
  captioned;
  /** @type {Tile[]} */
  ordered;
  /** @type {Fit} */
  fit;
  /** @type {Look} */
  look;

  /**
   * @param {number} layers
   * @param {number} heads
   * @param {boolean} one Whether the tiles are the heads of one layer, which may change.
   * @param {(tile: Tile) => void} open
   */
  constructor(layers, heads, one, open) {
    this.heads = heads;
    this.one = one;
    this.layers = one ? 1 : layers;
    this.name = h("b", { class: "block-name", "aria-hidden": true });
    this.axes = h("span", { class: "note block-axes" });
    this.title = h("p", { class: "block-title" }, this.name, this.axes);
    this.grid = h("div", { class: "tiles", role: "grid" });
    this.element = h("div", { class: "block" }, this.title, this.grid);
    this.tiles = Array.from({ length: this.layers * heads }, (_, index) => this.tile(index, open));
  }

  /**
   * @param {number} index
   * @param {(tile: Tile) => void} open
   */
  tile(index, open) {
    const canvas = h("canvas", { "aria-hidden": true, width: 0, height: 0 }); // 300 x 150 would be kept for the fade
    const button = h("button", { class: "tile", role: "gridcell", tabindex: "-1", click: () => open(tile) }, canvas);
    /** @type {Tile} */
    const tile = { block: this, row: Math.floor(index / this.heads), head: index % this.heads, canvas, button };
    return tile;
  }

  /** @param {Kind} kind */
  setKind(kind) {
    this.kind = kind;
    this.element.dataset.kind = kind;
  }

  /**
   * Layer of a tile, given the layer that is selected.
   * @param {Tile} tile
   * @param {number} selected
   */
  layerOf(tile, selected) {
    return this.one ? selected : tile.row;
  }

  /**
   * Whether an order differs from the one that the tiles stand in.
   * @param {number[] | null} order
   */
  moves(order) {
    return this.arranged !== String(order);
  }

  /**
   * Puts the tiles into an order; `null` is the grid of layers and heads.
   * @param {number[] | null} order
   */
  arrange(order) {
    if (!this.moves(order)) return;
    this.arranged = String(order);
    this.captioned = order !== null || this.one;
    this.grid.classList.toggle("captioned", this.captioned);
    this.ordered = order ? order.map((index) => this.tiles[index]) : this.tiles;
    const focused = rootOf(this.grid).activeElement;
    const buttons = this.ordered.map(({ button }) => button);
    if (this.captioned) {
      for (const tile of this.tiles) this.addCaption(tile);
      this.grid.replaceChildren(h("div", { role: "row", class: "tile-row" }, ...buttons));
    } else this.grid.replaceChildren(...headRows(buttons, this.heads));
    // What is moved loses the focus.
    if (focused instanceof HTMLButtonElement && buttons.includes(focused)) focused.focus({ preventScroll: true });
  }

  /**
   * The line under a tile; made when it is first needed, so that the page stays light.
   * @param {Tile} tile
   */
  addCaption(tile) {
    if (tile.name) return;
    tile.name = h("span", { class: "tile-name", "aria-hidden": true });
    tile.value = h("span", { class: "tile-value", "aria-hidden": true });
    tile.button.append(tile.name, tile.value);
  }

  /** @param {Fit} fit */
  layout(fit) {
    this.fit = fit;
    this.grid.style.setProperty("--columns", String(fit.columns));
    this.grid.style.setProperty("--gap", `${fit.gap}px`);
    this.grid.style.setProperty("--tile-width", `${fit.width}px`);
    this.grid.style.setProperty("--tile-height", `${fit.height}px`);
    this.grid.classList.toggle("narrow", fit.narrow);
    this.element.classList.toggle("one-line", fit.titleLines === 1);
    this.title.hidden = fit.titleLines === 0;
  }

  /**
   * Paints all tiles, or only the rows that a draft has from a token on.
   * @param {View} view
   * @param {State} state
   * @param {Theme} theme
   * @param {number | null} [from]
   */
  paint(view, state, theme, from = null) {
    const look = new Look(view, state, theme, from);
    const { width, height } = this.fit;
    this.look = look;
    for (const tile of this.tiles) {
      paintHead(resize(tile.canvas, width, height), view, this.layerOf(tile, state.layer), tile.head, look);
    }
  }

  /**
   * Fits what the tiles show now to their size, with an opacity.
   * @param {Theme} theme
   * @param {number} opacity
   */
  ghost(theme, opacity) {
    const { width, height } = this.fit;
    for (const { canvas } of this.tiles) {
      const old = copy(canvas);
      const context = resize(canvas, width, height);
      context.fillStyle = theme.background;
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.globalAlpha = opacity;
      if (old.width && old.height) context.drawImage(old, 0, 0, canvas.width, canvas.height);
      context.globalAlpha = 1;
    }
  }

  /**
   * Marks one row and one column in all tiles at once; null for none.
   * @param {number | null} query
   * @param {number | null} key
   */
  follow(query, key) {
    if (!this.look) return;
    const { queries, keys, allKeys } = this.look;
    const row = query === null ? -1 : queries.indexOf(query);
    const column = key === null ? -1 : keys.indexOf(key);
    this.grid.classList.toggle("following", row >= 0 || column >= 0);
    const line = (/** @type {number} */ end, /** @type {number} */ size) =>
      `${end ? Math.round(end * size) - 1 : -9}px`;
    this.grid.style.setProperty("--row-line", line((row + 1) / queries.length, this.fit.height));
    this.grid.style.setProperty("--column-line", line((column + 1) / allKeys, this.fit.width));
  }

  /**
   * Names the block for the eye and the ear.
   * @param {string} kindName
   * @param {string} axes
   * @param {string} language
   */
  label(kindName, axes, language) {
    this.name.textContent = kindName;
    define(this.axes, axes, language, ["query", "key", "token"]);
    setAttribute(this.grid, "aria-label", kindName);
  }

  /**
   * Names a tile, frames it when it is selected, and marks it when its head has changed, rests, or does not pass the filter.
   * @param {Tile} tile
   * @param {number} layer
   * @param {{ label: string, selected: boolean, value: string | undefined, changed: boolean, resting: boolean, unmatched: boolean }} state
   */
  mark(tile, layer, { label, selected, value, changed, resting, unmatched }) {
    const { button } = tile;
    const name = headName(layer, tile.head);
    button.dataset.head = name;
    setAttribute(button, "aria-label", label);
    setAttribute(button, "aria-selected", String(selected));
    if (button.title !== label) button.title = label;
    button.classList.toggle("changed", changed);
    button.classList.toggle("resting", resting);
    button.classList.toggle("unmatched", unmatched);
    if (tile.name) tile.name.textContent = name;
    if (tile.value && value !== undefined) tile.value.textContent = value;
  }
}
