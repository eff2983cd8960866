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
  const places = commonPlaces(pairs(before.keys, after.keys), before.keys.length, after.keys.length);
  const result = new Float64Array(after.layers * after.heads);
  const difference = new Float64Array(places.count);
  for (let map = 0; map < result.length; map++) {
    const [layer, head] = [Math.floor(map / after.heads), map % after.heads];
    let sum = 0;
    for (const [old, fresh] of rows) {
      difference.fill(0);
      add(difference, before, before.offset(layer, head, old), places.before, -before.scale);
      add(difference, after, after.offset(layer, head, fresh), places.after, after.scale);
      for (const part of difference) sum += Math.abs(part);
    }
    result[map] = sum / 2 / rows.length;
  }
  return result;
}

/**
 * @param {Float64Array} difference
 * @param {View} view
 * @param {number} start
 * @param {Uint16Array} places
 * @param {number} factor
 */
function add(difference, { values }, start, places, factor) {
  for (let key = 0; key < places.length; key++) difference[places[key]] += values[start + key] * factor;
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
 * Numbers the places of both axes: an aligned pair is one, and so is everything between two of them.
 * @param {number[][]} pairs
 * @param {number} beforeLength
 * @param {number} afterLength
 */
function commonPlaces(pairs, beforeLength, afterLength) {
  const before = new Uint16Array(beforeLength);
  const after = new Uint16Array(afterLength);
  let [i, j, count] = [0, 0, 0];
  for (const [a, b] of [...pairs, [beforeLength, afterLength]]) {
    if (i < a || j < b) {
      before.fill(count, i, a);
      after.fill(count, j, b);
      count++;
    }
    if (a === beforeLength) break;
    before[a] = after[b] = count++;
    [i, j] = [a + 1, b + 1];
  }
  return { before, after, count };
}
