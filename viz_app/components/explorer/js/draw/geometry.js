// Where everything in the large map and between the lines lies, in CSS pixels.

import { context2d } from "../../../common/draw/canvas.js";
import { clamp } from "../../../common/page/keyboard.js";

const SMALLEST = 12; // cells do not shrink below this; the map scrolls instead
const LARGEST = 72;
const LOWEST = 10; // rows that need not be square, in a list of many heads
const HIGHEST = 24;
const LONGEST = 132; // a longer label ends in an ellipsis; the value at its cells tells it whole
export const ARROW = "\u2192"; // between what the decoder has read and what it writes next

// Slanted labels read better; steeper ones need less room. [angle, smallest cell at which neighbours do not touch]
const SLANTS = [
  [Math.PI / 4, 18],
  [Math.PI / 3, 15],
  [Math.PI / 2, 0],
];

/** @typedef {{ queries: Position[], keys: Position[], causal: boolean, groups?: number }} Axes */

/** Measures and shortens labels in one font. */
export class Labels {
  /**
   * @param {string} family
   * @param {number} size
   */
  constructor(family, size) {
    this.family = family;
    this.size = size;
    this.font = `${size}px ${family}`;
    this.context = context2d(document.createElement("canvas"));
    this.context.font = this.font;
    this.widths = new Map();
  }

  /** @param {string} text */
  width(text) {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  /**
   * Width of the widest of some labels, at least 8 and none wider than `limit`.
   * @param {{ text: string }[]} positions
   * @param {number} limit
   */
  widest(positions, limit) {
    return Math.max(8, ...positions.map(({ text }) => Math.min(limit, this.width(text))));
  }

  /**
   * The text, or as much of its start as fits with an ellipsis. Never cuts a character of several units in two.
   * @param {string} text
   * @param {number} limit
   */
  shorten(text, limit) {
    if (this.width(text) <= limit) return text;
    const letters = [...text];
    let low = 0;
    let high = letters.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.context.measureText(`${letters.slice(0, middle).join("")}\u2026`).width <= limit) low = middle;
      else high = middle - 1;
    }
    return `${letters.slice(0, low).join("")}\u2026`;
  }
}

/**
 * The sizes of a large map.
 *
 * @param {Axes} view Its axes as shown; `groups` when its rows are heads, whose cells need not be square.
 * @param {number} width Space from left to right.
 * @param {number} height Space that the map should keep to while its cells can shrink.
 * @param {number} tallest Space that the map never exceeds; beyond it scrolls.
 * @param {Labels} labels
 * @param {number} [largest] Size of a cell at most.
 */
export function measureMap(view, labels, width, height, tallest, largest = LARGEST) {
  const limit = Math.min(LONGEST, width * 0.3);
  const left = Math.ceil(labels.widest(view.queries, limit) + nextWidth(view, labels, limit)) + 16;
  const keyWidth = labels.widest(view.keys, limit);
  const Q = Math.max(1, view.queries.length);
  const K = Math.max(1, view.keys.length);
  /** @param {number[]} pair */
  const place = ([angle, smallest]) => {
    const top = Math.ceil(keyWidth * Math.sin(angle) + labels.size * Math.cos(angle)) + 10;
    const over = Math.ceil(overhang(view.keys, labels, limit, angle, Math.max(smallest, SMALLEST)));
    const across = Math.floor((width - left - over - 2) / K);
    const down = Math.floor((height - top - 2) / Q);
    const cell = clamp(
      view.groups ? across : Math.min(across, down),
      Math.max(SMALLEST, Math.floor(labels.size)),
      largest,
    );
    const row = view.groups ? clamp(down, LOWEST, HIGHEST) : cell;
    return { angle, smallest, top, over, cell, row };
  };
  const slants = SLANTS.map(place);
  const map = slants.find(({ cell, smallest }) => cell >= smallest) ?? slants[slants.length - 1];
  const full = { width: left + K * map.cell + map.over + 2, height: map.top + Q * map.row + 2 };
  return {
    ...map,
    left,
    next: nextWidth(view, labels, limit),
    limit,
    full,
    shown: { width: Math.min(full.width, width), height: Math.min(full.height, Math.max(tallest, height)) },
  };
}

const NUMBER = 44; // width of a number beside the lines
const [LOW, HIGH] = [20, 44]; // of a token

/**
 * The sizes of lines between two columns of tokens: from `left` to `right`, a token every `step`.
 * @param {Pick<Axes, "queries" | "keys">} axes
 * @param {Labels} labels
 * @param {number} width
 * @param {number} height
 * @param {number} tallest
 */
export function measureLines({ queries, keys }, labels, width, height, tallest) {
  const limit = Math.min(150, width * 0.23);
  const [left, end] = [queries, keys].map((side) => Math.ceil(labels.widest(side, limit)) + NUMBER + 14);
  const count = Math.max(1, queries.length, keys.length);
  const step = clamp(Math.floor((height - 2) / count), LOW, HIGH);
  const full = count * step + 2;
  const shown = { width: Math.min(width, left + end + 620), height: Math.min(full, Math.max(tallest, height)) };
  return { limit, step, full, shown, left, right: shown.width - end };
}

/**
 * Room for what a row of the decoder writes next; a long sentence leaves it to the caption.
 * @param {Axes} view
 * @param {Labels} labels
 * @param {number} limit
 */
function nextWidth(view, labels, limit) {
  if (!view.causal || view.groups || view.queries.length > 40) return 0;
  const widths = view.queries.flatMap(({ next }) => (next === undefined ? [] : labels.width(`${ARROW}${next}`)));
  return widths.length ? Math.min(limit * 0.6, Math.max(...widths)) + 6 : 0;
}

/**
 * How far slanted labels reach beyond the last cell.
 * @param {Position[]} keys
 * @param {Labels} labels
 * @param {number} limit
 * @param {number} angle
 * @param {number} cell
 */
function overhang(keys, labels, limit, angle, cell) {
  const reach = keys.map(({ text }, k) => {
    return (Math.min(limit, labels.width(text)) + labels.size) * Math.cos(angle) - (keys.length - k - 0.5) * cell;
  });
  return Math.max(0, ...reach);
}
