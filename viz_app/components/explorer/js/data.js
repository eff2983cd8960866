// One translation as it comes from Python (payload.py), and its maps over pieces or merged to words.

import { headName } from "./dom.js";

const BOUNDARY = "\u2581"; // SentencePiece writes a space before a piece as this character
const FULL = 65535; // the uint16 that stands for a weight of 1

/** What each kind of attention has on its two axes. */
const AXES = {
  encoder: { queries: "source", keys: "source" },
  decoder: { queries: "inputs", keys: "inputs" },
  cross: { queries: "outputs", keys: "source" },
};

export const KINDS = ["encoder", "decoder", "cross"];

/** Everything in a payload but the weights, and where these start. */
export function readHeader(buffer) {
  const length = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(buffer.subarray(4, 4 + length)));
  if (header.version !== 1) throw new Error(`explorer payload of version ${header.version}, expected 1`);
  return { header, start: 4 + length };
}

export class Translation {
  constructor(buffer, { header, start }) {
    Object.assign(this, header);
    this.weights = new Uint16Array(buffer.slice(start).buffer);
    this.length = header.steps.length;
    this.views = new Map();
  }

  /** Positions of an axis: every piece, or every word; texts are cut off after `written` pieces. */
  axis(name, unit, written = Infinity) {
    const { tokens, words, special } = this.axes[name];
    if (unit === "pieces") {
      return tokens.map((text, index) => ({
        text: shown(text),
        start: text.startsWith(BOUNDARY),
        special: special[index],
        first: index,
        last: index,
      }));
    }
    const positions = [];
    tokens.forEach((text, index) => {
      const word = (positions[words[index]] ??= { text: "", start: false, special: false, first: index, last: index });
      word.last = index;
      word.special ||= special[index];
      if (index < written) word.text += text;
    });
    for (const word of positions) word.text = shown(word.text);
    return positions;
  }

  /** The maps of one kind as they stand when `step` pieces have been written. */
  view(kind, unit, step) {
    const key = `${kind} ${unit} ${kind === "encoder" ? 0 : step}`;
    let view = this.views.get(key);
    if (!view) {
      view = new View(this, kind, unit, step);
      // Pieces share the buffer that came from Python; words are computed, so only the newest few stay.
      if (this.views.size >= 8) this.views.delete(this.views.keys().next().value);
      this.views.set(key, view);
    }
    return view;
  }

  /** Number of layers or heads of a kind. */
  shape(kind) {
    return this.kinds[kind];
  }
}

/** All heads of one kind: values over queries and keys, the labels of both, and what exists already. */
export class View {
  constructor(translation, kind, unit, step) {
    const shape = translation.kinds[kind];
    const { queries, keys } = AXES[kind];
    this.kind = kind;
    this.unit = unit;
    this.step = step;
    this.layers = shape.layers;
    this.heads = shape.heads;
    this.causal = kind === "decoder";
    const written = kind === "encoder" ? Infinity : step;
    this.queries = translation.axis(queries, unit, written);
    this.keys = translation.axis(keys, unit, kind === "decoder" ? written : Infinity);
    // The other side of the decoder at the same position: what a row has read last, or what it writes next.
    this.others = kind === "encoder" ? [] : translation.axis(kind === "cross" ? "inputs" : "outputs", unit, written);
    if (this.causal) this.queries.forEach((query, index) => (query.next = this.others[index]?.text ?? ""));
    this.rows = this.queries.filter((query) => query.first < written).length;
    this.columns = kind === "decoder" ? this.rows : this.keys.length;
    const size = shape.layers * shape.heads * shape.queries * shape.keys;
    const pieces = translation.weights.subarray(shape.offset, shape.offset + size);
    this.scale = unit === "pieces" ? 1 / FULL : 1;
    if (unit === "pieces") this.values = pieces;
    else this.mergeLater(pieces, shape, Math.min(written, shape.queries));
  }

