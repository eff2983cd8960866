// The chosen head, large, with its labels; a cell under the pointer, or reached with the arrow keys, tells its weight.

import { context2d } from "../../common/canvas.js";
import { fill, fillText, h, headName, setAttribute, token } from "../../common/dom.js";
import { fitted } from "../../common/plot.js";
import { drawCells, sized } from "./cells.js";

const CELL = 30;
const LABEL = 13;
const LONGEST = 96;
/** @type {Record<string, number[]>} */
const MOVES = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

export class Large {
  /** @type {any} */
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
  cell;

  constructor() {
    this.title = h("h3", {});
    this.axes = h("p", { class: "note" });
    this.canvas = h("canvas", { tabindex: "0", role: "img" });
    this.readout = h("p", { class: "readout", "aria-live": "polite" });
    this.element = h("div", { class: "large" }, this.title, this.axes, this.canvas, this.readout);
    this.spot = null;
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerdown", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.move(null));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
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
    if (this.spot && (this.spot[0] >= map.queries.length || this.spot[1] >= map.keys.length)) this.spot = null;
    this.title.textContent = fillText(texts.title_head, { kind: texts[`kind_${kind}`], head: headName(layer, head) });
    this.axes.textContent = `${texts[`query_${kind}`]} ↓ · ${texts[`key_${kind}`]} →`;
    setAttribute(this.canvas, "aria-label", `${this.title.textContent}. ${this.axes.textContent}. ${texts.point}`);
    this.draw();
    this.tell();
  }

  draw() {
    const { map, theme } = this;
    const room = this.element.clientWidth;
    const probe = context2d(this.canvas);
    probe.font = `${LABEL}px ${theme.font}`;
    /** @param {any[]} labels */
    const widest = (labels) => Math.min(LONGEST, Math.max(...labels.map((label) => probe.measureText(label).width)));
    const [left, top] = [Math.ceil(widest(map.queries)) + 11, Math.ceil(widest(map.keys)) + 8];
    const cell = Math.max(14, Math.min(CELL, Math.floor((room - left - 2) / map.keys.length)));
    const [width, height] = [map.keys.length * cell, map.queries.length * cell];
    this.left = left;
    this.top = top;
    this.cell = cell;
    const context = sized(this.canvas, left + width + 2, top + height + 2);
    drawCells(context, map, theme, left, top, width, height);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
    context.font = `${LABEL}px ${theme.font}`;
    context.textBaseline = "middle";
    map.queries.forEach((/** @type {string} */ label, /** @type {number} */ query) =>
      this.label(context, label, map.queryStarts[query], query, 0),
    );
    map.keys.forEach((/** @type {string} */ label, /** @type {number} */ key) =>
      this.label(context, label, map.keyStarts[key], key, -Math.PI / 2),
    );
    if (!this.spot) return;
    context.strokeStyle = theme.text;
    context.lineWidth = 2;
    context.strokeRect(left + this.spot[1] * cell, top + this.spot[0] * cell, cell, cell);
  }

  /**
   * The name of a row or column; a thin mark stands where a word begins.
   * @param {CanvasRenderingContext2D} context
   * @param {string} text
   * @param {any} starts
   * @param {number} index
   * @param {number} turn
   */
  label(context, text, starts, index, turn) {
    const { left, top, cell, theme, spot } = this;
    context.save();
    context.fillStyle = spot?.[turn ? 1 : 0] === index ? theme.text : theme.muted;
    if (turn) context.translate(left + (index + 0.5) * cell, top - 6);
    else context.translate(left - 6, top + (index + 0.5) * cell);
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
    const key = Math.floor((event.clientX - box.left - this.left) / this.cell);
    const query = Math.floor((event.clientY - box.top - this.top) / this.cell);
    const inside = query >= 0 && key >= 0 && query < this.map.queries.length && key < this.map.keys.length;
    this.move(inside ? [query, key] : null);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const move = MOVES[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const [query, key] = this.spot ?? [-move[0], -move[1]];
    /**
     * @param {number} value
     * @param {number} length
     */
    const within = (value, length) => Math.max(0, Math.min(length - 1, value));
    this.move([within(query + move[0], this.map.queries.length), within(key + move[1], this.map.keys.length)]);
  }

  /** @param {number[] | null} spot */
  move(spot) {
    if (String(this.spot) === String(spot)) return;
    this.spot = spot;
    this.draw();
    this.tell();
  }

  tell() {
    const { map, spot, texts } = this;
    if (!spot) return this.readout.replaceChildren(texts.point);
    const [query, key] = spot;
    const weight = map.masked(query, key) ? texts.masked : map.at(query, key).toFixed(3);
    const values = {
      query: token(map.queries[query], "b"),
      key: token(map.keys[key], "b"),
      weight: h("b", { class: "value" }, weight),
    };
    this.readout.replaceChildren(fill(texts.cell, values));
  }
}
