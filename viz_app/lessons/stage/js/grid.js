// A matrix as cells of colour, painted once and drawn at any size.

import { paintCells } from "../../../components/common/draw/canvas.js";
import { h } from "../../../components/common/page/dom.js";

export class Grid {
  constructor() {
    this.canvas = h("canvas", {});
    /** @type {string | null} */
    this.key = null;
  }

  /**
   * Paints all cells, one pixel each, unless that was done for the same key before.
   * @param {string} key What the cells depend on; equal texts mean equal cells.
   * @param {number} rows
   * @param {number} columns
   * @param {(row: number, column: number) => number} pixelAt
   */
  paint(key, rows, columns, pixelAt) {
    if (key === this.key) return;
    this.key = key;
    paintCells(this.canvas, rows, columns, pixelAt);
  }

  /**
   * Draws the cells into a rectangle, with sharp edges.
   * @param {CanvasRenderingContext2D} context
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  draw(context, x, y, width, height) {
    context.save();
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, x, y, width, height);
    context.restore();
  }
}
