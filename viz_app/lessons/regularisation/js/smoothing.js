// Label smoothing (Section 5.4), evaluated again for motion; a test compares it with transformer_core's loss.

/**
 * Return the target of one of the other tokens: epsilon, shared by all but the right one.
 * @param {number} epsilon
 * @param {number} vocabulary
 */
export function other(epsilon, vocabulary) {
  return epsilon / (vocabulary - 1);
}

/**
 * Loss in nats of a model that gives the right token p and all others the same.
 * @param {number} p
 * @param {number} epsilon
 * @param {number} vocabulary
 */
export function smoothedLoss(p, epsilon, vocabulary) {
  const rest = epsilon ? epsilon * Math.log((1 - p) / (vocabulary - 1)) : 0;
  return -((1 - epsilon) * Math.log(p) + rest);
}

/**
 * The best possible loss: the entropy of the target.
 * @param {number} epsilon
 * @param {number} vocabulary
 */
export function entropy(epsilon, vocabulary) {
  return epsilon ? smoothedLoss(1 - epsilon, epsilon, vocabulary) : 0;
}

/**
 * 0.9 -> "0.900", 0.0000125 -> "1.3e−5".
 * @param {number} value
 */
export function probability(value) {
  if (value === 0) return "0";
  return value >= 0.001 ? value.toFixed(3) : value.toExponential(1).replace("-", "\u2212");
}

export const EPSILON = {
  name: "epsilon",
  label: "\u03b5",
  min: 0,
  max: 0.3,
  step: 0.01,
  rate: 0.06,
  start: 0.1,
  /** @param {number} value */
  show: (value) => value.toFixed(2),
};
