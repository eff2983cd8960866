// Heads of a bench: the one that follows, and where the grid shows one.

import { headPlace } from "../../../components/common/heads/heads.js";
import { numberedHeads } from "../../stage/js/headgrid.js";

/**
 * The head after the one that is shown.
 * @param {{ head: string, layers: number, heads: number }} own
 */
export function nextHead({ head, layers, heads }) {
  const { list } = numberedHeads(layers, heads);
  return list[(list.findIndex((each) => headPlace(each) === head) + 1) % list.length];
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
