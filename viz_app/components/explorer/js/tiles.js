// Every head as a thumbnail: of one kind, of one layer, or of all three kinds in three blocks.

import { headAddress } from "../../common/heads/heads.js";
import { RovingFocus } from "../../common/page/arrowkeys.js";
import { h, rootOf } from "../../common/page/dom.js";
import { decimals, fillText, percent } from "../../common/text/format.js";
import { arrange } from "./data/arrange.js";
import { Block } from "./draw/block.js";
import { isCell } from "./draw/picture.js";
import { Fade, slideFrom } from "./draw/transition.js";

const GLOW = 600; // milliseconds
const GHOST = 0.4; // opacity of what a draft has not replaced yet

export class Tiles {
  /** @type {string} What the blocks were made for. */
  shape;
  laidOut = false;
  /** @type {(() => void) | null} Slides the tiles to where they stand now. */
  slide = null;
  side = false; // whether the blocks stand side by side
  /** @type {Block[]} */
  blocks = [];
  fade = new Fade();

  /** @param {(tile: Tile) => void} open */
  constructor(open) {
    this.open = open;
    this.element = h("div", { class: "blocks" });
    this.focus = new RovingFocus(this.element);
  }

  get all() {
    return this.blocks.flatMap(({ tiles }) => tiles);
  }

  /**
   * Makes the blocks that the state asks for; those that fit are kept.
   * @param {Views} views
   * @param {State} state
   * @param {Kind[]} kinds
   */
  build(views, state, kinds) {
    const one = state.view === "layer";
    const wanted = kinds.map((kind) => views[kind]);
    const shape = [state.view, ...wanted.map(({ layers, heads }) => `${layers} ${heads}`)].join();
    if (this.shape !== shape) {
      this.shape = shape;
      this.blocks = wanted.map(({ layers, heads }) => new Block(layers, heads, one, this.open));
      this.laidOut = false;
      this.element.replaceChildren(...this.blocks.map(({ element }) => element));
    }
    this.blocks.forEach((block, index) => {
      block.setKind(wanted[index].kind);
      for (const tile of block.tiles) {
        const absent = wanted[index].lacks(block.layerOf(tile, state.layer), tile.head);
        tile.button.classList.toggle("absent", absent);
      }
    });
  }

  /**
   * Puts the tiles into their order; those that change places will slide there.
   * @param {Measures} measures
   * @param {State} state
   */
  order(measures, state) {
    const orders = this.blocks.map((block) => {
      const sorted = measures.sorted(state.order, block.kind);
      return sorted && block.one ? ofLayer(sorted, state.layer, block.heads) : sorted;
    });
    const moving = this.blocks.some((block, index) => block.moves(orders[index]));
    if (moving && this.laidOut) this.slide = slideFrom(this.all.map(({ button }) => button));
    if (moving) this.blocks.forEach((block, index) => block.arrange(orders[index]));
  }

  /**
   * Fits the blocks into a width and, as far as the tiles stay readable, a height.
   * @param {Views} views
   * @param {number} width
   * @param {number} height
   * @param {boolean} titled
   */
  layout(views, width, height, titled) {
    const shapes = this.blocks.map(({ kind, layers, heads, one, captioned }) => {
      const { queries, keys } = views[kind];
      return { layers, heads, one, captioned, titled, queries: queries.length, keys: keys.length };
    });
    const { side, fits } = arrange(shapes, width, height);
    this.side = side;
    this.element.classList.toggle("side", side);
    this.blocks.forEach((block, index) => block.layout(fits[index]));
    this.focus.arrange(this.lines(), !side);
    this.laidOut = true;
    this.slide?.();
    this.slide = null;
  }

  /**
   * Paints all tiles; a new sentence fades in over the old one.
   * @param {Views} views
   * @param {State} state
   * @param {Theme} theme
   * @param {boolean} fade
   */
  paint(views, state, theme, fade) {
    const start = performance.now();
    if (fade) this.fade.keep(this.all.map(({ canvas }) => canvas));
    else this.fade.stop();
    for (const block of this.blocks) block.paint(views[block.kind], state, theme);
    performance.clearMeasures("explorer tiles");
    performance.measure("explorer tiles", { start, end: performance.now() });
    if (fade) this.fade.start();
  }

  /**
   * Paints the new rows of a draft; below them the old sentence shines through.
   * @param {Views} views
   * @param {State} state
   * @param {Theme} theme
   * @param {number} from The first token whose row is new; 0 also after a change of size.
   * @param {boolean} faded Whether the old sentence is faint already.
   */
  paintDraft(views, state, theme, from, faded) {
    this.fade.stop();
    for (const block of this.blocks) {
      if (!from) block.ghost(theme, faded ? 1 : GHOST);
      block.paint(views[block.kind], state, theme, from);
    }
  }

