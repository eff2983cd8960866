// Heads of a bench: the one that follows, and where the grid shows one.

import { headAddress } from "../../../components/common/heads/heads.js";
import { numberedHeads } from "../../stage/js/headgrid.js";

/**
 * The head after the one that is shown.
 * @param {{ head: string, layers: number, heads: number }} own
 */
export function nextHead({ head, layers, heads }) {
  const { list } = numberedHeads(layers, heads);
  return list[(list.findIndex((each) => headAddress(each) === head) + 1) % list.length];
}
