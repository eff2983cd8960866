// The flow of a word, exactly: one backward pass through the frozen model, as transformer_core/analysis/flow has it.
//
// What anything contributes to a logit is its value times the gradient of the logit in the affine model of frozen.js. At
// every height the contributions of all states, and of the biases above, sum to the logit.

import { Largest } from "./largest.js";

/** @typedef {import("./frozen.js").Frozen} Frozen */
/** @typedef {import("./frozen.js").FrozenAttention} FrozenAttention */
/** @typedef {import("./frozen.js").FrozenLayer} FrozenLayer */
/** @typedef {import("./frozen.js").FrozenStack} FrozenStack */
/** @typedef {"encoder" | "decoder"} StackName */
/** @typedef {{ queries: number, keys: number, flows: Float32Array }} Edges Flow of the edges of a layer, (h, queries, keys). */
/**
 * What everything below a logit contributes to it.
 * @typedef {object} Flow
 * @property {number} logit
 * @property {Record<Kind, Edges[]>} edges Of each layer.
 * @property {Largest} neurons Stack, layer, position and neuron of the largest.
 * @property {Record<StackName, Float32Array[]>} states Of each position, before and after each layer.
 * @property {Record<StackName, Float32Array[]>} residuals The part of a layer's input that passes by its first attention.
 */

export const STACKS = /** @type {const} */ (["encoder", "decoder"]);
const MAX_NEURONS = 60;

export class FrozenModel {
  /** @param {import("./transformer.js").Transformer} model */
  constructor({ config, parameters }) {
    this.config = config;
    this.parameters = parameters;
    this.output = parameters.matrix(config.tie === "none" ? "projection.weight" : "embedding.weight");
    const { n, k, stride, data } = this.output;
    const sums = new Float64Array(k);
    for (let row = 0; row < n; row++) for (let i = 0; i < k; i++) sums[i] += data[row * stride + i];
    this.bias = config.output_bias ? parameters.matrix("output_bias").data.subarray(0, n) : new Float32Array(n);
    /** The mean over the vocabulary. */
    this.mean = { vector: sums.map((sum) => sum / n), bias: this.bias.reduce((sum, each) => sum + each, 0) / n };
  }

  /** @param {number} token */
  row(token) {
    const { k, stride, data } = this.output;
    return { vector: data.subarray(token * stride, token * stride + k), bias: this.bias[token] };
  }

  /**
   * The flow to the logit of a token minus that of another, or minus the mean over the vocabulary.
   * @param {Frozen} frozen
   * @param {number} position
   * @param {number} token
   * @param {number | null} against
   * @returns {Flow}
   */
  flow({ encoder, decoder }, position, token, against) {
    const [one, other] = [this.row(token), against === null ? this.mean : this.row(against)];
    const width = one.vector.length;
    const gradient = new Float32Array((position + 1) * width);
    gradient.set(
      one.vector.map((value, i) => value - other.vector[i]),
      position * width,
    );
    /** @type {Flow} */
    const flow = {
      logit: dot(decoder.states[decoder.layers.length], gradient, position * width, position * width, width),
      edges: { encoder: [], decoder: [], cross: [] },
      neurons: new Largest(MAX_NEURONS),
      states: { encoder: [], decoder: [] },
      residuals: { encoder: [], decoder: [] },
    };
    flow.logit += one.bias - other.bias;
    const memory = new Float32Array(encoder.states[0].length);
    this.descend("decoder", decoder, gradient, memory, flow);
    this.descend("encoder", encoder, memory, memory, flow);
    return flow;
  }

  /**
   * Takes the gradient through all layers of a stack, from the last, in place.
   * @param {StackName} stack
   * @param {FrozenStack} frozen
   * @param {Float32Array} gradient (rows, d) of its last state; later rows of the decoder have none.
   * @param {Float32Array} memory (S, d), to which the decoder adds.
   * @param {Flow} flow
   */
  descend(stack, { states, layers }, gradient, memory, flow) {
    for (let number = layers.length - 1; number >= 0; number--) {
      const layer = layers[number];
      flow.states[stack].unshift(this.products(states[number + 1], gradient));
      this.throughNorm(layer.name, layer.factors, gradient);
      this.throughNetwork(layer, gradient, STACKS.indexOf(stack), number, flow.neurons);
      for (const attention of [...layer.attentions].reverse()) {
        const { kind, name, factors } = attention;
        this.throughNorm(name, factors, gradient);
        if (kind !== "cross") flow.residuals[stack].unshift(this.products(states[number], gradient));
        const { edges, below } = this.throughAttention(attention, gradient);
        flow.edges[kind].unshift(edges);
        const to = kind === "cross" ? memory : gradient;
        for (let i = 0; i < below.length; i++) to[i] += below[i];
      }
    }
    flow.states[stack].unshift(this.products(states[0], gradient));
  }

