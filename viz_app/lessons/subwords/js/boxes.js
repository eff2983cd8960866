// Pieces of words as boxes.

import { write } from "../../../components/common/plot.js";

const BOUNDARY = "\u2581";

/**
 * A letter as it is read; the mark of a word boundary is a thin mark.
 * @param {string} text
 */
export function letter(text) {
  return text === BOUNDARY ? "\u2423" : text;
}

/**
 * A rounded box.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {{ fill: any, alpha?: number, line?: any, thick?: number }} given
 */
export function box(context, x, y, width, height, { fill, alpha = 1, line = null, thick = 1.5 }) {
  context.save();
  context.beginPath();
  context.roundRect(x, y, width, height, Math.min(5, height / 3));
  context.globalAlpha *= alpha;
  context.fillStyle = fill;
  context.fill();
  context.restore();
  if (!line) return;
  context.strokeStyle = line;
  context.lineWidth = thick;
  context.stroke();
}

/**
 * Pieces side by side, each in its box. Returns the width of all.
 * @param {CanvasRenderingContext2D} context
 * @param {any} texts
 * @param {number} x
 * @param {number} y
 * @param {{ theme: Theme, size: number, colour: string }} given
 */
export function pieces(context, texts, x, y, { theme, size, colour }) {
  context.font = `${size}px ${theme.code}`;
  let at = x;
  for (const text of texts) {
    const shown = [...text].map(letter).join("");
    context.font = `${size}px ${theme.code}`;
    const width = context.measureText(shown).width + size * 0.9;
    box(context, at, y - size, width, 2 * size, { fill: colour, alpha: 0.16, line: colour });
    write(context, shown, at + width / 2, y, { colour: theme.text, font: theme.code, size, align: "center" });
    at += width + 6;
  }
  return at - x;
}
