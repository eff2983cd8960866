// The unfolded picture: the ways of one word through every layer, states as dots, tokens with their parts at the foot.

import { clamp } from "../../../common/page/keyboard.js";
import { signed } from "../../../common/text/format.js";
import { single } from "./curves.js";
import { edgeName } from "./flowparts.js";
import { bar, letters } from "./flowshapes.js";
import { shortened } from "./foldedplaces.js";
import { ink } from "./foldedscene.js";
import { BAR, LONGEST, STACKS } from "./unfoldedplaces.js";

/** @typedef {import("./flowshapes.js").Scene} Scene
 * @typedef {import("./unfoldedplaces.js").UnfoldedPlaces} UnfoldedPlaces
 * @typedef {import("./unfoldedplaces.js").Stack} Stack
 * @typedef {import("./unfoldedplaces.js").Hit} Hit
 */

const RESIDUAL = 10; // pixels of the largest residual connection
const TURN = -1.05; // angle of labels that have no room
const TINY = 0.012; // share of the largest state, below which a dot is faint

/**
 * @param {UnfoldedPlaces} places
 * @param {Hit | null} hit What is pointed at or pressed.
 * @param {Theme} theme
 * @param {Record<Stack | "biases", string>} names
 * @returns {Scene}
 */
export function unfoldedScene(places, hit, theme, names) {
  /** @type {Scene} */
  const scene = new Map();
  const { word, edges } = places;
  for (const stack of STACKS) residuals(scene, places, stack, theme);
  edges.forEach((edge, index) => {
    const lit = hit === null || touches(hit, edge, index, places) ? 1 : 0.16;
    scene.set(edgeName(edge), {
      form: "ribbon",
      at: [...places.way(edge), places.wide(edge.flow)],
      alpha: (0.35 + 0.55 * Math.sqrt(Math.abs(edge.flow / word.flows[0]))) * lit,
      colour: theme.kinds[edge.kind],
      hollow: edge.flow < 0,
      grows: places.grows(edge),
    });
  });
  const all = [...word.source, ...word.inputs, word.biases];
  const most = Math.max(...all.map(Math.abs), 1e-9);
  for (const stack of STACKS) {
    states(scene, places, stack, theme);
    foot(scene, places, stack, most, theme, names[stack]);
  }
  crown(scene, places, theme);
  biases(scene, places, most, theme, names.biases);
  return scene;
}

/**
 * Whether what is pointed at lights a way.
 * @param {Hit} hit
 * @param {import("./flowparts.js").Edge} edge
 * @param {number} index
 * @param {UnfoldedPlaces} places
 */
function touches(hit, { kind, layer, query, key }, index, { layers }) {
  if ("edge" in hit) return hit.edge === index;
  const encodes = kind === "encoder";
  if ("source" in hit) return (encodes && query === hit.source) || (kind !== "decoder" && key === hit.source);
  if ("output" in hit) return !encodes && (query === hit.output + 1 || (kind === "decoder" && key === hit.output + 1));
  const { stack, layer: at, position } = hit.node;
  const into = encodes === (stack === "encoder") && layer === at - 1 && query === position;
  const out = kind === "cross" ? stack === "encoder" && at === layers.encoder : kind === stack && layer === at;
  return into || (out && key === position);
}

/**
 * @param {Scene} scene
 * @param {UnfoldedPlaces} places
 * @param {Stack} stack
 * @param {Theme} theme
 */
function residuals(scene, places, stack, theme) {
  const { encoder, decoder } = places.word.residuals;
  const { x } = places.frames[stack];
  const most = Math.max(...[...encoder, ...decoder].flat().map(Math.abs), 1e-9);
  places.word.residuals[stack].forEach((row, layer) =>
    row.slice(0, x.length).forEach((value, i) => {
      const width = (RESIDUAL * places.scale * Math.abs(value)) / most;
      if (width < 0.25) return;
      const [low, high] = [places.y(stack, layer), places.y(stack, layer + 1)];
      const way = single(x[i], low, x[i], (2 * low + high) / 3, x[i], (low + 2 * high) / 3, x[i], high);
      const grows = places.grows({ kind: stack, layer, residual: true });
      const look = { alpha: 0.34, colour: theme.muted, hollow: value < 0, grows };
      scene.set(`${stack}.${layer}.${i}`, { form: "ribbon", at: [...way, width], ...look });
    }),
  );
}

/**
 * A dot for each state, as large as its part, and the numbers of the layers.
 * @param {Scene} scene
 * @param {UnfoldedPlaces} places
 * @param {Stack} stack
 * @param {Theme} theme
 */
