// The search of the lesson: the same columns as in the explorer, and what it finished under any alpha.

import { Search } from "../../../components/explorer/js/search.js";

const searches = new WeakMap();

/**
 * The search of a payload; null when there was none.
 * @param {LessonData} lesson
 */
export function searchOf(lesson) {
  if (!searches.has(lesson)) searches.set(lesson, lesson.values.tree.parent ? new Search(lesson.values.tree) : null);
  return searches.get(lesson);
}

/**
 * Finished hypotheses with text, length, log-probability and score, best first under alpha.
 * @param {Search} search
 * @param {number} alpha
 * @param {number} [most]
 */
export function ranked(search, alpha, most = 6) {
  return search
    .ranking(alpha)
    .slice(0, most)
    .map(({ node, branch, score }) => ({
      node,
      branch,
      score,
      text: search.text(node),
      length: search.step[node],
      total: search.total[node],
    }));
}
