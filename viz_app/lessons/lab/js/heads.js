// Heads as settings name them, such as cross.3.2, and in the grid of all heads.

import { numberedHeads } from "../../stage/js/headgrid.js";

/** @typedef {{ kind: Kind, layer: number, head: number }} Head */

/** @param {string} [name] */
export function headOf(name = "cross.0.0") {
  const [kind, layer, head] = name.split(".");
  return { kind, layer: Number(layer), head: Number(head) };
}

/** @param {Head} head */
export function settingOf({ kind, layer, head }) {
  return `${kind}.${layer}.${head}`;
}

/**
 * The head after the one that is shown.
 * @param {{ head: string, layers: number, heads: number }} own
 */
export function nextHead({ head, layers, heads }) {
  const { list } = numberedHeads(layers, heads);
  return list[(list.findIndex((each) => settingOf(each) === head) + 1) % list.length];
}

/**
 * The middle of a head's tile.
 * @param {{ tile: (kind: string, layer: number, head: number) => { x: number, y: number, size: number } }} grid
 * @param {string[]} words Kind, layer and head from 0.
 */
export function tileMiddle(grid, [kind, layer, head]) {
  const { x, y, size } = grid.tile(kind, Number(layer), Number(head));
  return { x: x + size / 2, y: y + size / 2 };
}
