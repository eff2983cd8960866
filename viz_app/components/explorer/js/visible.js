// Which rows and columns of a map are shown: all of them, or all but the special tokens.

/**
 * Indices of the queries and keys that are shown, in their order; rows that are not written yet are among them.
 *
 * @param {{ queries: Position[], keys: Position[] }} view A view or a sheet.
 * @param {{ special: boolean }} state Of the store; `special` says whether special tokens are shown.
 */
export function visible({ queries, keys }, { special }) {
  return { rows: kept(queries, special), columns: kept(keys, special) };
}

/**
 * @param {Position[]} positions
 * @param {boolean} special
 */
function kept(positions, special) {
  const indices = [];
  for (let index = 0; index < positions.length; index++) if (special || !positions[index].special) indices.push(index);
  return indices;
}
