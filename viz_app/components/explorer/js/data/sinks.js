// Which heads rest on <s>, </s> and punctuation, and how much their keys depend on the query. The same measures as in
// transformer_core/analysis/attention_sinks.py: of the whole translation in tokens, over the queries that are words.

export const RESTING_SHARE = 0.5; // share of its weight from which on a head rests

const SOUNDED = /[\p{L}\p{N}]/u;

/** @param {Position} position */
const separates = ({ text, special }) => special || !SOUNDED.test(text);

/**
 * The share of each head's weight that is on separators, at layer * heads + head; 0 where no query is a word.
 * @param {View} view
 */
export function restingShares(view) {
  const rests = view.keys.flatMap((key, index) => (separates(key) ? [index] : []));
  return eachHead(view, rests, (rows) => mean(rows.map(sum)));
}

/**
 * I(query; key) / log K of each head; of the decoder less what uniform attention has, for its mask alone makes rows
 * differ.
 * @param {View} view
 */
export function information(view) {
  const { keys, queries, causal } = view;
  const uniform = words(view).map((query) => keys.map((_, key) => (key <= query ? 1 / (query + 1) : 0)));
  const least = causal && queries.length ? mutual(uniform) : 0;
  const all = keys.map((_, key) => key);
  return eachHead(view, all, (rows) => (keys.length < 2 ? 0 : (mutual(rows) - least) / Math.log(keys.length)));
}

/**
 * The queries that are words.
 * @param {View} view
 */
const words = ({ queries }) => queries.flatMap((query, index) => (separates(query) ? [] : [index]));

/**
 * A measure of each head's rows at these keys.
 * @param {View} view
 * @param {number[]} keys
 * @param {(rows: number[][]) => number} measure
 */
function eachHead(view, keys, measure) {
  const { values, scale, heads } = view;
  const asked = words(view);
  return Float64Array.from({ length: view.layers * heads }, (_, map) => {
    const rows = asked.map((query) => {
      const start = view.offset(Math.floor(map / heads), map % heads, query);
      return keys.map((key) => values[start + key] * scale);
    });
    return rows.length ? measure(rows) : 0;
  });
}

/**
 * Mutual information in nats, all rows equally likely.
 * @param {number[][]} rows
 */
function mutual(rows) {
  if (!rows.length) return 0;
  return entropy(rows[0].map((_, key) => mean(rows.map((row) => row[key])))) - mean(rows.map(entropy));
}

/** @param {number[]} row */
const entropy = (row) => -sum(row.map((weight) => (weight > 0 ? weight * Math.log(weight) : 0)));

/** @param {number[]} values */
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** @param {number[]} values */
const mean = (values) => sum(values) / values.length;
