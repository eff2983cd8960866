// The positions from left to right with the sentence under them. A sentence that does not fit is shown page by page: the
// waves must stand still, so the window does not glide along with the cut.

import { Axis } from "../../../components/common/draw/plot.js";
import { tokenText } from "../../../components/common/text/tokens.js";

const ROOM = 25; // pixels between two positions, for tokens that stand aslant
const MIN = 8;
export const FOOT = 84; // height of numbers, tokens and the mark of the page

export class TokenAxis {
  /**
   * @param {string[]} tokens
   * @param {number} positions How many there are.
   * @param {number} from
   * @param {number} to
   */
  constructor(tokens, positions, from, to) {
    this.tokens = tokens;
    this.positions = positions;
    this.from = from;
    this.to = to;
    const last = positions - 1;
    this.span = Math.min(last, Math.max(MIN, Math.floor((to - from) / ROOM)));
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
   * @param {Record<number, string>} marks
   */
  draw(pen, at, y, marks) {
    const { theme } = pen;
    const axis = this.page(at);
    const step = axis.place(axis.low + 1) - axis.place(axis.low);
    pen.axis(axis, "bottom", y, { ticks: axis.ticks(Math.min(8, this.span)).filter((tick) => tick % 1 === 0) });
    const shown = this.tokens.slice(axis.low, axis.high + 1).map(tokenText);
    const level = shown.every((text) => pen.measure(text, { size: 12, font: theme.code }) < step - 4);
    const place = level ? { align: "center" } : { align: "right", turn: -Math.PI / 3.4, most: 56 };
    const [right, down] = level ? [0, 34] : [4, 26];
    shown.forEach((text, index) => {
      const colour = marks[axis.low + index] ?? theme.muted;
      const weight = colour === theme.muted ? 400 : 700;
      pen.note(text, axis.place(axis.low + index) + right, y + down, { ...place, colour, font: theme.code, weight });
    });
    if (this.pages > 1) this.drawPages(pen, axis, y + FOOT - 6);
  }

  /**
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {number} y
   */
  drawPages(pen, axis, y) {
    const { theme } = pen;
    const all = new Axis(0, this.pages * this.span, this.from, this.to);
    pen.line(this.from, y, this.to, y, { colour: theme.line, width: 3 });
    pen.line(all.place(axis.low), y, all.place(axis.high), y, { colour: theme.muted, width: 3 });
  }
}
