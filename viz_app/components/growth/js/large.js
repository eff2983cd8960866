// The chosen head, large, with its labels; a cell under the pointer, or reached with the arrow keys, tells its weight.

import { blank, context2d } from "../../common/draw/canvas.js";
import { fitted } from "../../common/draw/plot.js";
import { fill, h, setAttribute, tokenElement } from "../../common/page/dom.js";
import { ARROWS, clamp, consume, hasModifier } from "../../common/page/keyboard.js";
import { fillText, headName } from "../../common/text/format.js";
import { drawCells } from "./cells.js";

const CELL = 30;
const LABEL = 13;
const LONGEST = 96;

export class Large {
  /** @type {GrowthMap} */
  map;
  /** @type {Theme} */
  theme;
  /** @type {Texts} */
  texts;
  /** @type {number} */
  left;
  /** @type {number} */
  top;
  /** @type {number} */
  size;

  constructor() {
    this.title = h("h3", {});
    this.axes = h("p", { class: "note" });
    this.canvas = h("canvas", {
      tabindex: "0",
      role: "img",
      pointermove: (event) => this.point(event),
      pointerdown: (event) => this.point(event),
      pointerleave: () => this.move(null),
      keydown: (event) => this.key(event),
    });
    this.readout = h("p", { class: "readout", "aria-live": "polite" });
    this.element = h("div", { class: "large" }, this.title, this.axes, this.canvas, this.readout);
    /** @type {[number, number] | null} Query and key. */
    this.cell = null;
  }

  /**
   * @param {GrowthHistory} history
   * @param {GrowthState} state
   * @param {Theme} theme
   * @param {Texts} texts
   */
  update(history, state, theme, texts) {
    const { kind, layer, head } = state;
    const map = history.map(state.sentence, kind, state.moment, layer, head);
    this.map = map;
    this.theme = theme;
    this.texts = texts;
    if (this.cell && (this.cell[0] >= map.queries.length || this.cell[1] >= map.keys.length)) this.cell = null;
    this.title.textContent = fillText(texts.title_head, { kind: texts[`kind_${kind}`], head: headName(layer, head) });
    this.axes.textContent = `${texts[`query_${kind}`]} ↓ · ${texts[`key_${kind}`]} →`;
    setAttribute(this.canvas, "aria-label", `${this.title.textContent}. ${this.axes.textContent}. ${texts.point}`);
    this.draw();
    this.readOut();
  }

  draw() {
    const { map, theme } = this;
    const room = this.element.clientWidth;
    const probe = context2d(this.canvas);
    probe.font = `${LABEL}px ${theme.font}`;
    /** @param {{ text: string }[]} labels */
    const widest = (labels) => Math.min(LONGEST, Math.max(...labels.map(({ text }) => probe.measureText(text).width)));
    const [left, top] = [Math.ceil(widest(map.queries)) + 11, Math.ceil(widest(map.keys)) + 8];
    const size = Math.max(14, Math.min(CELL, Math.floor((room - left - 2) / map.keys.length)));
    const [width, height] = [map.keys.length * size, map.queries.length * size];
    this.left = left;
    this.top = top;
    this.size = size;
    const context = blank(this.canvas, left + width + 2, top + height + 2);
    drawCells(context, map, theme, left, top, width, height);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
    context.font = `${LABEL}px ${theme.font}`;
    context.textBaseline = "middle";
    map.queries.forEach((label, query) => this.label(context, label, query, 0));
    map.keys.forEach((label, key) => this.label(context, label, key, -Math.PI / 2));
    if (!this.cell) return;
    const [query, key] = this.cell;
    context.strokeStyle = theme.text;
    context.lineWidth = 2;
    context.strokeRect(left + key * size, top + query * size, size, size);
  }

  /**
   * The name of a row or column; a thin mark stands where a word begins.
   * @param {CanvasRenderingContext2D} context
   * @param {{ text: string, starts: boolean }} label
   * @param {number} index
   * @param {number} turn
   */
  label(context, { text, starts }, index, turn) {
    const { left, top, size, theme, cell } = this;
    context.save();
    context.fillStyle = cell?.[turn ? 1 : 0] === index ? theme.text : theme.muted;
    if (turn) context.translate(left + (index + 0.5) * size, top - 6);
    else context.translate(left - 6, top + (index + 0.5) * size);
    context.rotate(turn);
    context.textAlign = turn ? "left" : "right";
    const shown = fitted(context, text, LONGEST);
    context.fillText(shown, 0, 0);
    if (starts) {
      context.fillStyle = theme.mark;
      context.fillRect(turn ? -3 : -context.measureText(shown).width - 3, -LABEL / 2, 1, LABEL);
    }
    context.restore();
  }

  /** @param {PointerEvent} event */
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const key = Math.floor((event.clientX - box.left - this.left) / this.size);
    const query = Math.floor((event.clientY - box.top - this.top) / this.size);
    const inside = query >= 0 && key >= 0 && query < this.map.queries.length && key < this.map.keys.length;
    this.move(inside ? [query, key] : null);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!(event.key in ARROWS) || hasModifier(event)) return;
    consume(event);
    const [down, right] = ARROWS[event.key];
    const [query, key] = this.cell ?? [-down, -right];
    const { queries, keys } = this.map;
    this.move([clamp(query + down, 0, queries.length - 1), clamp(key + right, 0, keys.length - 1)]);
  }

  /** @param {[number, number] | null} cell */
  move(cell) {
    if (String(this.cell) === String(cell)) return;
    this.cell = cell;
    this.draw();
    this.readOut();
  }

  readOut() {
    const { map, cell, texts } = this;
    if (!cell) return this.readout.replaceChildren(texts.point);
    const [query, key] = cell;
    const weight = map.masked(query, key) ? texts.masked : map.at(query, key).toFixed(3);
    const values = {
      query: tokenElement(map.queries[query].text, "b"),
      key: tokenElement(map.keys[key].text, "b"),
      weight: h("b", { class: "value" }, weight),
    };
    this.readout.replaceChildren(fill(texts.cell, values));
  }
}
