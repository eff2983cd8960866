// What each head does, in one number: how sharp, how local, how well it aligns, how much it has changed; and what the
// head atlas of its model has measured.
//
// The measures of this file are of the whole translation in tokens, special tokens included, so they stay the same whatever is shown.

import { signed } from "../../../common/text/format.js";
import { HeadRoles } from "./headroles.js";
import { headChanges } from "./sentencediff.js";
import { information, RESTING_SHARE, restingShares } from "./sinks.js";

/**
 * @typedef {object} Measure
 * @property {number} [digits] After the point. A measure without it is no order of tiles.
 * @property {boolean} [descending] Whether the largest value comes first.
 * @property {(measures: Measures, kind: Kind) => boolean} [exists] Whether `of` has numbers; it always has without this.
 * @property {(measures: Measures, kind: Kind) => Float64Array | null} of One number for each head, at
 *   layer * heads + head; NaN for a head without one.
 */

/**
 * The measures, and so the orders of tiles. A new one is a row here, and its labels `order_NAME`, `order_NAME_note` and
 * `tiles_NAME` in text/en.toml and ko.toml.
 * @type {Record<string, Measure>}
 */
export const MEASURES = {
  entropy: { digits: 2, of: ({ translation }, kind) => meanOfRows(whole(translation, kind), rowEntropy) },
  distance: { digits: 1, of: ({ translation }, kind) => meanOfRows(whole(translation, kind), rowDistance) },
  alignment: {
    digits: 2,
    exists: ({ translation: { alignment } }, kind) => Boolean(alignment?.[kind]),
    of: ({ translation: { alignment } }, kind) =>
      alignment?.[kind] ? Float64Array.from(alignment[kind].flat()) : null,
  },
  change: {
    digits: 2,
    descending: true,
    exists: ({ before }, kind) => Boolean(before?.available.includes(kind)),
    of: ({ translation, before }, kind) =>
      before?.available.includes(kind) ? headChanges(whole(before, kind), whole(translation, kind)) : null,
  },
  resting: { of: ({ translation }, kind) => restingShares(whole(translation, kind)) },
  information: { of: ({ translation }, kind) => information(whole(translation, kind)) },
};

const LAST = Number.MAX_VALUE; // the rank of a head without a value
const LEVELS = 65536; // values of the uint16 that a weight is stored as
const MIN_CHANGE = 0.05; // a smaller change is never marked

export class Measures {
  /**
   * @param {Translation | null} before The translation that was shown before this one, or null.
   * @param {Translation} translation
   */
  constructor(translation, before) {
    this.translation = translation;
    this.before = before;
    /** @type {Map<string, Float64Array | null>} */
    this.known = new Map();
    this.roles = new HeadRoles(null);
  }

  /**
   * Takes over what Python knows of these heads.
   * @param {Roles | null} roles
   */
  learn(roles) {
    if (this.roles.source === roles) return;
    this.roles = new HeadRoles(roles);
    for (const key of this.known.keys()) if (!MEASURES[key.split(" ")[0]]) this.known.delete(key);
  }

  /**
   * @param {string} name
   * @returns {Measure | undefined}
   */
  measure(name) {
    return MEASURES[name] ?? this.roles.measures[name];
  }

  /**
   * One number for each head of a kind, at layer * heads + head; null where the measure does not exist.
   * @param {string} name
   * @param {Kind} kind
   */
  of(name, kind) {
    const key = `${name} ${kind}`;
    if (!this.known.has(key)) this.known.set(key, this.measure(name)?.of(this, kind) ?? null);
    return this.known.get(key) ?? null;
  }

  /**
   * The orders that exist for any of these kinds, by their measures; that of layers and heads first.
   * @param {Kind[]} kinds
   */
  orders(kinds) {
    /** @param {[string, Measure]} entry */
    const known = ([, { digits, exists }]) =>
      digits !== undefined && (!exists || kinds.some((kind) => exists(this, kind)));
    const rows = Object.entries({ ...MEASURES, ...this.roles.measures });
    return ["layer", ...rows.filter(known).map(([name]) => name)];
  }

  /**
   * The value of a head as it is written.
   * @param {string} name
   * @param {Kind} kind
   * @param {number} index
   */
  text(name, kind, index) {
    return this.format(name, this.of(name, kind)?.[index] ?? null);
  }

  /**
   * @param {string} name
   * @param {number | null} value
   */
  format(name, value) {
    return value === null || Number.isNaN(value) ? "\u2013" : signed(value, this.measure(name)?.digits);
  }

  /**
   * Heads of a kind in the order of a measure, as indices: sharp, local, aligning or changed ones first.
   * @param {string} order
   * @param {Kind} kind
   */
  sorted(order, kind) {
    const ranks = this.ranks(order, kind);
    if (!ranks) return null;
    const absent = this.translation.kinds[kind].absent ?? [];
    const indices = Array.from(ranks, (_, index) => index).filter((index) => !absent.includes(index));
    return indices.sort((a, b) => ranks[a] - ranks[b] || a - b);
  }

