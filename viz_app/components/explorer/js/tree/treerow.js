// A row of a map over a tree: its weight on each word and on the brackets of each constituent.

/**
 * The row of the map that is looked at: pointed at, pinned, or of the current step; null for none.
 * @param {State} state
 * @param {View} view
 */
export function rowOf({ cursor, pin, step, kind }, view) {
  if (cursor && cursor.query !== null) return cursor.query;
  if (pin?.startsWith("q")) return Number(pin.slice(1));
  return step !== null && kind !== "encoder" && view.rows ? view.rows - 1 : null;
}

/**
 * The row in which the model generated a token.
 * @param {View} view Of decoder or cross-attention.
 * @param {number} index Of the token.
 */
export function rowOfToken({ queries }, index) {
  return queries.findIndex(({ first, last }) => first <= index && index <= last);
}

/**
 * Weight of a row on each word, and on the two brackets of each constituent.
 * @param {LabelledMatrix} matrix
 * @param {number} row
 * @param {TreeData} tree
 */
export function rowOverTree(matrix, row, { spans, marks, nodes }) {
  /** @param {(key: Position) => boolean} own */
  const sum = (own) =>
    matrix.keys.reduce((total, key, index) => {
      const counts = index < matrix.columns && !matrix.masked(row, index) && own(key);
      return counts ? total + matrix.at(row, index) : total;
    }, 0);
  if (matrix.kind !== "decoder") {
    return { words: spans.map(([first, last]) => sum((key) => first <= key.first && key.last <= last)), nodes: null };
  }
  // A key of the decoder is the token that stands before: <s> is the first one.
  /** @param {(number | null)[]} tokens */
  const on = (...tokens) =>
    sum((key) => tokens.some((token) => token !== null && key.first <= token + 1 && token + 1 <= key.last));
  return { words: marks.map((mark) => on(mark)), nodes: nodes.map(({ opening, closing }) => on(opening, closing)) };
}

/**
 * The word that a row attends to most, with its weight; null where that is below `least`.
 * @param {number[]} weights
 * @param {number} least
 */
export function strongestWord(weights, least) {
  const weight = Math.max(...weights);
  return weight >= least ? { word: weights.indexOf(weight), weight } : null;
}
