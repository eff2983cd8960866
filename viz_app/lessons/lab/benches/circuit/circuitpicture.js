// A circuit in the picture of the flow: all heads as faint dots, nodes of the circuit as plates, edges as ribbons.

import { allHeads } from "../../../../components/common/heads/heads.js";
import { Brush } from "../../../../components/explorer/js/flow/flowshapes.js";

/** @typedef {import("./circuitplaces.js").CircuitPlaces} CircuitPlaces
 * @typedef {Labels<"source" | "logits" | "encoder" | "decoder" | "ffn">} Names `ffn`: of every network.
 */

const [DIM, PALE] = [0.12, 0.35]; // of ribbons and of nodes that do not touch the chosen one
const HALF = 7.5; // pixels of a plate's height

/**
 * The colour of a node: of its kind of attention, or of its stack.
 * @param {Theme} theme
 * @param {string} name
 */
export function colourOf(theme, name) {
  return theme.kinds[name.split(".")[0]] ?? theme.muted;
}

/**
 * @param {Pen} pen
 * @param {CircuitPlaces} places
 * @param {string} pressed
 * @param {Names} labels
 */
export function drawCircuit(pen, places, pressed, labels) {
  const chosen = places.nodes.has(pressed) ? pressed : null;
  const { context, theme } = pen;
  drawStacks(pen, places, labels);
  const scene = new Map();
  const lit = new Set(chosen ? [chosen] : places.nodes.keys());
  for (const edge of places.edges) {
    const touches = !chosen || edge.sender === chosen || edge.node === chosen;
    if (touches) lit.add(edge.sender).add(edge.node);
    const [at, colour] = [[...places.way(edge), places.width(edge)], colourOf(theme, edge.sender)];
    scene.set(edge, { form: "ribbon", at, alpha: touches ? 0.62 : DIM, colour, hollow: edge.score < 0 });
  }
  new Brush(context, theme, theme.font).draw(scene, 1, context.globalAlpha);
  for (const name of places.nodes.keys()) {
    context.save();
    context.globalAlpha *= lit.has(name) ? 1 : PALE;
    drawNode(pen, places, name, name === chosen, labels);
    context.restore();
  }
}

/**
 * Layers as stripes, all heads as dots.
 * @param {Pen} pen
 * @param {CircuitPlaces} places
 * @param {Names} labels
 */
function drawStacks(pen, places, labels) {
  const { theme } = pen;
  const { layers, heads, starts, wide, tall, foot } = places;
  for (const [stack, left] of Object.entries(starts)) {
    const outside = stack === "encoder" ? left - 9 : left + wide + 9;
    for (let layer = 1; layer <= layers; layer++) {
      const y = foot - layer * tall;
      if (layer % 2) pen.box(left - 2, y, wide + 4, tall, { fill: theme.line, alpha: 0.25 });
      pen.note(String(layer), outside, y + tall / 2, { align: "center", size: 11 });
    }
    const name = { size: 12.5, weight: 600, align: "center", colour: theme.kinds[stack] };
    pen.write(labels[stack], left + wide / 2, foot + 30, name);
  }
  for (const { place } of allHeads(layers, heads)) {
    const { x, y } = places.point(place);
    if (!places.nodes.has(place)) pen.dot(x, y, 1.6, theme.mark);
  }
}

/**
 * @param {Pen} pen
 * @param {CircuitPlaces} places
 * @param {string} name
 * @param {boolean} chosen
 * @param {Names} labels
 */
function drawNode(pen, places, name, chosen, labels) {
  const { theme } = pen;
  const { x, y, half } = /** @type {Point & { half: number }} */ (places.nodes.get(name));
  const [, layer, head] = name.split(".");
  const text = labels[name] ?? (head === "ffn" ? `${labels.ffn} ${layer}` : `${layer}.${head}`);
  const style = { size: /\d$/.test(name) ? Math.max(9, Math.min(11, 0.42 * places.pitch)) : 11, weight: 650 };
  const wide = labels[name] ? Math.max(half, pen.measure(text, style) / 2 + 8) : half;
  const colour = chosen ? theme.text : colourOf(theme, name);
  const shape = /** @type {const} */ ([x - wide, y - HALF, 2 * wide, 2 * HALF]);
  pen.box(...shape, { fill: theme.background, radius: HALF });
  pen.box(...shape, { fill: colour, alpha: 0.2, line: colour, thick: chosen ? 2.2 : 1.3, radius: HALF });
  pen.write(text, x, y + 0.5, { ...style, align: "center" });
}
