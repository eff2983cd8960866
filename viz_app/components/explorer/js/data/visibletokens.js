// Which rows and columns of a map are shown: all of them, or all but the special tokens.

/**
 * Indices of the queries and keys that are shown, in their order; rows that are not written yet are among them.
 *
 * @param {{ queries: Position[], keys: Position[] }} view A view or a matrix.
 * @param {{ special: boolean }} state Of the store; `special` says whether special tokens are shown.
 */
export function visibleTokens({ queries, keys }, state) {
  return { rows: shownIndices(queries, state), columns: shownIndices(keys, state) };
}

/**
 * @param {Position[]} positions
 * @param {{ special: boolean }} state
 */
export function shownIndices(positions, { special }) {
  return positions.flatMap((position, index) => (special || !position.special ? [index] : []));
}
