// Where everything of the unfolded picture stands: encoder left, decoder right, tokens along the foot, layers upwards; on a
// telephone the decoder stands on the encoder.

import { clamp } from "../../../common/page/keyboard.js";
import { distance, single } from "./curves.js";
import { carrying, edgeAt, edgeName } from "./flowparts.js";

/** @typedef {import("./foldedplaces.js").Tokens} Tokens
 * @typedef {import("./foldedplaces.js").Measure} Measure
 * @typedef {"encoder" | "decoder"} Stack
 * @typedef {{ left: number, right: number, top: number, foot: number, x: number[] }} Frame Of a stack, in pixels.
 * @typedef {{ stack: Stack, layer: number, position: number }} Node A state; layer 0 is the embedded token.
 * @typedef {{ node: Node } | { edge: number } | import("./flowparts.js").Focus} Hit
 */

const NARROW = 560; // below this width the stacks stand on each other
const [WIDEST, PER_LAYER] = [13, 0.34]; // pixels of the largest way, and its share of a layer at most
export const BAR = 18; // height of the largest bar below the foot
const QUIET = 0.35; // width of a column with little flow, in that of others
export const LONGEST = 74; // of such a label
const [AFTER_SELF, AFTER_CROSS] = [0.36, 0.72]; // where attention ends, in a layer of the decoder
const REACH = 5; // pixels from a way at which it is pointed at
const BRIDGE = 0.42; // of the time of growing, until which the encoder grows
/** @type {Stack[]} */
export const STACKS = ["encoder", "decoder"];

export class UnfoldedPlaces {
  /** @type {Record<Stack, Frame>} */
  frames;
  /** @type {[number, number]} Left and right end of where ways go from the encoder to the layers of the decoder. */
  lanes;
  /** @type {number} Of the letters. */
  size;
  /** @type {boolean} */
  slanted;
  /** @type {number} Height of what stands below a stack. */
  foot;
  /** @type {number} */
  widest;

  /**
   * @param {Tokens} tokens
   * @param {FlowWord} word
   * @param {number} position
   * @param {number} share Of all flow, 0 to 1.
   * @param {{ width: number, height: number, scale: number }} room
   * @param {Measure} measure
   */
  constructor(tokens, word, position, share, { width, height, scale }, measure) {
    const { count, carried } = carrying(word, share);
    this.count = count;
    this.carried = carried;
    this.word = word;
    this.position = position;
    this.tokens = tokens;
    this.scale = scale;
    this.measure = measure;
    this.edges = Array.from({ length: count }, (_, index) => edgeAt(word, index));
    this.layers = { encoder: word.residuals.encoder.length, decoder: word.residuals.decoder.length };
    this.columns = { encoder: tokens.source, decoder: [tokens.first, ...tokens.outputs].slice(0, position + 1) };
    this.values = { encoder: word.source, decoder: word.inputs.slice(0, position + 1) };
    this.narrow = width < NARROW;
    this.width = Math.min(width, Math.max(460, 66 * (tokens.source.length + position + 1) + 200) * scale);
    this.height = clamp(height, this.narrow ? 620 : 380, this.narrow ? 760 : 680);
    this.arrange();
    this.aside = this.sides();
  }

