// One translation as it comes from Python (payload.py), and its maps over tokens or merged to words.

import { readBuffer } from "../../../common/buffer.js";
import { AXES, KINDS } from "../../../common/heads/heads.js";
import { joinTokens, tokenText } from "../../../common/text/tokens.js";
import { HeadView, tokenPositions } from "./headview.js";
import { HeadMatrix } from "./labelledmatrix.js";
import { Merged } from "./merge.js";
import { FULL, Weights } from "./weights.js";

/**
 * A buffer of one payload, or of two, of which the second is what the first is compared with; see `pair` in payload.py.
 * @param {Uint8Array} buffer
 * @returns {[Uint8Array, Uint8Array | null]}
 */
export function halves(buffer) {
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  if (view.getUint32(0, true) !== 0) return [buffer, null];
  const end = 8 + view.getUint32(4, true);
  return [buffer.subarray(8, end), buffer.subarray(end)];
}

/**
 * A payload as its header and the bytes of its weights.
 * @param {Uint8Array} buffer
 * @returns {{ header: ExplorerHeader, data: Uint8Array }}
 */
export function readPayload(buffer) {
  const read = readBuffer(buffer);
  if (read.header.version !== 2) throw new Error(`explorer payload of version ${read.header.version}, expected 2`);
  return read;
}

export class Translation {
  /** @param {{ header: ExplorerHeader, data: Uint8Array }} payload */
  constructor({ header, data }) {
    this.id = header.id;
    this.kinds = header.kinds;
    this.available = KINDS.filter((kind) => kind in header.kinds); // a model of another program may lack some
    this.axes = header.axes;
    this.finished = header.finished;
    this.steps = header.steps;
    this.languages = header.languages;
    this.colours = header.colours;
    this.texts = header.texts;
    this.alignment = header.alignment;
    this.about = header.about;
    this.beam = header.beam;
    this.tree = header.tree;
    this.defaults = header.defaults;
    this.selection = header.selection;
    this.opens = header.opens;
    this.key = header.key;
    /** @type {string | null} The selected head, where it starts switched off. */
    this.off = header.off ?? null;
    this.gloss = header.gloss;
    this.follow = header.follow;
    this.resolution = header.resolution;
    this.weights = new Weights(header, data);
    this.length = this.axes.outputs.tokens.length;
    /** @type {number | null} Tokens of a draft that are there; null for a whole translation. */
    this.written = null;
    /** @type {Map<string, View>} */
    this.views = new Map();
    /** @type {Map<Kind, Merged>} */
    this.words = new Map();
  }

  /** Heads of all kinds. */
  get headCount() {
    return this.available.reduce((sum, kind) => {
      const { layers, heads, absent = [] } = this.kinds[kind];
      return sum + layers * heads - absent.length;
    }, 0);
  }

  /**
   * Positions of an axis: every token, or every word; texts are cut off after `written` tokens.
   * @param {AxisName} name
   * @param {string} unit
   * @param {number} [written]
   * @returns {Position[]}
   */
  axis(name, unit, written = Infinity) {
    const { tokens, words, special } = this.axes[name];
    if (unit === "tokens") return tokenPositions(tokens, special);
    /** @type {Position[]} */
    const positions = [];
    tokens.forEach((text, index) => {
      positions[words[index]] ??= { text: "", start: false, special: false, first: index, last: index };
      const word = positions[words[index]];
      word.last = index;
      word.special ||= special[index];
      if (index < written) word.text += text;
    });
    for (const word of positions) word.text = tokenText(word.text);
    return positions;
  }

  /**
   * The maps of one kind as they stand when `step` tokens have been written.
   * @param {Kind} kind
   * @param {string} unit
   * @param {number} step
   */
  view(kind, unit, step) {
    const key = `${kind} ${unit} ${kind === "encoder" ? 0 : step}`;
    let view = this.views.get(key);
    if (!view) {
      view = new View(this, kind, unit, step);
      // Views share their weights; only the labels of all steps together would be large.
      if (this.views.size >= 8) this.views.delete(String(this.views.keys().next().value));
      this.views.set(key, view);
    }
    return view;
  }

