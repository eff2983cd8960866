// What the flow says in words: the sentence of a word, of a way, of a state.

import { fill, h, tokenElement } from "../../../common/page/dom.js";
import { fillText, formatCount, percent, signed } from "../../../common/text/format.js";
import { tokenText } from "../../../common/text/tokens.js";
import { edgeAt, endsOf, neuronsAt, partsOf } from "./flowparts.js";

const LISTED = 4; // parts that a sentence names
const NEURONS = 4;

/** @typedef {import("./flow.js").Flow} Flow */

/** @param {string} text */
const word = (text) => tokenElement(text, "em");

/**
 * "*dem* is made of *auf* 37.2, *the* 12.8, ..., others -22.4 and biases -34.8: together 13.4."
 * @param {FlowWord} flow
 * @param {number} position
 * @param {{ view: import("./flowcanvas.js").FlowView, unfolded: import("./unfoldedplaces.js").UnfoldedPlaces | null, against: string | null }} about
 * @param {ExplorerTexts} texts
 */
export function flowCaption(flow, position, { view, unfolded, against }, texts) {
  const { outputs } = view.tokens;
  const own = word(outputs[position].text);
  const name = against ? fill(texts.flow_pair, { word: own, against: word(tokenText(against)) }) : own;
  if (unfolded && unfolded.position === position) {
    const { count, carried } = unfolded;
    const numbers = { count: formatCount(count), all: formatCount(flow.count), share: percent(carried) };
    return fill(texts.flow_graph, { word: name, ...numbers });
  }
  const { listed, others } = largest(flow, position);
  const parts = listed.map(({ name, value }) => /** @type {[string, number]} */ ([partText(name, view.tokens), value]));
  const numbers = { others: signed(others, 1), biases: signed(flow.biases, 1), logit: signed(flow.logit, 1) };
  return fill(against ? texts.flow_difference : texts.flow_word, { word: name, parts: list(parts), ...numbers });
}

/**
 * "*auf* 37.2, *the* 12.8"
 * @param {[string, number][]} parts
 */
function list(parts) {
  const listed = document.createDocumentFragment();
  listed.append(...parts.flatMap(([text, value], i) => [i ? ", " : "", word(text), ` ${signed(value, 1)}`]));
  return listed;
}

/**
 * The largest parts of a word, and the sum of the others but for the biases.
 * @param {FlowWord} flow
 * @param {number} position
 */
export function largest(flow, position) {
  const parts = partsOf(flow, position).filter(({ name }) => name !== "b");
  const sorted = parts.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const others = sorted.slice(LISTED).reduce((sum, { value }) => sum + value, 0);
  return { listed: sorted.slice(0, LISTED), others };
}

/**
 * @param {string} name
 * @param {import("./foldedplaces.js").Tokens} tokens
 */
export function partText(name, { source, outputs, first, biases }) {
  const index = Number(name.slice(1));
  if (name === "b") return biases;
  return name.startsWith("s") ? source[index].text : index ? outputs[index - 1].text : first.text;
}

/**
 * About a way, a state or a token of the source.
 * @param {import("./flowcanvas.js").Hit} hit
 * @param {Pick<Flow, "canvas" | "words" | "chosen" | "data">} flow
 * @param {ExplorerTexts} texts
 * @returns {(Node | string)[]}
 */
export function hitText(hit, { canvas, words, chosen, data }, texts) {
  const { tokens } = canvas.view;
  const name = (/** @type {string} */ part) => word(partText(part, tokens));
  const flow = chosen === null ? null : words[chosen];
  if ("source" in hit) {
    const parts = words.map(
      (each, output) => /** @type {[string, number]} */ ([tokens.outputs[output].text, each?.source[hit.source] ?? 0]),
    );
    parts.sort((a, b) => b[1] - a[1]);
    return [fill(texts.flow_source, { word: name(`s${hit.source}`), parts: list(parts.slice(0, LISTED)) })];
  }
  if (!flow || "output" in hit) return [];
  if ("node" in hit) return nodeText(hit.node, flow, name, data?.lens ?? [], texts);
  const edge = edgeAt(flow, hit.edge);
  const [key, query] = endsOf(edge).map(name);
  const kind = texts[`kind_${edge.kind}`];
  return [fill(texts.flow_way, { kind, layer: edge.layer + 1, key, query, flow: signed(edge.flow, 2) })];
}

/**
 * A state: its part, what the logit lens reads there, and the neurons before it.
 * @param {import("./unfoldedplaces.js").Node} node
 * @param {FlowWord} flow
 * @param {(part: string) => Node} name
 * @param {string[][]} lens
 * @param {ExplorerTexts} texts
 */
function nodeText({ stack, layer, position }, flow, name, lens, texts) {
  const token = name(`${stack === "encoder" ? "s" : "i"}${position}`);
  const value = signed(flow.states[stack][layer][position], 2);
  const where = layer ? fillText(texts.flow_after, { stack: texts[`flow_${stack}`], layer }) : texts.flow_embedded;
  const reads = stack === "decoder" && lens[layer]?.[position];
  const neurons = layer ? neuronsAt(flow, stack, layer, position).slice(0, NEURONS) : [];
  const listed = neurons.map(([neuron, part]) => `${neuron + 1}: ${signed(part, 2)}`).join(", ");
  return [
    fill(texts.flow_state, { token, where, value }),
    ...(reads ? [" ", fill(texts.flow_lens, { lens: word(tokenText(reads)) })] : []),
    ...(layer ? [" ", listed ? fillText(texts.flow_neurons, { neurons: listed }) : texts.flow_no_neurons] : []),
  ];
}

/**
 * What the colours mean.
 * @param {boolean} unfold
 * @param {ExplorerTexts} texts
 */
export function legend(unfold, texts) {
  const folded = { cross: texts.flow_of_source, decoder: texts.flow_of_outputs };
  const ways = {
    encoder: texts.kind_encoder,
    decoder: texts.kind_decoder,
    cross: texts.kind_cross,
    residual: texts.flow_residual,
  };
  const entries = Object.entries(unfold ? ways : folded).concat([["hollow", texts.flow_takes]]);
  return entries.map(([name, text]) => h("span", { class: `flow-key flow-${name}` }, text));
}
