// Vectors as bar codes: one stands over each position, and side by side they are a heat map.

import { divergingPixel } from "../../../components/common/draw/diverging.js";
import { Grid } from "../../stage/js/grid.js";
import { barColumn, meanEncodings } from "./encoding.js";

const FINEST = 300; // columns, where each holds more than one position
const THIN = 5; // pixels of a bar code below which a line marks it
const APART = 16; // pixels of a bar code from which on there is a gap beside it

export class BarCodes {
  grid = new Grid();

  /**
   * Rows of a bar code: an even number, at most that of the vector.
   * @param {number} height
   * @param {number} width Of the vector.
   */
  static rows(height, width) {
    return Math.min(width, 2 * Math.floor(height / 2));
  }

  /**
   * Draw the bar codes of whole positions from 0 on, as far as they are printed: one starts half a position before.
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {{ y: number, height: number }} place
   * @param {{ key: string, count: number, rows: number, value: (row: number, position: number) => number,
   *   printed?: number }} bars `value` from -1 to 1.
   */
  draw(pen, axis, { y, height }, { key, count, rows, value, printed = count }) {
    const { context, theme } = pen;
    this.grid.paint(`${theme.key} ${key} ${count} ${rows}`, rows, count, (row, position) =>
      divergingPixel(theme, value(row, position)),
    );
    const whole = Math.floor(printed);
    const step = axis.place(1) - axis.place(0);
    const from = axis.place(-0.5);
    const end = Math.min(axis.to, axis.place(whole + 0.5));
    context.save();
    context.beginPath();
    context.rect(from, y, end - from, height);
    context.rect(end, y, step, height * Math.max(0, 2 * (printed - whole) - 1));
    context.clip();
    this.grid.draw(context, from, y, count * step, height);
    context.restore();
    if (step >= APART)
      for (let position = 1; position < count; position++)
        pen.line(axis.place(position - 0.5), y, axis.place(position - 0.5), y + height, {
          colour: theme.background,
          width: 2,
        });
    pen.frame(axis.from, y, axis.to - axis.from, height, theme.line);
  }

  /**
   * Draw the encodings of so many positions that a column holds several of them, and shows their mean.
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {{ y: number, height: number }} place
   * @param {number} width Of the vector.
   */
  drawFar(pen, axis, { y, height }, width) {
    const { context, theme } = pen;
    const wide = axis.to - axis.from;
    const columns = Math.min(FINEST, Math.floor(wide));
    const rows = BarCodes.rows(height, width);
    const step = (axis.high - axis.low) / columns;
    const means = Array.from({ length: rows }, (_, row) =>
      meanEncodings(axis.low, step, barColumn(row, rows, width), width),
    );
    this.grid.paint(`${theme.key} far ${step} ${rows}`, rows, columns, (row, column) =>
      divergingPixel(theme, means[row](column)),
    );
    this.grid.draw(context, axis.from, y, wide, height);
    pen.frame(axis.from, y, wide, height, theme.line);
  }

  /**
   * Frame the bar code of a position.
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {{ y: number, height: number }} place
   * @param {number} position
   * @param {string} colour
   */
  mark(pen, axis, { y, height }, position, colour) {
    const [x, wide] = [axis.place(position), axis.place(1) - axis.place(0)];
    if (wide < THIN) pen.line(x, y - 2, x, y + height + 2, { colour, width: 1.5 });
    else pen.frame(x - wide / 2, y - 1, wide, height + 2, colour, 2);
  }

  /**
   * Write the two halves of bar codes of sines and cosines beside them.
   * @param {Pen} pen
   * @param {number} x
   * @param {{ y: number, height: number }} place
   */
  names(pen, x, { y, height }) {
    ["sin", "cos"].forEach((name, half) => pen.note(name, x, y + (half + 0.5) * (height / 2), { align: "right" }));
  }
}
