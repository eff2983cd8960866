// Cells of an attention map with their margins, and strokes that hatch what is masked.

import { trace, write } from "../../../components/common/plot.js";
import { twoSided } from "../../stage/js/bars.js";

const HATCH = 6; // distance of two strokes
const ROOM_FOR_WORDS = 46; // a column of this width holds its label upright
/**
 * The colour of what lies in the future, or leaks from it.
 * @param {Theme} theme
 */
export function futureColour(theme) {
  return twoSided(theme, -1);
}

/**
 * A piece as it is shown.
 * @param {string} token
 */
export function plain(token) {
  return token.replaceAll("\u2581", "") || "\u2423";
}

/** Where the cells of a map lie: rows are queries, columns are keys. */
export class Grid {
  /**
   * @param {number} left
   * @param {number} top
   * @param {number} width
   * @param {number} height
   * @param {number} rows
   * @param {any} columns
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
   * @param {CanvasRenderingContext2D} context
   * @param {any} colourOf
   * @param {number} [alpha]
   */
  paint(context, colourOf, alpha = 1) {
    context.save();
    context.globalAlpha = alpha;
    const gap = Math.min(this.cell, this.row) > 9 ? 1 : 0;
    for (let q = 0; q < this.rows; q++) {
      for (let k = 0; k < this.columns; k++) {
        const colour = colourOf(q, k);
        if (!colour) continue;
        context.fillStyle = colour;
        context.fillRect(this.x(k), this.y(q), this.cell - gap, this.row - gap);
      }
    }
    context.restore();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   */
  frame(context, theme) {
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(this.left - 0.5, this.top - 0.5, this.width, this.height);
  }

  /**
   * Outlines cells of one row.
   * @param {CanvasRenderingContext2D} context
   * @param {number} row
   * @param {string} colour
   * @param {{ from?: number, to?: number, line?: number }} [options]
   */
  outline(context, row, colour, { from = 0, to = this.columns, line = 2 } = {}) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(this.x(from) - 0.5, this.y(row) - 0.5, (to - from) * this.cell, this.row);
  }

  /**
   * Labels of the columns above the cells, which take `headroom` pixels.
   * @param {CanvasRenderingContext2D} context
   * @param {any[]} names
   * @param {Theme} theme
   * @param {{ strong?: (index: number) => boolean, faint?: (index: number) => boolean }} [options]
   */
  nameColumns(context, names, theme, { strong = () => false, faint = () => false } = {}) {
    const flat = this.cell >= ROOM_FOR_WORDS;
    const size = flat ? 12 : Math.min(12, Math.max(9, this.cell * 0.85));
    names.forEach((name, k) => {
      write(context, plain(name), this.middle(k), this.top - (flat ? 10 : 6), {
        colour: strong(k) ? theme.text : faint(k) ? theme.mark : theme.muted,
        font: theme.code,
        size,
        weight: strong(k) ? 700 : 400,
        align: flat ? "center" : "left",
        turn: flat ? 0 : -Math.PI / 3,
        most: flat ? this.cell - 3 : 56,
      });
    });
  }

  /**
   * Height that labels of the columns take.
   * @param {number} width
   * @param {any} columns
   */
  static headroom(width, columns) {
    return width / columns >= ROOM_FOR_WORDS ? 20 : 52;
  }

  /**
   * Labels beside the rows, left or right of the cells.
   * @param {CanvasRenderingContext2D} context
   * @param {any[]} names
   * @param {Theme} theme
   * @param {string} side
   * @param {{ strong?: (index: number) => boolean, faint?: (index: number) => boolean, most?: number }} [options]
   */
  nameRows(context, names, theme, side, { strong = () => false, faint = () => false, most = 80 } = {}) {
    const size = Math.min(12, Math.max(9, this.row - 1));
    names.forEach((name, q) => {
      write(context, plain(name), side === "left" ? this.left - 8 : this.left + this.width + 8, this.y(q + 0.5), {
        colour: strong(q) ? theme.text : faint(q) ? theme.mark : theme.muted,
        font: theme.code,
        size,
        weight: strong(q) ? 700 : 400,
        align: side === "left" ? "right" : "left",
        most,
      });
    });
  }

  /**
   * The cells that a mask hides: `hides(row, column)`; with `share` below 1 they are still being covered.
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   * @param {any} hides
   * @param {number} [share]
   */
  hatch(context, theme, hides, share = 1) {
    const boxes = [];
    for (let q = 0; q < this.rows; q++) {
      for (let k = 0; k < this.columns; k++) if (hides(q, k)) boxes.push([this.x(k), this.y(q), this.cell, this.row]);
    }
    hatchBoxes(context, boxes, theme, share);
  }
}

/**
 * Hatches boxes [x, y, width, height]; the strokes run on from box to box.
 * @param {CanvasRenderingContext2D} context
 * @param {any[]} boxes
 * @param {Theme} theme
 * @param {number} [share]
 */
export function hatchBoxes(context, boxes, theme, share = 1) {
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
  context.fillStyle = theme.background;
  context.fillRect(left, top, right - left, bottom - top);
  context.strokeStyle = theme.hatch;
  context.lineWidth = 1;
  context.beginPath();
  for (let sum = Math.floor((left + top) / HATCH) * HATCH; sum < right + bottom; sum += HATCH) {
    context.moveTo(sum - bottom, bottom);
    context.lineTo(sum - top, top);
  }
  context.stroke();
  context.restore();
}

/**
 * A thin line with a label at its left end.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} end
 * @param {Theme} theme
 */
export function rule(context, x, y, end, theme) {
  trace(
    context,
    [
      [x, y],
      [end, y],
    ],
    { colour: theme.line, width: 1 },
  );
}