  arrange() {
    const { narrow, width, height, scale } = this;
    const margin = 24 * scale; // for the numbers of layers
    const lanes = clamp(width * 0.11, 44, 120);
    const roomy = width - 2 * margin - lanes;
    const count = narrow ? 1 : 2;
    this.size =
      clamp((0.36 * count * roomy) / (this.columns.encoder.length + this.columns.decoder.length), 11, 15) * scale;
    const label = (/** @type {Position} */ { text }) => this.measure(text, this.size) + 9 * scale;
    const weights = { encoder: this.weights("encoder"), decoder: this.weights("decoder") };
    const labels = { encoder: this.columns.encoder.map(label), decoder: this.columns.decoder.map(label) };
    const room = (/** @type {Record<Stack, number[]>} */ { encoder, decoder }) =>
      narrow ? Math.max(total(encoder), total(decoder)) : total(encoder) + total(decoder);
    this.slanted = room(labels) > roomy;
    /** @type {Record<Stack, number[]>} Widths of the columns. */
    const columns = { encoder: [], decoder: [] };
    for (const stack of STACKS) {
      const own = narrow ? total(weights[stack]) : room(weights);
      const spare = roomy - (this.slanted ? 0 : narrow ? total(labels[stack]) : room(labels));
      columns[stack] = weights[stack].map(
        (weight, i) => (this.slanted ? 0 : labels[stack][i]) + (spare * weight) / own,
      );
    }
    const longest = Math.max(...[...labels.encoder, ...labels.decoder]);
    this.foot = BAR + 20 * scale + (this.slanted ? Math.min(LONGEST * scale, longest) * 0.87 + 6 : this.size + 8);
    const title = 18 * scale; // names of the stacks and the biases
    const crown = 34 * scale;
    const arch = 46;
    const all = height - crown - arch - title - this.foot * (narrow ? 2 : 1);
    const tall = narrow ? (all - title) / 2 : all;
    this.widest = Math.min(WIDEST * scale, (PER_LAYER * tall) / this.layers.decoder);
    const left = narrow ? margin + lanes : margin;
    const upper = crown + (narrow ? 14 : arch);
    const lower = narrow ? upper + tall + this.foot + title + arch - 14 : upper;
    const encoder = frame(columns.encoder, left, lower, tall);
    const decoder = frame(columns.decoder, narrow ? left : encoder.right + lanes, upper, tall);
    this.frames = { encoder, decoder };
    this.lanes = narrow ? [margin + 4, left - 22] : [encoder.right + 12, decoder.left - 26];
  }

  /**
   * Columns of tokens that carry much are wide, the others narrow.
   * @param {Stack} stack
   */
  weights(stack) {
    const flows = this.columns[stack].map(() => 0);
    const encodes = stack === "encoder";
    for (const { kind, query, key, flow } of this.edges) {
      if ((kind === "encoder") === encodes) flows[query] += Math.abs(flow);
      if ((kind !== "decoder") === encodes) flows[key] += Math.abs(flow);
    }
    const most = Math.max(...flows, 1e-9);
    return flows.map((flow) => QUIET + (1 - QUIET) * Math.min(1, (8 * flow) / most));
  }

  /**
   * Height of a state; parts of a layer lie between.
   * @param {Stack} stack
   * @param {number} layer
   */
  y(stack, layer) {
    const { foot, top } = this.frames[stack];
    return foot - ((foot - top) * layer) / this.layers[stack];
  }

  /**
   * Height of the name below a stack.
   * @param {Stack} stack
   */
  title(stack) {
    return this.frames[stack].foot + this.foot + 9 * this.scale;
  }

  /**
   * @param {import("./flowparts.js").Edge} edge
   * @returns {number[]}
   */
  way(edge) {
    const { kind, layer, query, key } = edge;
    const { encoder, decoder } = this.frames;
    if (kind !== "cross") {
      const x = this.frames[kind].x;
      const [low, high] = [this.y(kind, layer), this.y(kind, layer + (kind === "encoder" ? 1 : AFTER_SELF))];
      const bend = (low - high) * 0.55;
      return single(x[key], low, x[key], low - bend, x[query], high + bend, x[query], high);
    }
    const [first, last] = this.lanes;
    const along = layer / Math.max(1, this.layers.decoder - 1);
    const aside = this.aside.get(edgeName(edge)) ?? 0; // ways that end at one place lie side by side
    const [x, top, end] = [encoder.x[key], encoder.top, decoder.x[query]];
    const y = this.y("decoder", layer + AFTER_CROSS) - aside;
    if (this.narrow) {
      const lane = last + along * (first - last) - aside;
      const turn = top - 36;
      const up = [x, top, x, top - 26, lane, turn + 26, lane, turn];
      return [...up, lane, turn - 0.25 * (turn - y), lane, y, end, y];
    }
    const lane = first + along * (last - first) + aside;
    const rise = Math.min(38, 8 + 0.12 * (lane - x));
    const turn = top + 2;
    const over = [x, top, x, top - rise, lane, turn - 1.2 * rise, lane, turn];
    return [...over, lane, turn + 0.85 * (y - turn), lane + 0.25 * (end - lane), y, end, y];
  }

