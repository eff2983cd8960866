// Changes of attention rows as a setting: the same letters as row_edits.py reads.

const MAX = 10;

/**
 * The setting with one more change; a weight that is dragged takes the place of the one before.
 * @param {string} edits
 * @param {{ head: string, query: number }} row The head as in settings.
 * @param {string} action Letter and number, such as "x3" or "w3.40".
 */
export function withEdit(edits, { head, query }, action) {
  const [kind, layer, number] = head.split(".");
  const place = `${kind[0]}${layer}.${number}.${query}`;
  const list = edits ? edits.split("_") : [];
  const dragged = action.startsWith("w") ? `${place}${action.split(".")[0]}.` : null;
  if (dragged && list[list.length - 1]?.startsWith(dragged)) list.pop();
  return list.length < MAX ? [...list, `${place}${action}`].join("_") : edits;
}

/**
 * The setting without the last change.
 * @param {string} edits
 */
export function undone(edits) {
  return edits.split("_").slice(0, -1).join("_");
}

/**
 * The setting in which a row is copied from the next place: another head, another sentence.
 * @param {string} edits
 * @param {{ head: string, query: number }} row
 * @param {{ letter: string, first: number, count: number, before: number }} places What the copy is called, the number
 *   of the first place, how many there are, and after which one it begins.
 */
export function nextCopy(edits, row, { letter, first, count, before }) {
  const last = new RegExp(`${letter}([0-9]+)$`).exec(edits);
  const next = first + (((last ? Number(last[1]) : before) - first + 1) % count);
  return withEdit(last ? undone(edits) : edits, row, `${letter}${next}`);
}
