// Base of the large map and the lines: they show a picture, and a hand moves over it.

import { direction } from "../../../common/page/dom.js";
import { ScrollCanvas } from "./scrollcanvas.js";

/**
 * @typedef {object} Hand What a picture is worked with. A cell on a label lacks query or key.
 * @property {() => Cursor | null} cursor The cell under the pointer or of the keyboard.
 * @property {(cursor: Cursor | null) => void} move Puts it elsewhere.
 * @property {(cell: Cursor, how: Pick) => void} pick Hears of a click or the Enter key.
 *
 * @typedef {{ keyboard?: boolean, column?: boolean, first?: boolean }} Pick Whether it came from the keyboard, with Shift, from
 *   the first touch of a finger.
 */

/** @extends {ScrollCanvas<Cursor>} */
export class PictureCanvas extends ScrollCanvas {
  /** @type {Picture} */
  picture;
  /** @type {CanvasRenderingContext2D} */
  context;

  /**
   * @param {string} name
   * @param {Hand} hand
   */
  constructor(name, hand) {
    super(name);
    this.hand = hand;
  }

  /**
   * Takes over what is to be seen.
   * @param {Picture} picture
   * @param {Theme} theme
   * @param {string} label
   */
  show(picture, theme, label) {
    this.picture = picture;
    this.theme = theme;
    this.element.setAttribute("aria-label", label);
  }

  /** @param {Cursor | null} cursor */
  move(cursor) {
    const old = this.hand.cursor();
    if (old?.query !== cursor?.query || old?.key !== cursor?.key) this.hand.move(cursor);
  }

  /**
   * Draw a token, with a thin mark at the start of a word and special tokens muted. Return its width.
   * @param {Position} position
   * @param {number} x
   * @param {number} y
   * @param {{ align: "left" | "right", limit: number, bold: boolean, bright?: boolean, font?: string }} style
   */
  drawToken({ text, start, special }, x, y, { align, limit, bold, bright = bold, font = this.labels.font }) {
    const { context, labels, theme, picture } = this;
    const short = labels.shorten(text, limit);
    context.fillStyle = bright || !special ? theme.text : theme.muted;
    context.textAlign = align;
    context.font = bold ? `bold ${font}` : font;
    const runs = direction(text);
    context.direction = runs; // so that the dots of a shortened token stand at its end
    context.fillText(short, x, y);
    context.direction = "ltr";
    const { width } = context.measureText(short);
    if (!start || picture.matrix.unit === "words") return width;
    context.fillStyle = theme.mark;
    const left = align === "left" ? x : x - width;
    const edge = runs === "rtl" ? left + width + 3 : left - 4;
    context.fillRect(Math.round(edge), y - labels.size * 0.4, 1, labels.size * 0.8);
    return width;
  }
}
