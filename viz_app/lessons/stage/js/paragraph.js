// Text over several lines on a canvas, and tokens in a row.

import { tokenText } from "../../../components/common/text/tokens.js";

/**
 * Writes words from a line to the next; returns how high they stand.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {Partial<TextStyle> & { size: number }} style
 */
export function wrapped(pen, text, x, y, width, style) {
  let line = "";
  let down = 0;
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && pen.measure(longer, style) > width) {
      pen.write(line, x, y + down, style);
      down += style.size * 1.5;
      line = word;
    } else line = longer;
  }
  pen.write(line, x, y + down, { ...style, most: width });
  return down + style.size * 1.5;
}

/**
 * Place tokens one after the other over lines: [{ x, y, width }] and the height of all.
 * @param {Pen} pen
 * @param {string[]} tokens
 * @param {number} width
 * @param {number} line How high a line is.
 * @param {Partial<TextStyle>} style
 * @param {number} [gap] Between them.
 */
export function laidOut(pen, tokens, width, line, style, gap = 10) {
  let [x, y] = [0, 0];
  const places = tokens.map((token) => {
    const wide = pen.measure(token, style);
    if (x && x + wide > width) [x, y] = [0, y + line];
    const place = { x, y, width: wide };
    x += wide + gap;
    return place;
  });
  return { places, height: y + line };
}

/**
 * Place tokens in one row that scrolls to the chosen one: [{ x, width }].
 * @param {Pen} pen
 * @param {string[]} tokens
 * @param {number} chosen
 * @param {number} width Of what is in sight.
 * @param {number} margin That a token takes besides its letters.
 */
export function scrolledRow(pen, tokens, chosen, width, margin) {
  const places = [];
  let total = 0;
  for (const token of tokens) {
    const own = pen.measure(tokenText(token), { font: pen.theme.code }) + margin;
    places.push({ x: total, width: own });
    total += own;
  }
  const middle = places[chosen].x + places[chosen].width / 2;
  const shift = total <= width ? 0 : Math.min(0, Math.max(width - total, width / 2 - middle));
  return places.map((place) => ({ ...place, x: place.x + shift }));
}

/**
 * Measure the height of the words of `comparedWords`.
 * @param {Pen} pen
 * @param {[string, boolean][]} words
 * @param {number} width
 * @param {number} size
 */
export function comparedHeight(pen, words, width, size) {
  const style = { size, weight: 600 };
  const plain = words.map(([word]) => word);
  return laidOut(pen, plain, width, size * 1.6, style, pen.measure(" ", style)).height;
}

/**
 * Words over several lines; those that differ are marked. Returns how high they stand.
 * @param {Pen} pen
 * @param {[string, boolean][]} words
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {string | null} mark Colour of those that differ.
 * @param {number} [size]
 */
export function comparedWords(pen, words, x, y, width, mark, size = width > 800 ? 26 : width > 460 ? 19 : 16) {
  const { theme } = pen;
  const style = { size, weight: 600 };
  const line = style.size * 1.6;
  const space = pen.measure(" ", style);
  let [across, down] = [0, 0];
  for (const [word, differs] of words) {
    const long = pen.measure(word, style);
    if (across && across + long > width) [across, down] = [0, down + line];
    pen.write(word, x + across, y + down, { ...style, colour: differs && mark ? mark : theme.text, most: width });
    if (differs) pen.fill(x + across, y + down + style.size * 0.68, Math.min(long, width), 2, mark ?? theme.muted);
    across += long + space;
  }
  return down + line;
}
