// What the flow says in words: the sentence of a word, of a way, of a state.

import { fill, h, tokenElement } from "../../../common/page/dom.js";
import { fillText, formatCount, percent, signed } from "../../../common/text/format.js";
import { tokenText } from "../../../common/text/tokens.js";
import { edgeAt, neuronsAt, partsOf } from "./parts.js";

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
  return h("span", {}, ...parts.flatMap(([text, value], i) => [i ? ", " : "", word(text), ` ${signed(value, 1)}`]));
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
 * The token at a position of a stack.
 * @param {"source" | "input"} axis
 * @param {number} position
 * @param {import("./foldedplaces.js").Tokens} tokens
 */
const tokenAt = (axis, position, tokens) => partText(`${axis === "source" ? "s" : "i"}${position}`, tokens);

/**
 * @param {import("./flowcanvas.js").Hit} hit
 * @param {Flow} flow
 * @param {ExplorerTexts} texts
 * @returns {(Node | string)[]}
 */
export function hitText(hit, { canvas, words, chosen }, texts) {
  const { tokens } = canvas.view;
  if ("source" in hit) {
    const parts = words
      .map(
        (flow, output) =>
          /** @type {[string, number]} */ ([tokens.outputs[output].text, flow?.source[hit.source] ?? 0]),
      )
      .sort((a, b) => b[1] - a[1]);
    return [
      fill(texts.flow_source, { word: word(tokens.source[hit.source].text), parts: list(parts.slice(0, LISTED)) }),
    ];
  }
  const flow = chosen === null ? null : words[chosen];
  if (!flow || "output" in hit) return [];
  if ("node" in hit) return nodeText(hit.node, { canvas, words, chosen }, texts);
  const { kind, layer, query, key, flow: value } = edgeAt(flow, hit.edge);
  const [from, to] = [
    tokenAt(kind === "decoder" ? "input" : "source", key, tokens),
    tokenAt(kind === "encoder" ? "source" : "input", query, tokens),
  ];
  return [
    fill(texts.flow_way, {
      kind: texts[`kind_${kind}`],
      layer: layer + 1,
      key: word(from),
      query: word(to),
      flow: signed(value, 2),
    }),
  ];
}

/**
 * A state: its part, what the logit lens reads there, and the neurons before it.
 * @param {import("./unfoldedplaces.js").Node} node
 * @param {{ canvas: import("./flowcanvas.js").FlowCanvas, words: (FlowWord | null)[], chosen: number | null, data?: FlowData | null }} flow
 * @param {ExplorerTexts} texts
 */
export function nodeText({ stack, layer, position }, { canvas, words, chosen, data }, texts) {
  const flow = /** @type {FlowWord} */ (words[chosen ?? 0]);
  const token = word(tokenAt(stack === "encoder" ? "source" : "input", position, canvas.view.tokens));
  const value = signed(flow.states[stack][layer][position], 2);
  const where = layer ? fillText(texts.flow_after, { stack: texts[`flow_${stack}`], layer }) : texts.flow_embedded;
  const lens = stack === "decoder" && data?.lens[layer]?.[position];
  const neurons = layer ? neuronsAt(flow, stack, layer, position).slice(0, NEURONS) : [];
  const listed = neurons.map(([neuron, part]) => `${neuron + 1}: ${signed(part, 2)}`).join(", ");
  return [
    fill(texts.flow_state, { token, where, value }),
    ...(lens ? [" ", fill(texts.flow_lens, { lens: word(tokenText(lens)) })] : []),
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
