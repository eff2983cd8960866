// Cells of an attention map with their margins, and strokes that hatch what is masked.

import { hatch } from "../../../components/common/draw/canvas.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { twoSided } from "../../stage/js/bars.js";

const ROOM_FOR_WORDS = 46; // a column of this width holds its label upright

/**
 * The colour of what lies in the future, or leaks from it.
 * @param {Theme} theme
 */
export function futureColour(theme) {
  return twoSided(theme, -1);
}

/** Cells of a map: rows are queries, columns are keys. */
export class Grid {
  /**
   * @param {number} left
   * @param {number} top
   * @param {number} width
   * @param {number} height
   * @param {number} rows
   * @param {number} columns
   */
  constructor(left, top, width, height, rows, columns) {
    this.left = left;
    this.top = top;
    this.width = width;
    this.height = height;
    this.rows = rows;
    this.columns = columns;
    this.cell = width / columns;
    this.row = height / rows;
  }

  /** @param {number} column */
  x(column) {
    return this.left + column * this.cell;
  }

  /** @param {number} row */
  y(row) {
    return this.top + row * this.row;
  }

  /** @param {number} column */
  middle(column) {
    return this.x(column + 0.5);
  }

  /**
   * The row at a height; null outside.
   * @param {number} y
   */
  rowAt(y) {
    const row = Math.floor((y - this.top) / this.row);
    return row >= 0 && row < this.rows ? row : null;
  }

  /**
   * Colours: `colourOf(row, column)` gives CSS, or null for none.
   * @param {Pen} pen
   * @param {(row: number, column: number) => string | null} colourOf
   * @param {number} [alpha]
   */
  paint(pen, colourOf, alpha = 1) {
    const gap = Math.min(this.cell, this.row) > 9 ? 1 : 0;
    for (let q = 0; q < this.rows; q++) {
      for (let k = 0; k < this.columns; k++) {
        const colour = colourOf(q, k);
        if (colour) pen.fill(this.x(k), this.y(q), this.cell - gap, this.row - gap, colour, alpha);
      }
    }
  }

  /** @param {Pen} pen */
  frame(pen) {
    pen.frame(this.left - 0.5, this.top - 0.5, this.width, this.height, pen.theme.line);
  }

  /**
   * Outlines cells of one row.
   * @param {Pen} pen
   * @param {number} row
   * @param {string} colour
   * @param {{ from?: number, to?: number, line?: number }} [options]
   */
  outline(pen, row, colour, { from = 0, to = this.columns, line = 2 } = {}) {
    pen.frame(this.x(from) - 0.5, this.y(row) - 0.5, (to - from) * this.cell, this.row, colour, line);
  }

  /**
   * Labels of the columns above the cells, which take `headroom` pixels.
   * @param {Pen} pen
   * @param {string[]} names
   * @param {Emphasis} [emphasis]
   */
  nameColumns(pen, names, emphasis = {}) {
    const flat = this.cell >= ROOM_FOR_WORDS;
    const size = flat ? 12 : Math.min(12, Math.max(9, this.cell * 0.85));
    const place = flat ? { align: "center", most: this.cell - 3 } : { turn: -Math.PI / 3, most: 56 };
    names.forEach((name, k) => {
      const style = { ...emphasised(pen.theme, k, emphasis), ...place, size };
      pen.write(tokenText(name), this.middle(k), this.top - (flat ? 10 : 6), style);
    });
  }

  /**
   * Height that labels of the columns take.
   * @param {number} width
   * @param {number} columns
   */
  static headroom(width, columns) {
    return width / columns >= ROOM_FOR_WORDS ? 20 : 52;
  }

  /**
   * Labels beside the rows, left or right of the cells.
   * @param {Pen} pen
   * @param {string[]} names
   * @param {"left" | "right"} side
   * @param {Emphasis & { most?: number }} [options]
   */
  nameRows(pen, names, side, { most = 80, ...emphasis } = {}) {
    const size = Math.min(12, Math.max(9, this.row - 1));
    const [x, align] = side === "left" ? [this.left - 8, "right"] : [this.left + this.width + 8, "left"];
    names.forEach((name, q) => {
      pen.write(tokenText(name), x, this.y(q + 0.5), { ...emphasised(pen.theme, q, emphasis), size, align, most });
    });
  }

  /**
   * The cells that a mask hides: `hides(row, column)`; with `share` below 1 they are still being covered.
   * @param {Pen} pen
   * @param {(row: number, column: number) => boolean} hides
   * @param {number} [share]
   */
  hatch(pen, hides, share = 1) {
    const boxes = [];
    for (let q = 0; q < this.rows; q++) {
      for (let k = 0; k < this.columns; k++) if (hides(q, k)) boxes.push([this.x(k), this.y(q), this.cell, this.row]);
    }
    hatchBoxes(pen, boxes, share);
  }
}

/**
 * Choose the emphasis of a label.
 * @typedef {{ strong?: (index: number) => boolean }} Emphasis
 */

/**
 * @param {Theme} theme
 * @param {number} index
 * @param {Emphasis} emphasis
 */
function emphasised({ text, muted, code }, index, { strong }) {
  if (strong?.(index)) return { colour: text, font: code, weight: 700 };
  return { colour: muted, font: code };
}

/**
 * Hatches boxes [x, y, width, height]; the strokes run on from box to box.
 * @param {Pen} pen
 * @param {number[][]} boxes
 * @param {number} [share]
 */
export function hatchBoxes(pen, boxes, share = 1) {
  const { context, theme } = pen;
  if (!boxes.length || share <= 0) return;
  const left = Math.min(...boxes.map(([x]) => x));
  const top = Math.min(...boxes.map(([, y]) => y));
  const right = Math.max(...boxes.map(([x, , width]) => x + width));
  const bottom = Math.max(...boxes.map(([, y, , height]) => y + height));
  context.save();
  context.globalAlpha = share;
  context.beginPath();
  for (const [x, y, width, height] of boxes) context.rect(x, y, width, height);
  context.clip();
  pen.fill(left, top, right - left, bottom - top, theme.background);
  hatch(context, [left, top, right, bottom], theme.hatch);
  context.restore();
}