  /**
   * Frames the selected tile and names all of them.
   * @param {Views} views
   * @param {State} state
   * @param {Measures} measures
   * @param {ExplorerTexts} texts
   */
  mark(views, state, measures, texts) {
    for (const block of this.blocks) {
      const { kind } = block;
      const unit = state.unit === "words" ? texts.unit_word : texts.unit_token;
      block.label(texts[`kind_${kind}`], fillText(texts[`tiles_axes_${kind}`], { unit }), texts.language);
      const values = measures.of(state.order, kind);
      const order = values ? state.order : "layer";
      const changed = measures.changed(kind);
      const resting = measures.resting(kind);
      for (const tile of block.tiles) {
        const layer = block.layerOf(tile, state.layer);
        const index = layer * block.heads + tile.head;
        const selected = kind === state.kind && layer === state.layer && tile.head === state.head;
        const label = this.describe(kind, index, order, measures, changed.has(index), texts);
        const value = values ? short(measures.text(order, kind, index), block.fit.narrow) : undefined;
        block.mark(tile, layer, {
          label,
          selected,
          value,
          changed: changed.has(index),
          resting: resting.has(index),
          unmatched: !measures.roles.passes(state.only, kind, index),
        });
        if (selected && !this.element.contains(rootOf(this.element).activeElement)) this.focus.reach(tile.button);
      }
    }
    this.readOut(views, state);
  }

  /** Lets the heads that have changed glow. */
  glow() {
    for (const { button } of this.all)
      if (button.classList.contains("changed"))
        button.animate([{ boxShadow: "0 0 12px 4px var(--kind)", borderColor: "var(--kind)" }, {}], {
          duration: GLOW,
          easing: "ease-in",
        });
  }

  /**
   * "Encoder self-attention, head encoder.3.5, entropy 0.83 nats", with the measure of the order, whether it has changed, and what
   * the atlas says of its role.
   * @param {Kind} kind
   * @param {number} index
   * @param {string} order
   * @param {Measures} measures
   * @param {boolean} changed
   * @param {ExplorerTexts} texts
   */
  describe(kind, index, order, measures, changed, texts) {
    const { heads } = measures.translation.kinds[kind];
    /** @param {string} name */
    const value = (name) => measures.text(name, kind, index);
    const head = headAddress({ kind, layer: Math.floor(index / heads), head: index % heads });
    const parts = [fillText(texts.tile, { kind: texts[`kind_${kind}`], head, entropy: value("entropy") })];
    if (measures.resting(kind).has(index))
      parts.push(fillText(texts.tiles_resting, { share: percent(measures.of("resting", kind)?.[index] ?? 0) }));
    if (order === "change" || changed) parts.push(fillText(texts.tiles_change, { value: value("change") }));
    else if (measures.roles.measures[order]) {
      const { label: measure, unit } = measures.roles.measures[order];
      const known = value(order) === measures.format(order, null) ? [] : [{ measure, value: value(order), unit }];
      parts.push(...known.map((values) => fillText(texts.tiles_atlas, values)));
      parts.push(measures.roles.words(kind, Math.floor(index / heads), index % heads));
    } else if (order !== "layer" && order !== "entropy")
      parts.push(fillText(texts[`tiles_${order}`], { value: value(order) }));
    if (changed) parts.push(fillText(texts.tiles_changed, { value: measures.usualChange(kind).toFixed(2) }));
    return parts.join(", ");
  }

  /**
   * Under each head of a layer: its weight at the cell under the pointer.
   * @param {Views} views
   * @param {State} state
   */
  readOut(views, { cursor, order, layer }) {
    const [block] = this.blocks;
    if (!block?.one || order !== "layer") return;
    const view = views[block.kind];
    const cell = isCell(cursor) && !view.masked(cursor.query, cursor.key) ? cursor : null;
    for (const { head, value } of block.tiles)
      if (value) value.textContent = cell ? decimals(view.at(layer, head, cell.query, cell.key)) : "";
  }

  /**
   * Follows one token through all heads: `marks` tells for each kind the row and the column to mark.
   * @param {Record<Kind, (number | null)[]>} marks
   */
  follow(marks) {
    for (const block of this.blocks) {
      const [query, key] = marks[block.kind] ?? [null, null];
      block.follow(query, key);
    }
  }

  /** The lines of tiles from top to bottom; blocks side by side share theirs. */
  lines() {
    /** @type {HTMLElement[][]} */
    const lines = [];
    let start = 0;
    for (const { ordered, fit } of this.blocks) {
      const first = this.side ? 0 : lines.length;
      ordered.forEach(({ button }, index) => {
        if (button.classList.contains("absent")) return;
        const line = first + Math.floor(index / fit.columns);
        lines[line] ??= [];
        lines[line][start + (index % fit.columns)] = button;
      });
      if (this.side) start += fit.columns;
    }
    return lines.filter((line) => line); // a layer may have no heads
  }

  /** Gives the focus to the tile of the selected head. */
  focusSelected() {
    const selected = this.all.find(({ button }) => button.getAttribute("aria-selected") === "true");
    selected?.button.focus({ preventScroll: true });
  }
}

/**
 * The value of a measure under a tile; a narrow one leaves out the zero before the point.
 * @param {string} text
 * @param {boolean} narrow
 */
function short(text, narrow) {
  return narrow ? text.replace(/^(\u2212?)0(?=\.\d\d)/, "$1") : text;
}

/**
 * The heads of one layer, in the order that they have among all.
 * @param {number[]} sorted
 * @param {number} layer
 * @param {number} heads
 */
function ofLayer(sorted, layer, heads) {
  return sorted.filter((index) => Math.floor(index / heads) === layer).map((index) => index % heads);
}

/**
 * The kinds that a state shows tiles of.
 * @param {Pick<State, "view" | "kind">} state
 * @param {Translation} translation
 */
export function kindsShown({ view, kind }, { available }) {
  return view === "kinds" ? available : [kind];
}
