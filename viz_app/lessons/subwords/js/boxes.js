// Tokens of words as boxes.

import { BOUNDARY } from "../../../components/common/text/tokens.js";

/**
 * A letter as it is read; the mark of a word boundary is a thin mark.
 * @param {string} text
 */
export function letter(text) {
  return text === BOUNDARY ? "\u2423" : text;
}

/**
 * Tokens side by side, each in its box.
 * @param {Pen} pen
 * @param {string[]} texts
 * @param {number} x
 * @param {number} y
 * @param {{ size: number, colour: string }} style
 */
export function tokens(pen, texts, x, y, { size, colour }) {
  const style = { font: pen.theme.code, size };
  let at = x;
  for (const text of texts) {
    const shown = [...text].map(letter).join("");
    const width = pen.measure(shown, style) + size * 0.9;
    pen.box(at, y - size, width, 2 * size, { fill: colour, alpha: 0.16, line: colour, radius: 5 });
    pen.write(shown, at + width / 2, y, { ...style, align: "center" });
    at += width + 6;
  }
}