  /**
   * What heads are sorted by, the smallest first; heads without a value last.
   * @param {string} order
   * @param {Kind} kind
   */
  ranks(order, kind) {
    const values = this.roles.measures[order]?.kinds[kind]?.rank ?? this.of(order, kind);
    const sign = this.measure(order)?.descending ? -1 : 1;
    return values && Float64Array.from(values, (value) => (Number.isFinite(value) ? sign * Number(value) : LAST));
  }

  /**
   * The heads of these kinds that pass a filter, as one list by a measure; by kind and number where there is none.
   * @param {string} order
   * @param {Kind[]} kinds
   * @param {string | null} only
   */
  ranked(order, kinds, only) {
    const heads = kinds.flatMap((kind) => {
      const { layers, heads, absent = [] } = this.translation.kinds[kind];
      const ranks = this.ranks(order, kind);
      return Array.from({ length: layers * heads }, (_, index) => ({
        kind,
        index,
        rank: ranks?.[index] ?? LAST,
      })).filter(({ index }) => !absent.includes(index) && this.roles.passes(only, kind, index));
    });
    return heads.sort((a, b) => a.rank - b.rank);
  }

  /**
   * The heads whose change lies clearly above that of the others of their kind: above the median by more than three
   * times the median distance from it (about two standard deviations, but not drawn up by the changed heads themselves).
   * @param {Kind} kind
   */
  changed(kind) {
    const values = this.of("change", kind);
    if (!values) return new Set();
    const middle = median(values);
    const spread = median(values.map((value) => Math.abs(value - middle)));
    const limit = Math.max(MIN_CHANGE, middle + 3 * spread);
    return new Set(Array.from(values.keys()).filter((index) => values[index] > limit));
  }

  /**
   * The heads of a kind that rest: most of their weight is on `<s>`, `</s>` or punctuation.
   * @param {Kind} kind
   */
  resting(kind) {
    const shares = this.of("resting", kind) ?? [];
    return new Set(Array.from(shares, (_, index) => index).filter((index) => shares[index] > RESTING_SHARE));
  }

  /**
   * The head of a kind whose keys depend most on the query, of those that do not rest; null when all rest.
   * @param {Kind} kind
   */
  looking(kind) {
    const values = this.of("information", kind) ?? [];
    const resting = this.resting(kind);
    const looks = Array.from(values, (_, index) => index).filter((index) => !resting.has(index));
    return looks.length ? looks.reduce((best, index) => (values[index] > values[best] ? index : best)) : null;
  }

  /**
   * The change of the middle head of a kind.
   * @param {Kind} kind
   */
  usualChange(kind) {
    return median(this.of("change", kind) ?? []);
  }
}

/**
 * @param {Translation} translation
 * @param {Kind} kind
 */
const whole = (translation, kind) => translation.view(kind, "tokens", translation.length);

/** @param {ArrayLike<number>} values */
export function median(values) {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * For each head the mean of a function of its rows; rows that look nowhere (fully masked) do not count.
 * @param {View} view
 * @param {(view: View) => (start: number, query: number) => number | null} ofRow
 */
function meanOfRows(view, ofRow) {
  const result = new Float64Array(view.layers * view.heads);
  const measure = ofRow(view);
  const K = view.keys.length;
  for (let map = 0; map < result.length; map++) {
    const start = view.offset(Math.floor(map / view.heads), map % view.heads, 0);
    let sum = 0;
    let rows = 0;
    for (let query = 0; query < view.queries.length; query++) {
      const value = measure(start + query * K, query);
      if (value === null) continue;
      sum += value;
      rows++;
    }
    result[map] = rows ? sum / rows : 0;
  }
  return result;
}

/** @type {Float64Array | null} */
let surprise = null;

/**
 * Entropy of a row in nats, -sum w ln w, as in transformer_core/analysis/attention_sinks.py. Values of tokens are levels.
 * @param {View} view
 */
function rowEntropy({ values, keys }) {
  surprise ??= Float64Array.from({ length: LEVELS }, (_, level) => {
    const weight = level / (LEVELS - 1);
    return level ? -weight * Math.log(weight) : 0;
  });
  const nats = surprise;
  return (/** @type {number} */ start) => {
    let entropy = 0;
    let mass = 0;
    for (let i = start; i < start + keys.length; i++) {
      entropy += nats[values[i]];
      mass += values[i];
    }
    return mass ? entropy : null;
  };
}

/**
 * Mean distance of the keys that a row looks at from the diagonal, in tokens: sum w |k - q (K - 1) / (Q - 1)|.
 * @param {View} view
 */
function rowDistance({ values, scale, keys, queries }) {
  const slope = queries.length > 1 ? (keys.length - 1) / (queries.length - 1) : 0;
  return (/** @type {number} */ start, /** @type {number} */ query) => {
    let distance = 0;
    let mass = 0;
    for (let key = 0; key < keys.length; key++) {
      const weight = values[start + key];
      distance += weight * Math.abs(key - query * slope);
      mass += weight;
    }
    return mass ? distance * scale : null;
  };
}
