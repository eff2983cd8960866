// The cells of a large map: colours, hatch, gaps and outlines. The origin is the corner of the first cell.

import { hatch, paintCells } from "../../../common/draw/canvas.js";

const GAPS_FROM = 10; // smaller cells touch each other

export class Cells {
  /** @type {Picture} */
  picture;
  /** @type {Theme} */
  theme;

  constructor() {
    this.canvas = document.createElement("canvas");
  }

  /**
   * One pixel for each cell; scaled up without smoothing when drawn.
   * @param {Picture} picture
   * @param {Theme} theme
   */
  paint(picture, theme) {
    this.picture = picture;
    this.theme = theme;
    const { rows, columns, written, existing } = picture;
    paintCells(this.canvas, Math.max(1, written), Math.max(1, columns.length), (row, column) =>
      row < written && column < existing ? picture.pixel(rows[row], columns[column], theme) : theme.pixels[0],
    );
  }

  /**
   * Draws everything but the crosshair; `sight` are the slots in sight, [first, end) of rows and of columns.
   * @param {CanvasRenderingContext2D} context
   * @param {{ cell: number, row: number }} size Of a cell.
   * @param {{ rows: number[], columns: number[] }} sight
   */
  draw(context, { cell, row }, sight) {
    const { picture, theme } = this;
    const { written, existing, columns, rows } = picture;
    const right = existing * cell;
    const bottom = written * row;
    const [firstRow, endRow] = sight.rows;
    const [firstColumn, endColumn] = sight.columns;
    // Under the cells: it shows where there is nothing to see in them.
    hatch(context, [firstColumn * cell, firstRow * row, endColumn * cell, endRow * row], theme.hatch);
    context.imageSmoothingEnabled = false;
    if (written && columns.length) {
      context.drawImage(this.canvas, 0, 0, columns.length, written, 0, 0, columns.length * cell, bottom);
    }
    if (Math.min(cell, row) >= GAPS_FROM) this.gaps(context, cell, row, right, bottom);
    this.groups(context, row, right);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(0.5, 0.5, columns.length * cell - 1, rows.length * row - 1);
  }

  /**
   * Thin gaps between the cells.
   * @param {CanvasRenderingContext2D} context
   * @param {number} cell
   * @param {number} row
   * @param {number} right
   * @param {number} bottom
   */
  gaps(context, cell, row, right, bottom) {
    context.fillStyle = this.theme.background;
    context.globalAlpha = 0.75;
    for (let k = 1; k * cell < right; k++) context.fillRect(k * cell - 0.5, 0, 1, bottom);
    for (let q = 1; q * row < bottom; q++) context.fillRect(0, q * row - 0.5, right, 1);
    context.globalAlpha = 1;
  }

  /**
   * A line between rows that belong to different groups, such as the heads of different layers.
   * @param {CanvasRenderingContext2D} context
   * @param {number} row
   * @param {number} right
   */
  groups(context, row, right) {
    const { written, matrix } = this.picture;
    context.fillStyle = this.theme.muted;
    const { groups } = matrix;
    if (!groups) return;
    for (let q = groups; q < written; q += groups) context.fillRect(0, q * row - 0.5, right, 1);
  }
}

/**
 * A frame inside a rectangle.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {string} colour
 * @param {number} line
 */
export function outline(context, x, y, width, height, colour, line) {
  context.strokeStyle = colour;
  context.lineWidth = line;
  context.strokeRect(x + line / 2, y + line / 2, width - line, height - line);
}
