// The kinds of attention, and the heads of a model.

import { headName } from "../text/format.js";

/** @type {Kind[]} */
export const KINDS = ["encoder", "decoder", "cross"];

/** @type {Record<Kind, { queries: AxisName, keys: AxisName }>} */
export const AXES = {
  encoder: { queries: "source", keys: "source" },
  decoder: { queries: "inputs", keys: "inputs" },
  cross: { queries: "outputs", keys: "source" },
};

/**
 * All heads of a model by kind, layer and number, in Python's order.
 * @param {number} layers
 * @param {number} heads
 * @param {Kind[]} [kinds]
 * @returns {Head[]}
 */
export function allHeads(layers, heads, kinds = KINDS) {
  return kinds.flatMap((kind) =>
    Array.from({ length: layers * heads }, (_, index) => {
      const [layer, head] = [Math.floor(index / heads), index % heads];
      return { kind, layer, head, index, place: headAddress({ kind, layer, head }), name: headName(layer, head) };
    }),
  );
}

/**
 * The name of a head as people read and type it: "cross.6.6", numbers from 1.
 * @param {{ kind: Kind, layer: number, head: number }} head
 */
export function headAddress({ kind, layer, head }) {
  return `${kind}.${headName(layer, head)}`;
}

/**
 * "cross.6.6" -> its kind, layer and head, these from 0.
 * @param {string} place
 */
export function parseHead(place) {
  const [kind, layer, head] = place.split(".");
  return { kind: /** @type {Kind} */ (kind), layer: Number(layer) - 1, head: Number(head) - 1 };
}
