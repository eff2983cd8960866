// The positions from left to right with the sentence under them. A sentence that does not fit is shown page by page: the
// waves must stand still, so the window does not glide along with the cut.

import { Axis, drawAxis, trace, write } from "../../../components/common/plot.js";

const ROOM = 25; // pixels between two positions, for tokens that stand aslant
const LEAST = 8;
export const FOOT = 84; // height of numbers, tokens and the mark of the page

/**
 * A piece as it is read: without its mark of the word boundary.
 * @param {string} token
 */
export function word(token) {
  return token.replace("\u2581", "") || "\u2423";
}

export class TokenAxis {
  /**
   * @param {any} positions How many there are.
   * @param {string[]} tokens
   * @param {number} from
   * @param {number} to
   */
  constructor(tokens, positions, from, to) {
    this.tokens = tokens;
    this.positions = positions;
    this.from = from;
    this.to = to;
    const last = positions - 1;
    this.span = Math.min(last, Math.max(LEAST, Math.floor((to - from) / ROOM)));
    this.pages = Math.ceil(last / this.span);
  }

  /**
   * The part of the axis that a position lies on.
   * @param {number} at
   */
  page(at) {
    const number = Math.min(this.pages - 1, Math.floor(at / this.span + 1e-9));
    const first = number * this.span;
    return new Axis(first, first + this.span, this.from, this.to);
  }

  /**
   * The position under the pointer; dragging stays on the page.
   * @param {number} x
   * @param {number} at
   */
  dragged(x, at) {
    const axis = this.page(at);
    return Math.min(axis.value(x), axis.high < this.positions - 1 ? axis.high - 0.01 : this.positions - 1);
  }

  /**
   * Numbers, tokens and which part of the sentence this is, below `y`; tokens in `marks` ({ position: colour }) stand out.
   * @param {Pen} pen
   * @param {number} at
   * @param {number} y
   * @param {{ [x: number]: string }} marks
   */
  draw({ context, theme }, at, y, marks) {
    const axis = this.page(at);
    const step = axis.place(axis.low + 1) - axis.place(axis.low);
    drawAxis(context, axis, "bottom", y, {
      theme,
      ticks: axis.ticks(Math.min(8, this.span)).filter((tick) => tick % 1 === 0),
    });
    context.font = `12px ${theme.code}`;
    const shown = this.tokens.slice(axis.low, axis.high + 1).map(word);
    const level = shown.every((text) => context.measureText(text).width < step - 4);
    shown.forEach((text, index) => {
      const colour = marks[axis.low + index];
      const style = { colour: colour ?? theme.muted, font: theme.code, size: 12, weight: colour ? 700 : 400 };
      if (level) write(context, text, axis.place(axis.low + index), y + 34, { ...style, align: "center" });
      else
        write(context, text, axis.place(axis.low + index) + 4, y + 26, {
          ...style,
          align: "right",
          turn: -Math.PI / 3.4,
          most: 56,
        });
    });
    if (this.pages > 1) this.drawPages(context, theme, axis, y + FOOT - 6);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   * @param {Axis} axis
   * @param {number} y
   */
  drawPages(context, theme, axis, y) {
    const all = new Axis(0, this.pages * this.span, this.from, this.to);
    trace(
      context,
      [
        [this.from, y],
        [this.to, y],
      ],
      { colour: theme.line, width: 3 },
    );
    trace(
      context,
      [
        [all.place(axis.low), y],
        [all.place(axis.high), y],
      ],
      { colour: theme.muted, width: 3 },
    );
  }
}
