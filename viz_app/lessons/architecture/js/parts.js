// What the scenes of this lesson share: tokens in a row, vectors as colours, numbers as they are written.

import { divergingPixel } from "../../../components/common/diverging.js";
import { write } from "../../../components/common/plot.js";
import { Grid } from "../../stage/js/grid.js";

export const NARROW = 620;
const LIMIT = 4; // as architecture_work.py packs numbers
const STRONGEST = 3; // the number that has the full colour
/**
 * A piece as it is read: without the mark of its word's start.
 * @param {string} token
 */
export function plain(token) {
  return token.replace("\u2581", "") || "\u2423";
}

/**
 * 0.8734 -> "87 %"; what is not nothing is not told as nothing.
 * @param {number} value
 */
export function share(value) {
  if (value > 0 && value < 0.01) return "<\u202f1\u202f%";
  return `${Math.round(100 * value)}\u202f%`;
}

/**
 * @param {number} from
 * @param {number} to
 * @param {number} share
 */
export function mix(from, to, share) {
  return from + (to - from) * share;
}

/**
 * A byte of a tensor as the number that it stands for.
 * @param {any} byte
 */
export function value(byte) {
  return ((byte - 128) / 127) * LIMIT;
}

/**
 * The colour of a number in a vector, as a pixel.
 * @param {Theme} theme
 * @param {number} number
 */
export function pixelOf(theme, number) {
  return divergingPixel(theme, number / STRONGEST, "sqrt");
}

/** Tensors as pictures of a pixel for each number, each painted once. */
export class Tensors {
  constructor() {
    this.grids = new Map();
  }

  /**
   * The rows of a (rows, columns) array; `pixel(number, row, column)`.
   * @param {string} key
   * @param {any} theme
   * @param {number} rows
   * @param {number} columns
   * @param {any} pixel
   */
  grid(key, theme, rows, columns, pixel) {
    if (!this.grids.has(key)) this.grids.set(key, new Grid());
    const grid = this.grids.get(key);
    grid.paint(`${theme.key} ${rows} ${columns}`, rows, columns, pixel);
    return grid;
  }
}

/**
 * Where tokens stand in one row that scrolls so that the chosen one is in sight: [{ x, width }].
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} tokens
 * @param {number} chosen
 * @param {number} width
 * @param {Theme} theme
 */
function rowOf(context, tokens, chosen, width, theme) {
  context.font = `13px ${theme.code}`;
  const widths = tokens.map((token) => context.measureText(plain(token)).width + 14);
  const total = widths.reduce((sum, each) => sum + each, 0);
  const before = widths.slice(0, chosen).reduce((sum, each) => sum + each, 0);
  let x = total <= width ? 0 : Math.min(0, Math.max(width - total, width / 2 - before - widths[chosen] / 2));
  return widths.map((each) => {
    const place = { x, width: each };
    x += each;
    return place;
  });
}

/**
 * Draws tokens in a row, the chosen one on a plate.
 * @param {Pen} pen
 * @param {string[]} tokens
 * @param {number} chosen
 * @param {{ x: number, y: number, width: number, colour: string }} given
 */
export function drawTokens({ context, theme }, tokens, chosen, { x, y, width, colour }) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, 26);
  context.clip();
  rowOf(context, tokens, chosen, width, theme).forEach((place, index) => {
    const here = index === chosen;
    if (here) {
      context.fillStyle = theme.line;
      context.beginPath();
      context.roundRect(x + place.x, y + 1, place.width - 2, 24, 5);
      context.fill();
      context.fillStyle = colour;
      context.fillRect(x + place.x + 4, y + 22, place.width - 10, 2);
    }
    write(context, plain(tokens[index]), x + place.x + 6, y + 12, {
      colour: here ? theme.text : theme.muted,
      font: theme.code,
      size: 13,
      weight: here ? 700 : 400,
    });
  });
  context.restore();
}

/**
 * The token at a point of such a row, or null.
 * @param {Pen} pen
 * @param {string[]} tokens
 * @param {number} chosen
 * @param {{ x: number, y: number, width: number }} given
 * @param {[number, number]} pair
 */
export function tokenAt({ context, theme }, tokens, chosen, { x, y, width }, [px, py]) {
  if (py < y - 4 || py > y + 30 || px < x || px > x + width) return null;
  const found = rowOf(context, tokens, chosen, width, theme).findIndex(
    (place) => px >= x + place.x && px < x + place.x + place.width,
  );
  return found < 0 ? null : found;
}

/**
 * A rounded box with words in its middle.
 * @param {Pen} pen
 * @param {any} given
 * @param {string[]} lines
 * @param {{ fill?: any, line?: any, weight?: number, colour?: string, size?: number, bold?: number, radius?: number }} given4
 */
export function box(
  { context, theme },
  { x, y, width, height },
  lines,
  { fill = null, line = theme.line, weight = 1, colour = theme.text, size = 12, bold = 400, radius = 6 },
) {
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
  for (const each of [theme.background, fill]) {
    context.fillStyle = each ?? theme.background; // what lies behind a box does not shine through
    context.fill();
  }
  context.strokeStyle = line;
  context.lineWidth = weight;
  context.stroke();
  const step = size + 3;
  lines.forEach((text, index) =>
    write(context, text, x + width / 2, y + height / 2 + 0.5 + (index - (lines.length - 1) / 2) * step, {
      colour,
      font: theme.font,
      size,
      weight: bold,
      align: "center",
      most: width - 6,
    }),
  );
}

/**
 * A colour "#rrggbb" that lets through what is behind it.
 * @param {string} colour
 * @param {number} part
 */
export function faint(colour, part) {
  const alpha = Math.round(255 * part).toString(16);
  return colour + alpha.padStart(2, "0");
}

/**
 * An arrow along points.
 * @param {CanvasRenderingContext2D} context
 * @param {any[]} points
 * @param {string} colour
 * @param {{ width?: number, head?: number, dash?: number[] }} [options]
 */
export function arrow(context, points, colour, { width = 1.3, head = 4.5, dash = [] } = {}) {
  context.save();
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  context.lineJoin = "round";
  context.setLineDash(dash);
  context.beginPath();
  points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
  context.setLineDash([]);
  const [[x0, y0], [x1, y1]] = points.slice(-2);
  const angle = Math.atan2(y1 - y0, x1 - x0);
  context.translate(x1, y1);
  context.rotate(angle);
  context.beginPath();
  context.moveTo(1, 0);
  context.lineTo(-head, -head * 0.6);
  context.lineTo(-head, head * 0.6);
  context.fill();
  context.restore();
}
