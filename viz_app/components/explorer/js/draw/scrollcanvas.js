// A drawing that scrolls inside itself where it is too large: its canvas covers only what is visible and is drawn again at
// every scroll.

import { blank } from "../../../common/draw/canvas.js";
import { h } from "../../../common/page/dom.js";
import { Labels } from "./geometry.js";

const PRESENTED = 16; // size of a label, in CSS pixels

/** @typedef {{ width: number, height: number }} Size In CSS pixels. */

/** @template Target What the pointer or the keyboard can be at. */
export class ScrollCanvas {
  /** @type {Theme} */
  theme;
  /** @type {Labels} */
  labels;
  stale = false; // whether the font of the labels has come since

  /** @param {string} name Class of the element. */
  constructor(name) {
    this.canvas = h("canvas", { "aria-hidden": true });
    this.space = h("div", {}, this.canvas);
    const attributes = {
      class: name,
      tabindex: "0",
      role: "application",
      pointermove: (/** @type {PointerEvent} */ event) => this.move(this.at(event)),
      pointerdown: (/** @type {PointerEvent} */ event) => this.press(event),
      pointerleave: (/** @type {PointerEvent} */ event) => event.pointerType === "mouse" && this.move(null),
      click: (/** @type {PointerEvent} */ event) => this.click(event),
      scroll: () => this.draw(),
      keydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    };
    this.element = h("div", attributes, this.space);
  }

  /**
   * What is at the place of an event.
   * @param {PointerEvent} event
   * @returns {Target | null}
   */
  at(event) {
    return null;
  }

  /**
   * The pointer or the keyboard has come to a place.
   * @param {Target | null} target
   */
  move(target) {}

  /** @param {PointerEvent} event */
  press(event) {
    this.move(this.at(event));
  }

  /** @param {PointerEvent} event */
  click(event) {}

  /** @param {KeyboardEvent} event */
  key(event) {}

  draw() {}

  /**
   * Labels in the theme's font for code; of one size in front of a class.
   * @param {number} usual
   */
  useLabels(usual) {
    const size = this.element.closest(".presenting") ? PRESENTED : usual;
    if (!this.stale && this.labels?.size === size && this.labels.family === this.theme.code) return;
    this.labels = new Labels(this.theme.code, size);
    this.stale = false;
  }

  /**
   * @param {Size} full Of the whole drawing.
   * @param {Size} shown Of the part that is visible.
   */
  resize(full, shown) {
    this.space.style.width = `${full.width}px`;
    this.space.style.height = `${full.height}px`;
    this.element.style.width = `${shown.width}px`;
    this.element.style.height = `${shown.height}px`;
  }

  /**
   * The context of a canvas that is as yet empty.
   * @param {Size} size
   */
  begin({ width, height }) {
    const context = blank(this.canvas, width, height);
    context.fillStyle = this.theme.background;
    context.fillRect(0, 0, width, height);
    context.textBaseline = "middle";
    return context;
  }

  /**
   * Where an event is on the canvas.
   * @param {PointerEvent} event
   */
  pointOf({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    return { x: clientX - box.left, y: clientY - box.top };
  }

  /**
   * Scrolls a part into sight; of what is negative nothing is scrolled.
   * @param {Partial<Box>} part
   * @param {Size} frame What is visible of the part that scrolls.
   */
  scrollTo({ x = -1, y = -1, width = 0, height = 0 }, frame) {
    const { element } = this;
    if (y >= 0) element.scrollTop = within(element.scrollTop, y, height, frame.height);
    if (x >= 0) element.scrollLeft = within(element.scrollLeft, x, width, frame.width);
  }
}

/**
 * The slots [first, end) of `count` that a scrolled extent shows.
 * @param {number} count
 * @param {number} scroll
 * @param {number} extent
 * @param {number} size
 */
export function inSight(count, scroll, extent, size) {
  return [
    Math.min(count, Math.max(0, Math.floor(scroll / size))),
    Math.min(count, Math.ceil((scroll + extent) / size) + 1),
  ];
}

/**
 * The scroll position nearest to the present one at which a slot is in sight.
 * @param {number} scroll
 * @param {number} start
 * @param {number} size
 * @param {number} extent
 */
export function within(scroll, start, size, extent) {
  return Math.min(start, Math.max(scroll, start + size - extent));
}
