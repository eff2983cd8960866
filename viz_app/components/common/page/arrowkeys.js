// Arrow keys in a grid: of a canvas, which has one cell in focus, or of elements, of which the Tab key reaches one.

import { setAttribute } from "./dom.js";
import { clamp, consume, hasModifier } from "./keyboard.js";

/** @type {Record<string, [number, number]>} Rows down and columns right. */
const STEPS = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-Infinity, 0],
  PageDown: [Infinity, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

/**
 * The step of a key, in rows down and columns right; null for other keys.
 * @param {KeyboardEvent} event
 */
export function arrowStep(event) {
  return (!hasModifier(event) && STEPS[event.key]) || null;
}

/**
 * The row and column that a key leads to; the first cell when none is in focus; null for other keys, and in an empty grid.
 * @param {KeyboardEvent} event
 * @param {number[] | null} cell
 * @param {number} rows
 * @param {number} columns
 * @returns {[number, number] | null}
 */
export function arrowTarget(event, cell, rows, columns) {
  const step = arrowStep(event);
  if (!step || !rows || !columns) return null;
  consume(event);
  const [row, column] = cell ?? [-step[0], -step[1]];
  return [clamp(row + step[0], 0, rows - 1) || 0, clamp(column + step[1], 0, columns - 1) || 0];
}

/** Roving focus: the Tab key reaches one of the elements, the arrow keys the others. */
export class RovingFocus {
  /** @type {(HTMLElement | undefined)[][]} From top to bottom; a line of blocks that stand side by side may have gaps. */
  lines = [];
  nearest = false;
  /** @type {HTMLElement | null} */
  current = null;

  /** @param {HTMLElement} element Holds them all. */
  constructor(element) {
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("focusin", ({ target }) => this.reach(this.all.find((each) => each === target)));
  }

  get all() {
    return this.lines.flatMap((line) => line.filter((each) => each !== undefined));
  }

  /**
   * @param {(HTMLElement | undefined)[][]} lines
   * @param {boolean} [nearest] Whether Up and Down end at the last element of a shorter line.
   */
  arrange(lines, nearest = false) {
    this.lines = lines;
    this.nearest = nearest;
    if (!this.current || !this.all.includes(this.current)) this.reach(this.all[0]);
  }

  /** @param {HTMLElement | undefined} element The one that the Tab key reaches from now on. */
  reach(element) {
    if (!element) return;
    this.current = element;
    for (const each of this.all) setAttribute(each, "tabindex", each === element ? 0 : -1);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const to = this.target(event);
    if (to === null) return;
    consume(event);
    to?.focus();
  }

  /**
   * The element that a key leads to; undefined at an edge, null for other keys.
   * @param {KeyboardEvent} event
   */
  target({ key, ctrlKey }) {
    const { current, lines, all } = this;
    const row = lines.findIndex((line) => current && line.includes(current));
    if (!current || row < 0) return null;
    const [column, at] = [lines[row].indexOf(current), all.indexOf(current)];
    const line = lines[row].filter((each) => each);
    const ends = ctrlKey ? all : line;
    /** @param {(HTMLElement | undefined)[]} [other] */
    const beside = (other) => other?.[this.nearest ? Math.min(column, other.length - 1) : column];
    if (key === "ArrowLeft") return all[at - 1];
    if (key === "ArrowRight") return all[at + 1];
    if (key === "ArrowUp") return beside(lines[row - 1]);
    if (key === "ArrowDown") return beside(lines[row + 1]);
    return { Home: ends[0], End: ends[ends.length - 1] }[key] ?? null;
  }
}
