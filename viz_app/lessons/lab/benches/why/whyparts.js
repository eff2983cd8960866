// The parts of a head's scores: what Python sends of its queries and keys, multiplied.

import { fillText, signed } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";
import { largest } from "../../js/order.js";

/** @typedef {{ rows: number[], columns: number[], values: number[][], sum: number, most: number }} Matrix
 *   Parts of one score by origin of query and key; `rows` and `columns` are those origins that have any part. */

/**
 * An origin: its name in a picture, in a sentence, and whose token it is.
 * @typedef {{ text: string, words: string, side: "encoder" | "decoder" | null }} Origin
 */

export class Parts {
  /**
   * @param {import("./why.js").Numbers} own
   * @param {Arrays} arrays
   */
  constructor(own, arrays) {
    this.own = own;
    this.arrays = arrays;
  }

  /**
   * The keys that the mask leaves to a query.
   * @param {number} query
   */
  seen(query) {
    const { data } = this.arrays.why_seen.part(query);
    return Array.from(data.keys()).filter((key) => data[key]);
  }

  /**
   * The key with the largest weight.
   * @param {number} query
   */
  favourite(query) {
    return largest(this.arrays.why_weights.part(query).data);
  }

  /**
   * A score, or what it is above the mean of its row.
   * @param {number} query
   * @param {number} key
   * @param {boolean} relative
   */
  score(query, key, relative) {
    const { data } = this.arrays.why_scores.part(query);
    const seen = this.seen(query);
    return data[key] - (relative ? seen.reduce((sum, each) => sum + data[each], 0) / seen.length : 0);
  }

  /**
   * The vectors of a key, one for each origin; minus their mean over the keys of the row if asked for.
   * @param {string} view
   * @param {number} query
   * @param {number} key
   * @param {boolean} relative
   */
  keys(view, query, key, relative) {
    const all = this.arrays[`why_${view}_keys`];
    const seen = relative ? this.seen(query) : [];
    return Array.from({ length: all.shape[0] }, (_, origin) => {
      const own = Array.from(all.part(origin, key).data);
      for (const each of seen) {
        const { data } = all.part(origin, each);
        for (let at = 0; at < own.length; at++) own[at] -= data[at] / seen.length;
      }
      return own;
    });
  }

  /**
   * The vectors of query and key, and their products, which sum to the score.
   * @param {number} query
   * @param {number} key
   * @param {boolean} relative
   */
  dimensions(query, key, relative) {
    const { why_dims_queries: queries, why_dims_keys: keys } = this.arrays;
    const of_query = Array.from(queries.part(0, query).data);
    const of_key = Array.from(keys.part(0, key).data);
    const [other] = this.keys("dims", query, key, relative);
    const products = of_query.map((each, at) => this.own.scale * each * other[at]);
    return { of_query, of_key, products, sum: products.reduce((sum, each) => sum + each, 0) };
  }

  /**
   * The parts of a score by origin.
   * @param {string} view
   * @param {number} query
   * @param {number} key
   * @param {boolean} relative
   * @returns {Matrix}
   */
  matrix(view, query, key, relative) {
    const all = this.arrays[`why_${view}_queries`];
    const others = this.keys(view, query, key, relative);
    const values = Array.from({ length: all.shape[0] }, (_, origin) => {
      const { data } = all.part(origin, query);
      return others.map((other) => this.own.scale * dot(data, other));
    });
    const flat = values.flat();
    const some = (/** @type {number[]} */ line) => line.some((value) => value !== 0);
    const rows = numbers(values.length).filter((row) => some(values[row]));
    const columns = numbers(others.length).filter((column) => some(values.map((row) => row[column])));
    const empty = !rows.length || !columns.length;
    return {
      rows: empty ? numbers(values.length) : rows,
      columns: empty ? numbers(others.length) : columns,
      values,
      sum: flat.reduce((sum, each) => sum + each, 0),
      most: Math.max(1e-9, ...flat.map(Math.abs)),
    };
  }

