// Every head of the chosen kind as a thumbnail, or the heads of one layer side by side and larger.

import { decimals, fillText, h, headName, setAttribute } from "./dom.js";
import { paintHead, resize } from "./paint.js";

const FADE = 200; // milliseconds in which a new sentence replaces the old one

export class Tiles {
  constructor(store) {
    this.store = store;
    this.element = h("div", { class: "tiles", role: "grid", keydown: (event) => this.key(event) });
    this.tiles = [];
    this.focus = 0; // the tile that the Tab key reaches
  }

  /** Makes the tiles for a shape; those that fit are kept. */
  build(view, state, texts) {
    const one = state.view === "layer";
    const shape = `${state.view} ${view.layers} ${view.heads}`;
    if (this.shape === shape && this.texts === texts) return;
    Object.assign(this, { shape, texts, one, heads: view.heads, layers: one ? 1 : view.layers });
    this.element.className = one ? "tiles tiles-layer" : "tiles";
    this.tiles = [];
    const rows = Array.from({ length: this.layers }, (_, row) => {
      const cells = Array.from({ length: view.heads }, (_, head) => this.tile(row, head));
      return h("div", { role: "row", class: "tile-row" }, one ? null : this.label("rowheader", row + 1), ...cells);
    });
    this.element.replaceChildren(...(one ? [] : [this.headings(view.heads)]), ...rows);
  }

  headings(heads) {
    const numbers = Array.from({ length: heads }, (_, head) => this.label("columnheader", head + 1));
    return h("div", { class: "tile-row tile-headings", role: "row" }, h("span", { role: "columnheader" }), ...numbers);
  }

  /** A grid may hold nothing but rows, and these nothing but cells and their headers. */
  label(role, number) {
    return h("span", { class: "tile-number", role }, String(number));
  }

  tile(row, head) {
    const canvas = h("canvas", { "aria-hidden": true });
    const value = this.one ? h("span", { class: "tile-value", "aria-hidden": true }) : null;
    const name = this.one ? h("span", { class: "tile-name", "aria-hidden": true }) : null;
    const index = this.tiles.length;
    const button = h(
      "button",
      {
        type: "button",
        class: "tile",
        role: "gridcell",
        tabindex: "-1",
        click: () => this.open(index),
        focus: () => this.moveFocus(index),
      },
      canvas,
      this.one ? h("span", { class: "tile-text", "aria-hidden": true }, name, value) : null,
    );
    this.tiles.push({ row, head, button, canvas, value, name });
    return button;
  }

  layer(tile) {
    return this.one ? this.store.state.layer : tile.row;
  }

  open(index) {
    const tile = this.tiles[index];
    this.store.set({ layer: this.layer(tile), head: tile.head });
  }

  /** Fits the tiles into a width and, as far as they stay readable, a height. */
  layout(view, width, height) {
    const gap = this.one ? 8 : 4;
    const columns = this.one ? (width >= 330 ? 4 : 2) : this.heads;
    const rows = this.one ? Math.ceil(this.heads / columns) : this.layers;
    const beside = this.one ? 0 : 18;
    const above = this.one ? 0 : 18;
    const text = this.one ? 20 : 0;
    const widest = Math.floor((width - beside - gap * (columns - 1)) / columns) - 4;
    const shape = Math.min(1.5, Math.max(0.8, view.keys.length / view.queries.length));
    const tallest = Math.max(24, Math.floor((height - above) / rows) - gap - text - 4);
    const tileHeight = Math.max(20, Math.min(Math.round(widest / shape), tallest, this.one ? 240 : 110));
    const tileWidth = Math.min(widest, Math.round(tileHeight * Math.max(shape, 1.5)));
    this.element.style.setProperty("--columns", columns);
    this.element.style.setProperty("--gap", `${gap}px`);
    this.size = [tileWidth, tileHeight];
  }

  /** Paints all tiles; a new sentence fades in over the old one. */
  paint(view, theme, fade) {
    const start = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const [width, height] = this.size;
    const old = fade && !still ? this.tiles.map(({ canvas }) => copy(canvas)) : null;
    for (const tile of this.tiles) {
      const context = resize(tile.canvas, width, height);
      paintHead(context, view, this.layer(tile), tile.head, theme);
    }
    performance.clearMeasures("explorer tiles");
    performance.measure("explorer tiles", { start, end: performance.now() });
    cancelAnimationFrame(this.fading);
    if (old) this.fade(old, this.tiles.map(({ canvas }) => copy(canvas)), performance.now());
  }

  fade(old, fresh, start) {
    const share = Math.min(1, Math.max(0, (performance.now() - start) / FADE));
    this.tiles.forEach(({ canvas }, index) => {
      const context = canvas.getContext("2d");
      context.globalAlpha = 1;
      context.drawImage(fresh[index], 0, 0);
      context.globalAlpha = 1 - share;
      if (old[index].width) context.drawImage(old[index], 0, 0, canvas.width, canvas.height);
      context.globalAlpha = 1;
    });
    if (share < 1) this.fading = requestAnimationFrame(() => this.fade(old, fresh, start));
  }

  /** Frames the selected tile and names all of them. */
  mark(view, state, texts) {
    setAttribute(this.element, "aria-label", texts[`kind_${state.kind}`]);
    this.tiles.forEach((tile, index) => {
      const layer = this.layer(tile);
      const selected = layer === state.layer && tile.head === state.head;
      const name = headName(layer, tile.head);
      setAttribute(tile.button, "aria-label", fillText(texts.tile, { head: name }));
      setAttribute(tile.button, "aria-selected", String(selected));
      tile.button.title = fillText(texts.tile, { head: name });
      if (tile.name) tile.name.textContent = name;
      if (selected && !this.element.contains(this.element.getRootNode().activeElement)) this.focus = index;
    });
    this.tiles.forEach(({ button }, index) => setAttribute(button, "tabindex", index === this.focus ? 0 : -1));
    this.readOut(view, state);
  }

  /** Under each head of a layer: its weight at the cell under the pointer. */
  readOut(view, { cursor }) {
    if (!this.one) return;
    const both = cursor && cursor.query !== null && cursor.key !== null && !view.masked(cursor.query, cursor.key);
    for (const tile of this.tiles) {
      const weight = both ? view.at(this.layer(tile), tile.head, cursor.query, cursor.key) : null;
      tile.value.textContent = weight === null ? "" : decimals(weight);
    }
  }

  moveFocus(index) {
    this.focus = index;
    this.tiles.forEach(({ button }, other) => setAttribute(button, "tabindex", other === index ? 0 : -1));
  }

  key(event) {
    const columns = this.one ? Number(this.element.style.getPropertyValue("--columns")) : this.heads;
    const row = Math.floor(this.focus / columns) * columns;
    const targets = {
      ArrowLeft: this.focus - 1,
      ArrowRight: this.focus + 1,
      ArrowUp: this.focus - columns,
      ArrowDown: this.focus + columns,
      Home: row,
      End: row + columns - 1,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    const target = targets[event.key];
    if (this.tiles[target]) this.tiles[target].button.focus();
  }
}

function copy(canvas) {
  const twin = document.createElement("canvas");
  twin.width = canvas.width;
  twin.height = canvas.height;
  if (canvas.width && canvas.height) twin.getContext("2d").drawImage(canvas, 0, 0);
  return twin;
}
