// BLEU of one sentence with all its parts, equal to sacreBLEU's value: BP * exp(mean of log p_n, n = 1 to 4)
// (Papineni et al. 2002), on sacreBLEU's tokens (13a), with its exponential smoothing.

export const ORDERS = 4;

/** @typedef {ReturnType<typeof countNgrams>[number]} Count An n-gram: how often it occurs, and may occur. */
/** @typedef {ReturnType<typeof bleuParts>} Bleu */

/**
 * @param {string} text
 * @param {string} translation The reference.
 */
export function bleuParts(text, translation) {
  const [hypothesis, reference] = [tokens(text), tokens(translation)];
  const counted = Array.from({ length: ORDERS }, (_, order) => countNgrams(hypothesis, reference, order + 1));
  const some = counted.flat().some(({ clipped }) => clipped);
  let halvings = 0; // an order without a match counts 1/2 of a match, the next such order 1/4
  const orders = counted.map((counts) => {
    const matches = counts.reduce((sum, { clipped }) => sum + clipped, 0);
    const total = counts.reduce((sum, { occurrences }) => sum + occurrences, 0);
    const smoothed = some && total > 0 && !matches;
    const value = (smoothed ? 0.5 ** ++halvings : matches) / Math.max(total, 1);
    return { counts, matches, total, value, smoothed };
  });
  const penalty = Math.exp(Math.min(0, 1 - reference.length / hypothesis.length)); // 0 for no hypothesis
  const mean = orders.reduce((product, { value }) => product * value, 1) ** (1 / ORDERS);
  return { hypothesis, reference, orders, brevity_penalty: penalty, mean, score: 100 * penalty * mean };
}

/**
 * The tokens of sacreBLEU's tokenizer 13a.
 * @param {string} text
 */
function tokens(text) {
  const plain = text.replaceAll("&quot;", '"').replaceAll("&amp;", "&").replaceAll("&lt;", "<").replaceAll("&gt;", ">");
  return ` ${plain} `
    .replace(/[{-~[-\x60 -&(-+:-@/]/g, " $& ")
    .replace(/([^0-9])([.,])/gu, "$1 $2 ")
    .replace(/([.,])([^0-9])/gu, " $1 $2")
    .replace(/([0-9])(-)/g, "$1 $2 ")
    .split(/\s+/)
    .filter(Boolean);
}

/**
 * Each n-gram of a hypothesis once, with its places.
 * @param {string[]} hypothesis
 * @param {string[]} reference
 * @param {number} order
 */
function countNgrams(hypothesis, reference, order) {
  const allowed = placesOf(reference, order);
  return [...placesOf(hypothesis, order)].map(([ngram, starts]) => {
    const most = allowed.get(ngram)?.length ?? 0;
    const occurrences = starts.length;
    return { ngram, order, starts, occurrences, allowed: most, clipped: Math.min(occurrences, most) };
  });
}

/**
 * @param {string[]} words
 * @param {number} order
 */
function placesOf(words, order) {
  /** @type {Map<string, number[]>} */
  const places = new Map();
  for (let start = 0; start + order <= words.length; start++) {
    const ngram = words.slice(start, start + order).join(" ");
    places.set(ngram, [...(places.get(ngram) ?? []), start]);
  }
  return places;
}
