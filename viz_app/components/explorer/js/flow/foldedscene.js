// The folded picture: ribbons from each word of the translation to the words that it is made of.

import { signed } from "../../../common/text/format.js";
import { added, partsOf } from "./flowparts.js";
import { bar, letters } from "./flowshapes.js";
import { biasToken, shortened } from "./foldedplaces.js";

/** @typedef {import("./flowshapes.js").Scene} Scene
 * @typedef {import("./flowshapes.js").Shape} Shape
 * @typedef {import("./foldedplaces.js").FoldedPlaces} FoldedPlaces
 * @typedef {import("./flowparts.js").Focus} Focus
 */

const NUMBER = 11.5; // size of numbers
const LEAST = 0.004; // share of what adds to a word, below which nothing is drawn
const [FAINTEST, NARROW] = [0.06, 0.6]; // the same for all words at once, and how wide ribbons then are
const TINY = 0.02; // share of the largest part, below which a number has no bar
const [ACROSS, DOWN] = [44, 32]; // length of the largest bar

/**
 * The picture of a focus; without one only the words.
 * @param {FoldedPlaces} places
 * @param {(FlowWord | null)[]} words
 * @param {Focus | null} focus
 * @param {Theme} theme
 * @returns {Scene}
 */
export function foldedScene(places, words, focus, theme) {
  /** @type {Scene} */
  const scene = new Map();
  /** @type {Map<string, number>} */
  const values = new Map();
  const add = (/** @type {string} */ name, /** @type {Shape} */ shape, /** @type {string} */ part) =>
    scene.set(name, { ...shape, colour: ink(part, theme) });
  words.forEach((word, output) => {
    if (!word || !focus || ("output" in focus && focus.output !== output)) return;
    const parts = partsOf(word, output);
    const ribbons = strands(places, parts, output);
    if ("output" in focus) {
      for (const { name, value } of parts) values.set(name, value);
      values.set(`i${output + 1}`, word.logit);
      for (const [part, shape] of ribbons) add(`p${part}`, shape, part);
    } else {
      const part = `s${focus.source}`;
      values.set(`i${output + 1}`, word.source[focus.source]);
      const shape = ribbons.get(part);
      if (shape) add(`o${output}`, shape, part);
    }
  });
  for (const name of places.places.keys()) token(scene, places, name, values, focus, theme, words.length);
  return scene;
}

/**
 * The ribbons of all words, as far as they add: what stands behind the chosen one.
 * @param {FoldedPlaces} places
 * @param {(FlowWord | null)[]} words
 * @param {Theme} theme
 * @returns {Scene}
 */
export function allWords(places, words, theme) {
  /** @type {Scene} */
  const scene = new Map();
  words.forEach((word, output) => {
    if (!word) return;
    const parts = partsOf(word, output).filter(({ value, name }) => value > 0 && name !== "b");
    const whole = added(parts);
    for (const [part, shape] of strands(places, parts, output, NARROW)) {
      const share = (parts.find(({ name }) => name === part)?.value ?? 0) / whole;
      if (share < FAINTEST) continue;
      scene.set(`${output} ${part}`, { ...shape, alpha: 0.2 + 0.5 * share, colour: ink(part, theme) });
    }
  });
  return scene;
}

/**
 * The ribbons of one word by its parts, side by side where they leave it.
 * @param {FoldedPlaces} places
 * @param {import("./flowparts.js").Part[]} parts
 * @param {number} output
 * @param {number} [narrow]
 * @returns {Map<string, Shape>}
 */
