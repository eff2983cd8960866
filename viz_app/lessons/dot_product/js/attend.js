// Equation 1 for small numbers, evaluated again for motion; a test compares it with transformer_core.

/**
 * @param {number[]} a
 * @param {number[]} b
 */
export function dotProduct(a, b) {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}

/** @param {number[]} scores */
export function softmax(scores) {
  const most = Math.max(...scores);
  const raised = Array.from(scores, (score) => Math.exp(score - most));
  const sum = raised.reduce((total, value) => total + value, 0);
  return raised.map((value) => value / sum);
}

/**
 * One query against all keys: every step of softmax(q K^T / sqrt(d_k)) V.
 * @param {number[]} query
 * @param {number[][]} keys
 * @param {number[][]} values
 */
export function attend(query, keys, values) {
  const products = keys.map((key) => dotProduct(query, key));
  const scores = products.map((product) => product / Math.sqrt(query.length));
  const weights = softmax(scores);
  const output = values[0].map((_, i) => weights.reduce((sum, weight, k) => sum + weight * values[k][i], 0));
  return { products, scores, weights, output };
}

/**
 * Additive attention without its projections, v . tanh(q + k).
 * @param {number[]} query
 * @param {number[][]} keys
 * @param {number[]} vector
 */
export function additive(query, keys, vector) {
  return keys.map((key) => key.reduce((sum, value, i) => sum + vector[i] * Math.tanh(query[i] + value), 0));
}

const BASE = 36;
const ZERO = 500;
export const LIMIT = 9.9;

/**
 * Rows of tenths as one word that an address can hold, two letters a number.
 * @param {number[][]} rows
 */
export function pack(rows) {
  return rows
    .flat()
    .map((value) => (Math.round(10 * value) + ZERO).toString(BASE).padStart(2, "0"))
    .join("");
}

/**
 * The way back; null for a word of another form.
 * @param {string} word
 * @param {number} width
 */
export function unpack(word, width) {
  if (typeof word !== "string" || !/^[0-9a-z]*$/.test(word) || word.length % (2 * width)) return null;
  const numbers = (word.match(/../g) ?? []).map((pair) => (parseInt(pair, BASE) - ZERO) / 10);
  if (!numbers.every((value) => Math.abs(value) <= LIMIT)) return null;
  return Array.from({ length: numbers.length / width }, (_, row) => numbers.slice(row * width, (row + 1) * width));
}
