// Shared parts of the search scenes: the columns of the explorer, and finished hypotheses under any alpha.

import { Search } from "../../../components/explorer/js/data/search.js";
import { Scene } from "../../stage/js/scene.js";

/** @extends {Scene<import("./numbers").Values>} */
export class SearchScene extends Scene {
  /** @type {Search} Only where there was a search; else it is missing. */
  search = /** @type {Search} */ (this.lesson.values.tree.parent && new Search(this.lesson.values.tree));

  missing() {
    return this.lesson.values.tree.parent ? null : this.texts.no_search;
  }
}

/**
 * Finished hypotheses with text, length, log-probability and score, best first under alpha.
 * @param {Search} search
 * @param {number} alpha
 * @param {number} [most]
 */
export function ranked(search, alpha, most) {
  return search
    .ranking(alpha)
    .slice(0, most)
    .map(({ node, score }) => ({
      node,
      score,
      text: search.text(node),
      length: search.step[node],
      total: search.total[node],
    }));
}