function strands(places, parts, output, narrow = 1) {
  const whole = added(parts);
  const wide = narrow * places.wide;
  const { at } = places.place(`i${output + 1}`);
  /** @type {Map<string, Shape>} */
  const ribbons = new Map();
  for (const line of ["source", "output"]) {
    const order = line === "source" ? 1 : -1; // arcs lie in each other
    const there = parts
      .filter(({ name, value }) => places.places.get(name)?.line === line && Math.abs(value) > LEAST * whole)
      .sort((a, b) => order * (places.place(a.name).at - places.place(b.name).at));
    let from = at - (wide * there.reduce((total, { value }) => total + Math.abs(value), 0)) / whole / 2;
    for (const { name, value } of there) {
      const share = Math.abs(value) / whole;
      const width = wide * share;
      const way = places.way(from + width / 2, name);
      const alpha = 0.45 + 0.5 * Math.min(1, share / 0.3);
      ribbons.set(name, { form: "ribbon", at: [...way, width], alpha, colour: "", hollow: value < 0 });
      from += width;
    }
  }
  return ribbons;
}

/**
 * The colour of a part: of the kind of attention by which it comes; biases have none.
 * @param {string} part
 * @param {Theme} theme
 */
export const ink = (part, theme) =>
  part === "b" ? theme.muted : theme.kinds[part.startsWith("s") ? "cross" : "decoder"];

/**
 * A token with its number and its bar; the chosen one has its logit.
 * @param {Scene} scene
 * @param {FoldedPlaces} places
 * @param {string} name
 * @param {Map<string, number>} values
 * @param {Focus | null} focus
 * @param {Theme} theme
 * @param {number} written
 */
function token(scene, places, name, values, focus, theme, written) {
  const { across, size, scale, inputs, tokens, most, measure } = places;
  const { at, line } = places.place(name);
  const upper = line === "source";
  const index = Number(name.slice(1));
  const position = name === "b" ? biasToken(tokens.biases) : upper ? tokens.source[index] : inputs[index];
  const chosen = focus !== null && name === ("output" in focus ? `i${focus.output + 1}` : `s${focus.source}`);
  const value = values.get(name);
  const others = [...values].filter(([other]) => !focus || !("output" in focus) || other !== `i${focus.output + 1}`);
  const largest = Math.max(...others.map(([, each]) => Math.abs(each)), 1e-9);
  const share = value === undefined ? 0 : Math.abs(value) / largest;
  const beside = upper ? places.source : places.output;
  const letter = position.special ? 0.76 * size : size;
  const light = chosen ? 1 : focus ? Math.min(1, share * 2.2) : position.special ? 0 : 1;
  const alpha = upper || index <= written ? 1 : 0;
  const text = Number.isFinite(most) ? shortened(position.text, most, measure, letter) : position.text;
  const align = across ? "center" : upper ? "right" : "left";
  const [x, y] = across ? [at, beside] : [beside, at];
  scene.set(name, letters(theme, text, [x, y, letter], { light, alpha, align, bold: chosen }));
  if (places.bare) return;
  const small = NUMBER * scale;
  const number = value === undefined ? "" : signed(value, 1);
  const look = { light: Math.min(1, share * 2), alpha: value === undefined ? 0 : 1 };
  const barred = chosen || share < TINY ? undefined : value;
  const colour = ink(focus && "source" in focus ? "s" : name, theme);
  if (across) {
    const away = upper ? -1 : 1;
    const height = beside + away * (size * 0.6 + small * 0.75);
    const long = Math.max(1.5, ACROSS * (size / 19) * share);
    scene.set(`n${name}`, letters(theme, number, [at, height, small], look));
    scene.set(`r${name}`, bar([at - long / 2, height + away * (small * 0.7 + 3) - 2, long, 4], colour, barred));
    return;
  }
  const { source: before, output: behind } = places.longest;
  const right = upper ? beside - before - 6 : beside + behind + 6 + DOWN * scale;
  const long = Math.max(1.5, DOWN * scale * share);
  scene.set(`n${name}`, letters(theme, number, [right, at - 1, small], { ...look, align: "right" }));
  scene.set(`r${name}`, bar([right - long, at + small * 0.5, long, 2.5], colour, barred));
}
