// Cells of an attention map with their margins, and strokes that hatch what is masked.

import { trace, write } from "../../../components/common/plot.js";
import { twoSided } from "../../stage/js/bars.js";

const HATCH = 6; // distance of two strokes
const ROOM_FOR_WORDS = 46; // a column of this width holds its label upright
/** The colour of what lies in the future, or leaks from it. */
export function futureColour(theme) {
  return twoSided(theme, -1);
}

/** A piece as it is shown. */
export function plain(token) {
  return token.replaceAll("\u2581", "") || "\u2423";
}

/** Where the cells of a map lie: rows are queries, columns are keys. */
export class Grid {
  constructor(left, top, width, height, rows, columns) {
    Object.assign(this, { left, top, width, height, rows, columns, cell: width / columns, row: height / rows });
  }

  x(column) {
    return this.left + column * this.cell;
  }

  y(row) {
    return this.top + row * this.row;
  }

  middle(column) {
    return this.x(column + 0.5);
  }

  /** The row at a height; null outside. */
  rowAt(y) {
    const row = Math.floor((y - this.top) / this.row);
    return row >= 0 && row < this.rows ? row : null;
  }

  /** Colours: `colourOf(row, column)` gives CSS, or null for none. */
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

  frame(context, theme) {
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(this.left - 0.5, this.top - 0.5, this.width, this.height);
  }

  /** Outlines cells of one row. */
  outline(context, row, colour, { from = 0, to = this.columns, line = 2 } = {}) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(this.x(from) - 0.5, this.y(row) - 0.5, (to - from) * this.cell, this.row);
  }

  /** Labels of the columns above the cells, which take `headroom` pixels. */
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

  /** Height that labels of the columns take. */
  static headroom(width, columns) {
    return width / columns >= ROOM_FOR_WORDS ? 20 : 52;
  }

  /** Labels beside the rows, left or right of the cells. */
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

  /** The cells that a mask hides: `hides(row, column)`; with `share` below 1 they are still being covered. */
  hatch(context, theme, hides, share = 1) {
    const boxes = [];
    for (let q = 0; q < this.rows; q++) {
      for (let k = 0; k < this.columns; k++) if (hides(q, k)) boxes.push([this.x(k), this.y(q), this.cell, this.row]);
    }
    hatchBoxes(context, boxes, theme, share);
  }
}

/** Hatches boxes [x, y, width, height]; the strokes run on from box to box. */
export function hatchBoxes(context, boxes, theme, share = 1) {
  if (!boxes.length || share <= 0) return;
  const left = Math.min(...boxes.map(([x]) => x));
  const top = Math.min(...boxes.map(([, y]) => y));
  const right = Math.max(...boxes.map(([x, , width]) => x + width));
  const bottom = Math.max(...boxes.map(([, y, , height]) => y + height));
  context.save();
  context.globalAlpha = share;
  context.beginPath();
  for (const box of boxes) context.rect(...box);
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

/** A thin line with a label at its left end. */
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