  /** How far the ways that end at one place lie from its middle, so that they lie side by side. */
  sides() {
    const aside = new Map();
    /** @type {Map<string, import("./flowparts.js").Edge[]>} */
    const groups = new Map();
    for (const edge of this.edges) {
      if (edge.kind !== "cross") continue;
      const name = `${edge.layer}.${edge.query}`;
      groups.set(name, [...(groups.get(name) ?? []), edge]);
    }
    for (const group of groups.values()) {
      group.sort((a, b) => b.key - a.key);
      let at = -group.reduce((sum, { flow }) => sum + this.wide(flow), 0) / 2;
      for (const edge of group) {
        const width = this.wide(edge.flow);
        aside.set(edgeName(edge), at + width / 2);
        at += width;
      }
    }
    return aside;
  }

  /**
   * When a way grows, 0 to 1: from the foot upwards.
   * @param {import("./flowparts.js").Edge | { kind: Stack, layer: number, residual: true }} edge
   * @returns {[number, number]}
   */
  grows(edge) {
    const { kind, layer } = edge;
    const low = kind === "encoder" ? 0 : BRIDGE;
    const per = (kind === "encoder" ? BRIDGE : 1 - BRIDGE) / this.layers[kind === "encoder" ? kind : "decoder"];
    const length = kind === "encoder" || "residual" in edge ? 1 : kind === "decoder" ? AFTER_SELF : AFTER_CROSS;
    return [kind === "cross" ? BRIDGE : low + layer * per, low + (layer + length) * per];
  }

  /**
   * @param {Point} point
   * @returns {Hit | null}
   */
  at(point) {
    for (const stack of STACKS) {
      const { x, foot, top } = this.frames[stack];
      const away = x.map((each) => Math.abs(each - point.x));
      const position = away.indexOf(Math.min(...away));
      const layer = Math.round(((foot - point.y) / (foot - top)) * this.layers[stack]);
      const close = layer in this.word.states[stack] && Math.abs(this.y(stack, layer) - point.y) < 7;
      if (close && away[position] < 8) return { node: { stack, layer, position } };
      const below = point.y > foot + 8 && point.y < foot + this.foot && away[position] < 40;
      if (below) return stack === "encoder" ? { source: position } : position ? { output: position - 1 } : null;
    }
    let [best, least] = [-1, Infinity];
    this.edges.forEach((edge, index) => {
      const half = this.wide(edge.flow) / 2;
      const away = distance(this.way(edge), point, REACH + half) - half;
      if (away < Math.min(REACH, least)) [best, least] = [index, away];
    });
    return best < 0 ? null : { edge: best };
  }

  /**
   * Width of a way.
   * @param {number} flow
   */
  wide(flow) {
    return (this.widest * Math.abs(flow)) / Math.max(1e-9, Math.abs(this.word.flows[0]));
  }
}

/**
 * @param {number[]} columns Their widths.
 * @param {number} left
 * @param {number} top
 * @param {number} height
 * @returns {Frame}
 */
function frame(columns, left, top, height) {
  let right = left;
  const x = columns.map((width) => {
    right += width;
    return right - width / 2;
  });
  return { left, right, top, foot: top + height, x };
}

const total = (/** @type {number[]} */ numbers) => numbers.reduce((sum, value) => sum + value, 0);
