// The numbers of the flow: which word is chosen, its parts, and the smallest graph that carries a share of its flow.

export const KINDS_OF_WAYS = /** @type {Kind[]} */ (["encoder", "decoder", "cross"]);

/** @typedef {{ output: number } | { source: number }} Focus The token that is to be seen.
 * @typedef {{ name: string, value: number }} Part `s3` of a source token, `i2` of an input of the decoder, `b` of the biases.
 * @typedef {{ kind: Kind, layer: number, query: number, key: number, flow: number, heads: [number, number][] }} Edge
 */

/**
 * The output token that a selection chooses: the pinned one, else the newest; null for all.
 * @param {Pick<State, "kind" | "pin" | "unit" | "step">} state
 * @param {Pick<Translation, "axes" | "length">} translation
 */
export function chosenToken({ kind, pin, unit, step }, { axes, length }) {
  const newest = step === null ? null : step - 1;
  if (kind === "encoder" || !pin?.startsWith("q")) return newest;
  const row = Number(pin.slice(1));
  const index = unit === "words" ? axes.outputs.words.indexOf(row) : row;
  return index >= 0 && index < (step ?? length) ? index : newest;
}

/**
 * The parts that sum to the logit of a word; inputs behind it are left out.
 * @param {FlowWord} word
 * @param {number} position
 * @returns {Part[]}
 */
export function partsOf({ source, inputs, biases }, position) {
  return [
    ...source.map((value, i) => ({ name: `s${i}`, value })),
    ...inputs.slice(0, position + 1).map((value, i) => ({ name: `i${i}`, value })),
    { name: "b", value: biases },
  ];
}

/**
 * The sum of the parts that add: what shares are shares of.
 * @param {Part[]} parts
 */
export const added = (parts) => parts.reduce((sum, { value }) => sum + Math.max(0, value), 0) || 1;

/**
 * The smallest number of ways that carry a share of all flow, and what they do carry; the list may end before.
 * @param {FlowWord} word
 * @param {number} share 0 to 1.
 */
export function carrying({ flows, total }, share) {
  let [count, sum] = [0, 0];
  while (count < flows.length && sum < share * total - 1e-9) sum += Math.abs(flows[count++]);
  return { count, carried: total ? sum / total : 0 };
}

/**
 * @param {FlowWord} word
 * @param {number} index
 * @returns {Edge}
 */
export function edgeAt({ ways, flows, heads }, index) {
  const [kind, layer, query, key] = ways.slice(4 * index, 4 * index + 4);
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0; i < heads[index].length; i += 2) pairs.push([heads[index][i], heads[index][i + 1]]);
  return { kind: KINDS_OF_WAYS[kind], layer, query, key, flow: flows[index], heads: pairs };
}

/**
 * The tokens that a way joins, by the names of their parts: key and query.
 * @param {Edge} edge
 */
export const endsOf = ({ kind, query, key }) => [
  `${kind === "decoder" ? "i" : "s"}${key}`,
  `${kind === "encoder" ? "s" : "i"}${query}`,
];

/** @param {Edge} edge */
export const edgeName = ({ kind, layer, query, key }) => `${kind}.${layer}.${query}.${key}`;

/**
 * The neurons before a state that count most, largest first.
 * @param {FlowWord} word
 * @param {"encoder" | "decoder"} stack
 * @param {number} layer Of the state: 1 follows the first layer.
 * @param {number} position
 * @returns {[number, number][]} Neuron and flow.
 */
export function neuronsAt({ neurons }, stack, layer, position) {
  /** @type {[number, number][]} */
  const there = [];
  for (let i = 0; i < neurons.length; i += 5)
    if (neurons[i] === Number(stack === "decoder") && neurons[i + 1] === layer - 1 && neurons[i + 2] === position)
      there.push([neurons[i + 3], neurons[i + 4]]);
  return there;
}