function states(scene, places, stack, theme) {
  const { encoder, decoder } = places.word.states;
  const most = Math.max(...[...encoder, ...decoder].flat().map(Math.abs), 1e-9);
  places.word.states[stack].forEach((row, layer) => {
    const y = places.y(stack, layer);
    places.frames[stack].x.forEach((x, i) => {
      const share = Math.abs(row[i]) / most;
      const [alpha, colour] = share < TINY ? [0.3, theme.muted] : [1, theme.text];
      const at = [x, y, 1.1 + 3.4 * Math.sqrt(share)];
      scene.set(`d${stack}.${layer}.${i}`, { form: "dot", at, alpha, colour, hollow: row[i] < 0 });
    });
    if (!layer || (stack === "decoder" && !places.narrow)) return;
    const margin = places.narrow ? 8 : places.frames.encoder.left - 12;
    scene.set(`l${stack}.${layer}`, letters(theme, String(layer), [margin, y, 11 * places.scale]));
  });
}

/**
 * Below a stack: tokens with the bars and numbers of their parts, as many as have room, the largest first.
 * @param {Scene} scene
 * @param {UnfoldedPlaces} places
 * @param {Stack} stack
 * @param {number} most The largest part.
 * @param {Theme} theme
 * @param {string} name
 */
function foot(scene, places, stack, most, theme, name) {
  const { size, scale, slanted, measure } = places;
  const { x, foot: low, left, right } = places.frames[stack];
  const values = places.values[stack];
  const prefix = stack === "encoder" ? "s" : "i";
  const small = 10.5 * scale;
  const y = low + 9 + BAR + small * 0.9;
  const angle = slanted ? TURN : 0;
  const align = slanted ? "right" : "center";
  const [numbers, words] = [free(), free()];
  for (const i of x.map((_, i) => i).sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]))) {
    const { text, special } = places.columns[stack][i];
    const share = Math.abs(values[i]) / most;
    const wide = clamp((i ? x[i] - x[i - 1] : (x[1] ?? x[0] + 20) - x[0]) * 0.5, 4, 12);
    const upright = [x[i] - wide / 2, low + 9, wide, Math.max(1.5, BAR * share)];
    scene.set(
      `r${prefix}${i}`,
      bar(/** @type {[number, number, number, number]} */ (upright), ink(prefix, theme), values[i]),
    );
    const number = signed(values[i], 1);
    const label = shortened(text, slanted ? LONGEST * scale : Infinity, measure, size);
    const light = Math.min(1, 3 * share);
    const alpha = Number(numbers(x[i], measure(number, small) + 5));
    const shown = Number(words(x[i], slanted ? size * 1.15 : measure(label, size) + 5));
    /** @type {[number, number, number]} */
    const place = [x[i] + (slanted ? size * 0.3 : 0), y + size * (slanted ? 0.7 : 1.15), size * (special ? 0.85 : 1)];
    scene.set(`n${prefix}${i}`, letters(theme, number, [x[i], y, small], { light, alpha }));
    scene.set(`${prefix}${i}`, letters(theme, label, place, { light, alpha: shown, angle, align }));
  }
  scene.set(`t${stack}`, letters(theme, name, [(left + right) / 2, places.title(stack), 12 * scale]));
}

/** Whether there is room around a place of a line, which is then taken. */
function free() {
  /** @type {[number, number][]} */
  const taken = [];
  return (/** @type {number} */ at, /** @type {number} */ width) => {
    const room = taken.every(([other, its]) => Math.abs(other - at) >= (width + its) / 2);
    if (room) taken.push([at, width]);
    return room;
  };
}

/**
 * The word at the top, with its logit.
 * @param {Scene} scene
 * @param {UnfoldedPlaces} places
 * @param {Theme} theme
 */
function crown(scene, { position, scale, word, measure, width, tokens, frames }, theme) {
  const { decoder } = frames;
  const { text } = tokens.outputs[position];
  const half = measure(text, 22 * scale) / 2;
  const x = Math.min(decoder.x[position], width - half - 6);
  const [name, y] = [`i${position + 1}`, decoder.top - 20 * scale];
  scene.set(name, letters(theme, text, [x, y, 21 * scale], { light: 1, bold: true }));
  const logit = signed(word.logit, 1);
  const left = x - half - 8 * scale;
  scene.set(`n${name}`, letters(theme, logit, [left, y + scale, 13 * scale], { light: 0.4, align: "right" }));
}

/**
 * What the biases add, between the stacks.
 * @param {Scene} scene
 * @param {UnfoldedPlaces} places
 * @param {number} most
 * @param {Theme} theme
 * @param {string} name
 */
function biases(scene, places, most, theme, name) {
  const { scale, word, narrow } = places;
  const { encoder, decoder } = places.frames;
  const x = narrow ? encoder.left / 2 : (encoder.right + decoder.left) / 2;
  const top = encoder.foot + 9;
  const number = signed(word.biases, 1);
  const small = 10.5 * scale;
  const tall = Math.max(1.5, (BAR * Math.abs(word.biases)) / most);
  scene.set("rb", bar([x - 5, top, 10, tall], theme.muted, word.biases));
  scene.set("nb", letters(theme, number, [x, top + BAR + small * 0.9, small], { light: 0.6 }));
  scene.set("b", letters(theme, name, [x, places.title("encoder"), 12 * scale], { light: 0.6 }));
}