  /** Words are merged head by head, when a head is first asked for. */
  mergeLater(pieces, shape, written) {
    const size = this.queries.length * this.keys.length;
    const merged = new Uint8Array(this.layers * this.heads);
    this.values = new Float32Array(merged.length * size);
    this.need = (map) => {
      if (merged[map]) return;
      merged[map] = 1;
      const start = map * shape.queries * shape.keys;
      const own = pieces.subarray(start, start + shape.queries * shape.keys);
      merge(own, shape.keys, this, written, this.values.subarray(map * size, (map + 1) * size));
    };
  }

  /** Where a head's row starts in `values`. */
  offset(layer, head, query) {
    const map = layer * this.heads + head;
    this.need?.(map);
    return (map * this.queries.length + query) * this.keys.length;
  }

  at(layer, head, query, key) {
    return this.values[this.offset(layer, head, query) + key] * this.scale;
  }

  /** One head as a matrix of its own, or a mean over heads. */
  sheet(layer, head, average = "none") {
    if (average === "none") {
      return new Sheet(this, headName(layer, head), this.values, this.offset(layer, head, 0), this.scale);
    }
    const layers = average === "all" ? Array.from({ length: this.layers }, (_, index) => index) : [layer];
    const name = average === "all" ? "mean" : `${layer + 1}.mean`;
    this.means ??= new Map();
    if (!this.means.has(name)) this.means.set(name, this.mean(layers));
    return new Sheet(this, name, this.means.get(name), 0, this.scale);
  }

  /** Mean over all heads of these layers, in the unit of `values`. */
  mean(layers) {
    const size = this.queries.length * this.keys.length;
    const sum = new Float32Array(size);
    for (const layer of layers) {
      for (let head = 0; head < this.heads; head++) {
        const start = this.offset(layer, head, 0);
        for (let i = 0; i < size; i++) sum[i] += this.values[start + i];
      }
    }
    const share = 1 / (layers.length * this.heads);
    return sum.map((value) => value * share);
  }

  /** Whether the model may not look from this query at this key. */
  masked(query, key) {
    return this.causal && key > query;
  }

  /** The key that a head prefers in a row; see Sheet. */
  favourite(layer, head, query, allowed) {
    return this.sheet(layer, head).favourite(query, allowed);
  }
}

/**
 * One matrix over the axes of a view: a head, a mean over heads, a difference. What draws or tells a matrix takes this.
 *
 * `name` is "4.6" for a head; "4.mean" and "mean" are means, which the model itself never computes.
 */
export class Sheet {
  constructor(view, name, values, start, scale) {
    Object.assign(this, { view, name, values, start, scale });
    const { kind, unit, step, causal, queries, keys, others, rows, columns } = view;
    Object.assign(this, { kind, unit, step, causal, queries, keys, others, rows, columns });
  }

  at(query, key) {
    return this.values[this.start + query * this.keys.length + key] * this.scale;
  }

  rowSum(query) {
    let sum = 0;
    for (let key = 0; key < this.keys.length; key++) sum += this.at(query, key);
    return sum;
  }

  masked(query, key) {
    return this.view.masked(query, key);
  }

  /** The key with the largest weight in a row, among those that `allowed` lets through; -1 when there is none. */
  favourite(query, allowed = () => true) {
    let best = -1;
    for (let key = 0; key < this.columns; key++) {
      if (this.masked(query, key) || !allowed(this.keys[key])) continue;
      if (best < 0 || this.at(query, key) > this.at(query, best)) best = key;
    }
    return best;
  }
}

/** One head: sums over the keys of a word, averages over its queries that exist, so rows still sum to 1. */
function merge(pieces, keys, { queries: queryWords, keys: keyWords }, written, merged) {
  let target = 0;
  for (const query of queryWords) {
    const end = Math.min(query.last + 1, written);
    for (const key of keyWords) {
      let sum = 0;
      for (let row = query.first; row < end; row++) {
        for (let column = key.first; column <= key.last; column++) sum += pieces[row * keys + column];
      }
      merged[target++] = end > query.first ? sum / (end - query.first) / FULL : 0;
    }
  }
}

/** A piece without its word boundary; a lone boundary becomes a visible space. */
export function shown(text) {
  return text.replaceAll(BOUNDARY, "") || (text ? "\u2423" : "");
}
