// How much each head has changed from one sentence to the next.
//
// The tokens of both sentences are aligned by their longest common subsequence. A row counts when its query is a token of
// both. What lies between two aligned keys, on either side, counts as one place: a head that looked at "dog" and now looks
// at the "cat" in its stead has not changed. The change of a row is the total variation distance of its two distributions
// over these places, half the sum of |p - p'|: 0 is the same, 1 looks elsewhere altogether. The change of a head is the mean
// over the rows that count.

import { align } from "./align.js";

/**
 * The change of every head of a kind, from one view to another; null when they cannot be compared: other layers or heads,
 * or no token of text among the queries of both.
 * @param {View} before
 * @param {View} after
 */
export function headChanges(before, after) {
  if (before.layers !== after.layers || before.heads !== after.heads) return null;
  const rows = pairs(before.queries, after.queries);
  if (!rows.some(([, query]) => !after.queries[query].special)) return null;
  const stretches = stretchesOf(pairs(before.keys, after.keys), before.keys.length, after.keys.length);
  const result = new Float64Array(after.layers * after.heads);
  for (let map = 0; map < result.length; map++) {
    const [layer, head] = [Math.floor(map / after.heads), map % after.heads];
    let sum = 0;
    for (let row = 0; row < rows.length; row++) {
      const [old, fresh] = rows[row];
      const [from, to] = [before.offset(layer, head, old), after.offset(layer, head, fresh)];
      for (let at = 0; at < stretches.length; at++)
        sum += distance(before.values, from, after.values, to, stretches[at]);
    }
    result[map] = (sum * after.scale) / 2 / rows.length;
  }
  return result;
}

/**
 * Sum of |p - p'| over a stretch of two rows: key by key where these are aligned, else of all its weight.
 * @param {ArrayLike<number>} before
 * @param {number} from Where the row starts in `before`.
 * @param {ArrayLike<number>} after
 * @param {number} to
 * @param {Stretch} stretch
 */
function distance(before, from, after, to, { aligned, i, iEnd, j, jEnd }) {
  let sum = 0;
  if (aligned) {
    const shift = to + j - from - i;
    for (let at = from + i; at < from + iEnd; at++) sum += Math.abs(before[at] - after[at + shift]);
    return sum;
  }
  for (let at = from + i; at < from + iEnd; at++) sum += before[at];
  for (let at = to + j; at < to + jEnd; at++) sum -= after[at];
  return Math.abs(sum);
}

/**
 * Pairs of positions of the longest common subsequence of two axes, in order.
 * @param {Position[]} before
 * @param {Position[]} after
 */
function pairs(before, after) {
  /** @param {Position} position */
  const name = ({ text, start, special }) => `${special ? "<" : start ? " " : "+"}${text}`;
  const matches = Array.from(align(before.map(name), after.map(name)), (old, fresh) => [old, fresh]);
  return matches.filter(([old]) => old >= 0);
}

/**
 * Cuts both axes into the same stretches: neighbours that are aligned with neighbours, and everything between two of them.
 * @typedef {{ aligned: boolean, i: number, iEnd: number, j: number, jEnd: number }} Stretch
 * @param {number[][]} pairs
 * @param {number} beforeLength
 * @param {number} afterLength
 */
function stretchesOf(pairs, beforeLength, afterLength) {
  /** @type {Stretch[]} */
  const stretches = [];
  let [i, j] = [0, 0];
  for (const [a, b] of [...pairs, [beforeLength, afterLength]]) {
    if (i < a || j < b) stretches.push({ aligned: false, i, iEnd: a, j, jEnd: b });
    if (a === beforeLength) break;
    [i, j] = [a + 1, b + 1];
    const last = stretches.at(-1);
    if (last?.aligned) [last.iEnd, last.jEnd] = [i, j];
    else stretches.push({ aligned: true, i: a, iEnd: i, j: b, jEnd: j });
  }
  return stretches;
}
