// Places of the parts of the worked example: in a row where there is room, else below each other.

import { isNarrow } from "../../stage/js/layout.js";

const COLUMNS = ["dot", "scaled", "weight"];

/**
 * @param {number} width
 * @param {number} height
 * @param {number} tokens How many there are.
 * @param {number} numbers How many each has.
 */
export function stations(width, height, tokens, numbers) {
  const plan = isNarrow(width) ? stacked(width, tokens, numbers) : inARow(width, height, tokens, numbers);
  const { starts, cellWidth, cellHeight, columns, queries } = plan;
  return {
    ...plan,
    barWidth: (columns.width / 3) * 0.7,
    /**
     * @param {keyof import("./numbers").Values["example"]} name
     * @param {number} index
     * @param {number} column
     */
    cell: (name, index, column) => ({
      x: starts[name].x + column * cellWidth,
      y: starts[name].y + index * cellHeight,
    }),
    /** @param {string} name */
    column: (name) => columns.x + (COLUMNS.indexOf(name) + 0.5) * (columns.width / 3),
    /** @param {number} index */
    row: (index) => columns.y + (index + 0.5) * columns.row,
    /**
     * The query at a point, or null.
     * @param {number} x
     * @param {number} y
     */
    tokenAt: (x, y) => {
      const row = Math.floor((y - starts.q.y) / cellHeight);
      return x < queries.right && y < queries.bottom && row >= 0 && row < tokens ? row : null;
    },
  };
}

/**
 * @param {number} width
 * @param {number} height
 * @param {number} tokens
 * @param {number} numbers
 */
function inARow(width, height, tokens, numbers) {
  const left = 70;
  const free = width - left - 8;
  const cellWidth = Math.min(84, (free * 0.63) / (3 * numbers));
  const gap = Math.min(26, free * 0.02);
  const wide = free - 3 * numbers * cellWidth - 4 * gap; // of products, scores and weights
  const cellHeight = Math.min(cellWidth * 1.3, 80, (height - 118) / (tokens + 1));
  const y = 36;
  const block = numbers * cellWidth;
  const k = left + block + gap;
  const middle = k + block + gap;
  const v = middle + wide + gap;
  return {
    stacked: false,
    size: Math.max(14, Math.min(22, cellHeight * 0.3)),
    cellWidth,
    cellHeight,
    starts: { q: { x: left, y }, k: { x: k, y }, v: { x: v, y } },
    columns: { x: middle, y, width: wide, row: cellHeight },
    label: left - 10,
    output: { x: v, y: y + tokens * cellHeight + 14 },
    foot: { x: left, y: y + (tokens + 1) * cellHeight + 40 },
    queries: { right: left + block, bottom: Infinity },
  };
}

/**
 * @param {number} width
 * @param {number} tokens
 * @param {number} numbers
 */
function stacked(width, tokens, numbers) {
  const x = 62;
  const cellHeight = 36;
  const block = tokens * cellHeight + 32;
  const [q, k, middle, v] = [28, 28 + block, 28 + 2 * block + 4, 28 + 3 * block - 12];
  return {
    stacked: true,
    size: 15,
    cellWidth: (width - x - 6) / numbers,
    cellHeight,
    starts: { q: { x, y: q }, k: { x, y: k }, v: { x, y: v } },
    columns: { x, y: middle, width: width - x, row: cellHeight - 4 },
    label: x - 8,
    output: { x, y: v + tokens * cellHeight + 10 },
    foot: { x: 2, y: v + tokens * cellHeight + 62 },
    queries: { right: x, bottom: k - 24 },
  };
}
