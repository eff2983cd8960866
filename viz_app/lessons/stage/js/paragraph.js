// Text over several lines on a canvas.

import { write } from "../../../components/common/plot.js";

/**
 * Writes words from a line to the next; returns how high they stand. `style` as of `write`.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {any} style
 */
export function wrapped(context, text, x, y, width, style) {
  context.font = `${style.weight ?? 400} ${style.size}px ${style.font}`;
  let line = "";
  let down = 0;
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && context.measureText(longer).width > width) {
      write(context, line, x, y + down, style);
      down += style.size * 1.5;
      line = word;
    } else line = longer;
  }
  write(context, line, x, y + down, { ...style, most: width });
  return down + style.size * 1.5;
}

/**
 * Where tokens stand when they follow each other over lines: [{ x, y, width }] and the height of all.
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} tokens
 * @param {{ font: string, width: number, line: number, gap?: number }} given
 */
export function laidOut(context, tokens, { font, width, line, gap = 10 }) {
  context.font = font;
  let [x, y] = [0, 0];
  const places = tokens.map((token) => {
    const wide = context.measureText(token).width;
    if (x && x + wide > width) [x, y] = [0, y + line];
    const place = { x, y, width: wide };
    x += wide + gap;
    return place;
  });
  return { places, height: y + line };
}
