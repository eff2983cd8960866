// The folded flow in a lesson: a translation above which its sentence stands, and what the chosen token is made of.

import { tokenText } from "../../../components/common/text/tokens.js";
import { tokenPositions } from "../../../components/explorer/js/data/headview.js";
import { partsOf } from "../../../components/explorer/js/flow/flowparts.js";
import { Brush } from "../../../components/explorer/js/flow/flowshapes.js";
import { FoldedPlaces } from "../../../components/explorer/js/flow/foldedplaces.js";
import { allWords, foldedScene } from "../../../components/explorer/js/flow/foldedscene.js";

/** @typedef {{ source: string[], outputs: string[] }} FlowTokens */

const isSpecial = (/** @type {string} */ token) => token === "<s>" || token === "</s>";
const BEHIND = 0.3; // how strong the other words are

/** @type {{ encoder: number[][], decoder: number[][] }} The picture shows no layers. */
const NONE = { encoder: [], decoder: [] };

/**
 * @param {ArrayLike<number>} data Parts of source tokens, of inputs, of biases, and their sum.
 * @param {FlowTokens} tokens
 * @returns {FlowWord}
 */
export function flowWord(data, { source, outputs }) {
  const values = Array.from(data);
  const [inputs, biases] = [source.length, source.length + outputs.length];
  const sums = { logit: values[biases + 1], biases: values[biases], total: 0, count: 0 };
  const none = { ways: [], flows: [], heads: [], neurons: [], states: NONE, residuals: NONE };
  return { ...none, ...sums, source: values.slice(0, inputs), inputs: values.slice(inputs, biases) };
}

/**
 * @param {Pen} pen
 * @param {FlowTokens & { biases: string }} tokens `biases`: their name.
 * @param {{ width: number, height: number }} [size]
 */
export function flowPlaces(pen, { source, outputs, biases }, { width, height } = pen) {
  const tokens = {
    source: tokenPositions(source, source.map(isSpecial)),
    outputs: tokenPositions(outputs, outputs.map(isSpecial)),
    first: tokenPositions(["<s>"], [true])[0],
  };
  const measure = (/** @type {string} */ text, /** @type {number} */ size) => pen.measure(text, { size });
  return new FoldedPlaces({ ...tokens, biases }, width, height, measure);
}

/**
 * The chosen token before all others; `hidden` leaves its parts out.
 * @param {Pen} pen
 * @param {FoldedPlaces} places
 * @param {FlowWord[]} words
 * @param {number} chosen
 * @param {boolean} [hidden]
 */
export function drawFlow({ context, theme }, places, words, chosen, hidden = false) {
  const brush = new Brush(context, theme, theme.font);
  const others = words.map((each, at) => (at === chosen ? null : each));
  brush.draw(allWords(places, others, theme), 1, BEHIND);
  brush.draw(foldedScene(places, hidden ? words.map(() => null) : words, { output: chosen }, theme));
}

/**
 * The middle of a generated token.
 * @param {FoldedPlaces} places
 * @param {number} output
 */
export function flowToken(places, output) {
  const { at } = places.place(`i${output + 1}`);
  return places.across ? { x: at, y: places.output } : { x: places.output, y: at };
}

/**
 * Names and values of all parts of a word; tokens that were generated stand in angle brackets.
 * @param {FlowWord} word
 * @param {number} at
 * @param {FlowTokens & { biases: string }} tokens
 * @returns {[string, number][]}
 */
export function namedParts(word, at, { source, outputs, biases }) {
  const inputs = ["<s>", ...outputs];
  const name = (/** @type {string} */ part) => {
    if (part === "b") return biases;
    const text = tokenText((part[0] === "s" ? source : inputs)[Number(part.slice(1))]);
    return part[0] === "s" || text === "<s>" ? text : `<${text}>`;
  };
  return partsOf(word, at).map(({ name: part, value }) => [name(part), value]);
}

/**
 * The largest parts that add, in words.
 * @param {[string, number][]} parts
 * @param {(value: number) => string} show
 */
export function largestParts(parts, show) {
  const added = parts.filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
  const listed = added.slice(0, LISTED).map(([name, value]) => `${name} ${show(value)}`);
  return listed.join(", ");
}

const LISTED = 3;
