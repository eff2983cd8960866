// Softmax under a mask that sinks: scores that it hides have something subtracted, from nothing to infinity. A test
// compares it with transformer_core.

/**
 * Weights of one row.
 *
 * @param {ArrayLike<number>} scores Of the row, before the mask.
 * @param {(k: number) => boolean} hides (k) -> whether the mask hides key k.
 * @param {number} open What the mask leaves of the exponential of a hidden score: 1 is no mask, 0 is minus infinity.
 */
export function weightsUnder(scores, hides, open) {
  let most = -Infinity;
  for (let k = 0; k < scores.length; k++) if ((open > 0 || !hides(k)) && scores[k] > most) most = scores[k];
  const raised = Array.from(scores, (score, k) =>
    hides(k) ? (open > 0 ? open * Math.exp(score - most) : 0) : Math.exp(score - most),
  );
  const sum = raised.reduce((total, value) => total + value, 0);
  return raised.map((value) => value / sum);
}

/**
 * The share of a row that lies where the mask hides.
 * @param {number[]} weights
 * @param {(k: number) => boolean} hides
 */
export function hiddenMass(weights, hides) {
  return weights.reduce((total, weight, k) => total + (hides(k) ? weight : 0), 0);
}

/**
 * The freed mass in small equal parts, each with the key that it leaves and the key that it reaches.
 *
 * @param {number[]} before Weights without the mask.
 * @param {number[]} after Weights with it.
 * @param {number} size Of a part.
 */
export function parts(before, after, size) {
  const lost = before.map((weight, k) => Math.max(0, weight - after[k]));
  const won = before.map((weight, k) => Math.max(0, after[k] - weight));
  const moved = lost.reduce((total, mass) => total + mass, 0);
  const count = Math.round(moved / size);
  return Array.from({ length: count }, (_, part) => {
    const level = ((part + 0.5) / count) * moved;
    return { from: reached(lost, level), to: reached(won, level) };
  });
}

/**
 * The first key at which the masses add up to a level.
 * @param {number[]} masses
 * @param {number} level
 */
function reached(masses, level) {
  let sum = 0;
  for (let k = 0; k < masses.length; k++) {
    sum += masses[k];
    if (sum >= level) return k;
  }
  return masses.length - 1;
}