  /**
   * The product of each row with its gradient.
   * @param {Float32Array} x (n, d)
   * @param {Float32Array} gradient (rows, d)
   */
  products(x, gradient) {
    const { d_model: d } = this.config;
    const out = new Float32Array(gradient.length / d);
    for (let row = 0; row < out.length; row++) out[row] = dot(x, gradient, row * d, row * d, d);
    return out;
  }

  /**
   * Through LayerNorm, in place.
   * @param {string} name Of the sublayer.
   * @param {Float32Array} factors
   * @param {Float32Array} gradient
   */
  throughNorm(name, factors, gradient) {
    const { data, k } = this.parameters.matrix(`${name}_add_norm.norm.weight`);
    for (let at = 0, row = 0; at < gradient.length; at += k, row++) {
      let mean = 0;
      for (let i = 0; i < k; i++) mean += gradient[at + i] *= data[i] * factors[row];
      mean /= k;
      for (let i = 0; i < k; i++) gradient[at + i] -= mean;
    }
  }

  /**
   * Through the neurons that are not 0, few of a layer, and past them, in place.
   * @param {FrozenLayer} layer
   * @param {Float32Array} gradient
   * @param {number} stack
   * @param {number} number Of the layer.
   * @param {Largest} neurons
   */
  throughNetwork({ name, activations }, gradient, stack, number, neurons) {
    const { d_model: d, d_ff } = this.config;
    const { data: input, stride } = this.parameters.matrix(`${name}.w_1.weight`);
    const slopes = this.parameters.back(`${name}.w_2`, gradient, gradient.length / d);
    const below = new Float32Array(d);
    for (let row = 0; row * d < gradient.length; row++) {
      below.fill(0);
      for (let neuron = 0; neuron < d_ff; neuron++) {
        const activation = activations[row * d_ff + neuron];
        if (activation === 0) continue;
        const slope = slopes[row * d_ff + neuron];
        neurons.add(slope * activation, stack, number, row, neuron);
        for (let i = 0, at = neuron * stride; i < d; i++) below[i] += slope * input[at + i];
      }
      for (let i = 0; i < d; i++) gradient[row * d + i] += below[i];
    }
  }

  /**
   * The flow of each edge, and the gradient of what is attended to.
   * @param {FrozenAttention} attention
   * @param {Float32Array} gradient Of the sum with what passes by.
   * @returns {{ edges: Edges, below: Float32Array }}
   */
  throughAttention({ kind, name, weights, values, factors }, gradient) {
    const { d_model, num_heads, d_v } = this.config;
    const queries = gradient.length / d_model;
    const width = num_heads * d_v;
    const columns = values.length / width;
    const keys = kind === "decoder" ? queries : columns;
    const slopes = this.parameters.back(`${name}.w_o`, gradient, queries);
    const gathered = new Float32Array(keys * width);
    const flows = new Float32Array(num_heads * queries * keys);
    for (let head = 0; head < num_heads; head++)
      for (let query = 0; query < queries; query++) {
        const visible = kind === "decoder" ? query + 1 : keys;
        const from = query * width + head * d_v;
        for (let key = 0; key < visible; key++) {
          const weight = weights[(head * factors.length + query) * columns + key];
          const to = key * width + head * d_v;
          flows[(head * queries + query) * keys + key] = weight * dot(values, slopes, to, from, d_v);
          for (let i = 0; i < d_v; i++) gathered[to + i] += weight * slopes[from + i];
        }
      }
    return { edges: { queries, keys, flows }, below: this.parameters.back(`${name}.w_v`, gathered, keys) };
  }
}

/**
 * @param {Float32Array} x
 * @param {Float32Array} y
 * @param {number} at Where its numbers begin in x.
 * @param {number} from In y.
 * @param {number} count
 */
function dot(x, y, at, from, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += x[at + i] * y[from + i];
  return sum;
}
