// Shared parts of the scenes: tokens in a row, vectors as colours, numbers as they are written.

import { divergingPixel } from "../../../components/common/draw/diverging.js";
import { percentSign } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { Grid } from "../../stage/js/grid.js";
import { scrolledRow } from "../../stage/js/paragraph.js";

const LIMIT = 4; // as forward_steps.py packs numbers
const STRONGEST = 3; // the number that has the full colour

/**
 * 0.8734 -> "87 %"; a share above 0 never reads as 0 %.
 * @param {number} value
 */
export function share(value) {
  if (value > 0 && value < 0.01) return `<\u202f1${percentSign()}`;
  return `${Math.round(100 * value)}${percentSign()}`;
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
 * @param {number} byte
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
    /** @type {Map<string | number, Grid>} */
    this.grids = new Map();
  }

  /**
   * The rows of a (rows, columns) array; `pixel(row, column)` gives the colours.
   * @param {string | number} name Under which the next tensor takes its place.
   * @param {string} key What its colours depend on.
   * @param {number} rows
   * @param {number} columns
   * @param {(row: number, column: number) => number} pixel
   */
  grid(name, key, rows, columns, pixel) {
    const grid = this.grids.get(name) ?? new Grid();
    this.grids.set(name, grid);
    grid.paint(`${key} ${rows} ${columns}`, rows, columns, pixel);
    return grid;
  }
}

/**
 * Draws tokens in a row, the chosen one on a plate.
 * @param {Pen} pen
 * @param {string[]} tokens
 * @param {number} chosen
 * @param {{ x: number, y: number, width: number, colour: string }} given
 */
export function drawTokens(pen, tokens, chosen, { x, y, width, colour }) {
  const { context, theme } = pen;
  context.save();
  context.beginPath();
  context.rect(x, y, width, 26);
  context.clip();
  scrolledRow(pen, tokens, chosen, width, 14).forEach((place, index) => {
    const here = index === chosen;
    if (place.x + place.width < 0 || place.x + 20 > width) return;
    if (here) {
      pen.box(x + place.x, y + 1, place.width - 2, 24, { fill: theme.line, radius: 5 });
      pen.fill(x + place.x + 4, y + 22, place.width - 10, 2, colour);
    }
    pen.write(tokenText(tokens[index]), x + place.x + 6, y + 12, {
      colour: here ? theme.text : theme.muted,
      font: theme.code,
      size: 13,
      weight: here ? 700 : 400,
      most: width - place.x - 6,
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
 * @param {[number, number]} point
 */
export function tokenAt(pen, tokens, chosen, { x, y, width }, [px, py]) {
  if (py < y - 4 || py > y + 30 || px < x || px > x + width) return null;
  const places = scrolledRow(pen, tokens, chosen, width, 14);
  const at = places.findIndex((place) => px >= x + place.x && px < x + place.x + place.width);
  return at < 0 ? null : at;
}

/**
 * A rounded box with words in its middle.
 * @param {Pen} pen
 * @param {Box} place
 * @param {string[]} lines
 * @param {{ fill: string, line: string, weight?: number, size?: number, bold?: number }} style
 */
export function box(pen, { x, y, width, height }, lines, { fill, line, weight = 1, size = 12, bold = 400 }) {
  pen.box(x, y, width, height, { fill: pen.theme.background }); // what lies behind a box does not shine through
  pen.box(x, y, width, height, { fill, line, thick: weight });
  const style = { size, weight: bold, align: "center", most: width - 6 };
  const top = y + height / 2 + 0.5 - ((lines.length - 1) / 2) * (size + 3);
  lines.forEach((text, index) => pen.write(text, x + width / 2, top + index * (size + 3), style));
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
 * @param {Pen} pen
 * @param {number[]} points x and y of each, one after the other.
 * @param {string} colour
 * @param {number} [width]
 */
export function arrow({ context }, points, colour, width = 1.3) {
  context.save();
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  context.lineJoin = "round";
  context.beginPath();
  for (let i = 0; i < points.length; i += 2) context[i ? "lineTo" : "moveTo"](points[i], points[i + 1]);
  context.stroke();
  const [x0, y0, x1, y1] = points.slice(-4);
  context.translate(x1, y1);
  context.rotate(Math.atan2(y1 - y0, x1 - x0));
  context.beginPath();
  context.moveTo(1, 0);
  context.lineTo(-4.5, -2.7);
  context.lineTo(-4.5, 2.7);
  context.fill();
  context.restore();
}