  /**
   * The weights of a row in which one part counts only `factor` times, in the score of every key: `scaled_row` in Python.
   * @param {string} view
   * @param {number} query
   * @param {[number, number]} part Origins of query and key.
   * @param {number} factor
   */
  scaledRow(view, query, [of_query, of_key], factor) {
    const own = this.arrays[`why_${view}_queries`].part(of_query, query).data;
    const { data } = this.arrays.why_scores.part(query);
    const keys = this.arrays[`why_${view}_keys`].part(of_key);
    const seen = this.seen(query);
    const scores = seen.map((key) => data[key] - (1 - factor) * this.own.scale * dot(own, keys.part(key).data));
    const most = Math.max(...scores);
    const weights = Array.from(data, () => 0);
    seen.forEach((key, at) => {
      weights[key] = Math.exp(scores[at] - most);
    });
    const sum = weights.reduce((total, each) => total + each, 0);
    return weights.map((weight) => weight / sum);
  }

  /**
   * A score by origin, the part that was pressed, else the largest, and the row with that part scaled.
   * @param {Settings} settings
   * @param {Cell} cell
   */
  shown({ view, relative, factor, part: named }, { query, key }) {
    const matrix = this.matrix(view, query, key, relative);
    const sorted = this.sorted(matrix);
    const pressed = sorted.find(({ part }) => named === `${view}.${part.join(".")}`);
    const { part, value } = pressed ?? sorted[0];
    const after = this.scaledRow(view, query, part, factor);
    return { query, key, matrix, sorted, pressed: Boolean(pressed), part, value, after };
  }

  /**
   * The parts of a score from the largest, its sign left out, to the smallest.
   * @param {Matrix} matrix
   * @returns {{ part: [number, number], value: number }[]}
   */
  sorted({ rows, columns, values }) {
    return rows
      .flatMap((row) =>
        columns.map((column) => ({
          part: /** @type {[number, number]} */ ([row, column]),
          value: values[row][column],
        })),
      )
      .sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
  }
}

/** @param {number} length */
function numbers(length) {
  return Array.from({ length }, (_, number) => number);
}

/**
 * @param {ArrayLike<number>} one
 * @param {ArrayLike<number>} other
 */
function dot(one, other) {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += one[at] * other[at];
  return sum;
}

/**
 * The origins of the queries and of the keys of a head, the biases last.
 * @param {import("./why.js").Numbers} own
 * @param {Texts} texts
 * @param {string} view
 * @returns {{ of_query: Origin[], of_key: Origin[] }}
 */
export function origins({ head, source, inputs }, texts, view) {
  const plain = (/** @type {string} */ text) => ({ text, words: text, side: null });
  const bias = plain(texts.why_bias);
  if (view === "roles") {
    const roles = [plain(texts.why_word), plain(texts.why_position), bias];
    return { of_query: roles, of_key: roles };
  }
  /** @type {(tokens: string[], side: "encoder" | "decoder", wording: string) => Origin[]} */
  const named = (tokens, side, wording) =>
    tokens.map((token) => {
      const text = tokenText(token);
      return { text, words: fillText(wording, { token: `“${text}”` }), side };
    });
  const encoder = [...named(source, "encoder", "{token}"), bias];
  const decoder = [...named(source, "encoder", texts.why_of_source), ...named(inputs, "decoder", "{token}"), bias];
  return {
    of_query: head.startsWith("encoder") ? encoder : decoder,
    of_key: head.startsWith("decoder") ? decoder : encoder,
  };
}

/**
 * Parts in words: "“kleine” × “little” 92.46, …".
 * @param {{ part: [number, number], value: number }[]} parts
 * @param {{ of_query: Origin[], of_key: Origin[] }} names
 */
export function namedParts(parts, { of_query, of_key }) {
  const words = parts.map(({ part: [query, key], value }) => {
    return `${of_query[query].words} \u00d7 ${of_key[key].words} ${signed(value, 2)}`;
  });
  return words.join(", ");
}
