// A square of rows and columns: which row may see which. The scene of training and inference draws two.

import { hatch } from "../../../components/common/draw/canvas.js";

/** @typedef {import("./training.js").Place} Place */

/**
 * @param {Pen} pen
 * @param {Pick<Place, "x" | "y" | "half">} place
 * @param {string} title
 * @param {string} about
 */
export function drawTitle(pen, { x, y, half }, title, about) {
  pen.write(title, x, y + 11, { size: 16, weight: 650, most: half });
  pen.note(about, x, y + 31, { size: 12.5, most: half });
}

/**
 * One row: what it may see, and, hatched, what it must not.
 * @param {Pen} pen
 * @param {Place} place
 * @param {number} q
 * @param {number} count
 * @param {string} colour
 * @param {number} [last] Of the columns that it may see.
 */
export function drawCells(pen, { left, top, cell }, q, count, colour, last = q) {
  const inset = cell > 10 ? 1 : 0.5;
  for (let k = 0; k < count; k++) {
    const [x, y] = [left + k * cell + inset, top + q * cell + inset];
    const side = cell - 2 * inset;
    if (k <= last) pen.fill(x, y, side, side, colour);
    else hatch(pen.context, [x, y, x + side, y + side], pen.theme.hatch, 5); // zero and forbidden never look alike
  }
}

/**
 * @param {Pen} pen
 * @param {Place} place
 */
export function drawFrame(pen, { left, top, side }) {
  pen.frame(left - 0.5, top - 0.5, side + 1, side + 1, pen.theme.line);
}

/**
 * @param {Pen} pen
 * @param {Place} place
 * @param {number} row
 */
export function drawOutline(pen, { left, top, cell, side }, row) {
  pen.frame(left - 1, top + row * cell, side + 2, cell, pen.theme.text, 2);
}

/**
 * @param {Pen} pen
 * @param {Place} place
 * @param {string[][]} rows
 */
export function drawCounts(pen, { x, top, side, half }, rows) {
  const [strong, quiet] = rows.map((row) => row.filter(Boolean).join(" \u00b7 "));
  pen.write(strong, x, top + side + 20, { size: 14, weight: 650, most: half });
  pen.note(quiet, x, top + side + 41, { size: 12.5, most: half });
}