  /**
   * The maps of one kind over words.
   * @param {Kind} kind
   */
  merged(kind) {
    if (!this.words.has(kind)) {
      const { layers, heads, keys } = this.kinds[kind];
      const [queryWords, keyWords] = [AXES[kind].queries, AXES[kind].keys].map((name) => this.axis(name, "words"));
      this.words.set(kind, new Merged(this.weights.of(kind), layers * heads, keys, queryWords, keyWords));
    }
    return this.words.get(kind);
  }
}

/** All heads of one kind of a translation at one step, over tokens or words. */
export class View extends HeadView {
  /**
   * @param {Translation} translation
   * @param {Kind} kind
   * @param {string} unit
   * @param {number} step
   */
  constructor(translation, kind, unit, step) {
    const shape = translation.kinds[kind];
    const written = kind === "encoder" ? Infinity : step;
    const queries = translation.axis(AXES[kind].queries, unit, written);
    const keys = translation.axis(AXES[kind].keys, unit, kind === "decoder" ? written : Infinity);
    const words = unit === "words" ? translation.merged(kind) : null;
    super(kind, shape, queries, keys, words ? words.values : translation.weights.of(kind), 1 / FULL);
    this.words = words;
    this.unit = unit;
    this.step = step;
    // The other side of the decoder at the same position: what a row has read last, or what it writes next.
    this.others =
      kind === "encoder"
        ? /** @type {Position[]} */ ([])
        : translation.axis(kind === "cross" ? "inputs" : "outputs", unit, written);
    if (this.causal) this.queries.forEach((query, index) => (query.next = this.others[index]?.text ?? ""));
    this.rows = this.queries.filter((query) => query.first < written).length;
    this.columns = kind === "decoder" ? this.rows : this.keys.length;
    this.queryTokens = shape.queries;
    this.written = Math.min(written, shape.queries);
    this.weights = translation.weights;
    this.exactSums = this.weights.bits === 8;
    /** @type {Map<string, Float32Array>} */
    this.means = new Map();
  }

  /**
   * Where a head's row starts in `values`; words are merged when a head is first asked for.
   * @param {number} layer
   * @param {number} head
   * @param {number} query
   */
  offset(layer, head, query) {
    this.words?.need(layer * this.heads + head, this.written);
    return super.offset(layer, head, query);
  }

  /**
   * Sum of a row of one head as it was before rounding; only of weights that travelled as bytes.
   * @param {number} layer
   * @param {number} head
   * @param {number} query
   */
  rowSum(layer, head, query) {
    const start = (layer * this.heads + head) * this.queryTokens;
    const { first, last } = this.queries[query];
    const end = Math.min(last + 1, this.written);
    let sum = 0;
    for (let row = first; row < end; row++) sum += this.weights.rowSum(this.kind, start + row);
    return sum / (end - first);
  }

  /**
   * One head as a matrix of its own, or a mean over heads.
   * @param {number} layer
   * @param {number} head
   * @param {string} [average]
   */
  matrix(layer, head, average = "none") {
    if (average === "none") return super.matrix(layer, head);
    const layers = average === "all" ? Array.from({ length: this.layers }, (_, index) => index) : [layer];
    const name = average === "all" ? `${this.kind}.mean` : `${this.kind}.${layer + 1}.mean`;
    if (!this.means.has(name)) this.means.set(name, this.mean(layers));
    return new HeadMatrix(this, name, this.means.get(name) ?? [], 0, this.scale, this.present(layers));
  }

  /**
   * Mean over all heads of these layers, in the unit of `values`.
   * @param {number[]} layers
   */
  mean(layers) {
    const size = this.queries.length * this.keys.length;
    const sum = new Float32Array(size);
    const heads = this.present(layers);
    for (const [layer, head] of heads) {
      const start = this.offset(layer, head, 0);
      for (let i = 0; i < size; i++) sum[i] += this.values[start + i];
    }
    const share = 1 / Math.max(1, heads.length);
    return sum.map((value) => value * share);
  }
}

/**
 * Return the text of tokens, as SentencePiece joins them; of the first `written` ones.
 * @param {{ tokens: string[], special: boolean[] }} axis
 * @param {number} [written]
 */
export function plainText({ tokens, special }, written = tokens.length) {
  return joinTokens(tokens.slice(0, written).filter((_, index) => !special[index]));
}
