// Where the parts of the worked example stand: in a row where there is room, else below each other.

/**
 * @param {number} width
 * @param {number} height
 * @param {string[]} tokens
 * @param {any} numbers
 */
export function stations(width, height, tokens, numbers) {
  return width < 560 ? stacked(width, tokens, numbers) : inARow(width, height, tokens, numbers);
}

/**
 * @param {number} width
 * @param {number} height
 * @param {any} tokens
 * @param {any} numbers
 */
function inARow(width, height, tokens, numbers) {
  const left = 70;
  const free = width - left - 8;
  const cellWidth = Math.min(84, (free * 0.63) / (3 * numbers));
  const gap = Math.min(26, free * 0.02);
  const columns = free - 3 * numbers * cellWidth - 4 * gap; // of products, scores and weights
  const cellHeight = Math.min(cellWidth * 1.3, 80, (height - 118) / (tokens + 1));
  const top = 36;
  const block = numbers * cellWidth;
  const starts = { q: left, k: left + block + gap };
  const middle = starts.k + block + gap;
  starts.v = middle + columns + gap;
  /** @param {number} index */
  const row = (index) => top + (index + 0.5) * cellHeight;
  return {
    stacked: false,
    size: Math.max(14, Math.min(22, cellHeight * 0.3)),
    cellWidth,
    cellHeight,
    barWidth: (columns / 3) * 0.7,
    columnTop: top,
    /**
     * @param {string} name
     * @param {number} index
     * @param {number} column
     */
    cell: (name, index, column) => ({ x: starts[name] + column * cellWidth, y: top + index * cellHeight }),
    label: () => left - 10,
    /** @param {string} name */
    column: (name) => middle + (["dot", "scaled", "weight"].indexOf(name) + 0.5) * (columns / 3),
    row,
    output: { x: starts.v, y: top + tokens * cellHeight + 14 },
    foot: { x: left, y: top + (tokens + 1) * cellHeight + 40 },
    /**
     * @param {number} x
     * @param {number} y
     */
    tokenAt: (x, y) => within(x < left + block ? Math.floor((y - top) / cellHeight) : -1, tokens),
  };
}

/**
 * @param {number} width
 * @param {any} tokens
 * @param {any} numbers
 */
function stacked(width, tokens, numbers) {
  const left = 62;
  const cellWidth = (width - left - 6) / numbers;
  const cellHeight = 36;
  const block = tokens * cellHeight + 32;
  const tops = { q: 28, k: 28 + block, v: 28 + 3 * block - 12 };
  const middle = 28 + 2 * block + 4;
  return {
    stacked: true,
    size: 15,
    cellWidth,
    cellHeight,
    barWidth: ((width - left) / 3) * 0.7,
    columnTop: middle,
    /**
     * @param {string} name
     * @param {number} index
     * @param {number} column
     */
    cell: (name, index, column) => ({ x: left + column * cellWidth, y: tops[name] + index * cellHeight }),
    label: () => left - 8,
    /** @param {string} name */
    column: (name) => left + (["dot", "scaled", "weight"].indexOf(name) + 0.5) * ((width - left) / 3),
    /** @param {number} index */
    row: (index) => middle + (index + 0.5) * (cellHeight - 4),
    output: { x: left, y: tops.v + tokens * cellHeight + 10 },
    foot: { x: 2, y: tops.v + tokens * cellHeight + 62 },
    /**
     * @param {number} x
     * @param {number} y
     */
    tokenAt: (x, y) => within(x < left && y < tops.k - 24 ? Math.floor((y - tops.q) / cellHeight) : -1, tokens),
  };
}

/**
 * @param {any} row
 * @param {any} tokens
 */
function within(row, tokens) {
  return row >= 0 && row < tokens ? row : null;
}
