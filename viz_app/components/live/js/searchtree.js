// The branches of a search, numbered and packed as a tree, as viz_app/serving/models/search_tree.py does it.

/** @typedef {import("./beamsearch.js").BeamSearch} BeamSearch */

const DIGITS = 1e6; // of log-probabilities

/**
 * The last node of each branch: first the hypotheses that the search returned, then all other leaves by step.
 * @param {BeamSearch} search
 */
export function branchEnds({ history, hypotheses }) {
  const first = hypotheses.map(({ node }) => node);
  const inner = new Set([...history.map(({ parent }) => parent), ...first]);
  const others = [...history.keys()].filter((node) => !inner.has(node));
  return [...first, ...others.sort((a, b) => history[a].step - history[b].step)];
}

/**
 * A branch of a search: its number and tokens, and how many of these the decoder reads.
 * @param {BeamSearch} search
 * @param {number} branch From 0, the best; an unknown one gives the best.
 */
export function shownBranch(search, branch) {
  const ends = branchEnds(search);
  const shown = branch > 0 && branch < ends.length ? branch : 0;
  const { ids, path, finished } = search.hypothesis(ends[shown]);
  const read = finished ? ids.length : ids.length - 1; // the last token of an unfinished one was generated, but never read
  return { shown, ids, path, finished, read };
}

/**
 * The whole search in compact columns: `BeamData` of types.d.ts.
 * @param {BeamSearch} search
 * @param {string[]} tokens Of the vocabulary.
 * @param {string} id Equal for all branches of one search.
 * @param {number} shown Number of the branch whose maps go with it.
 * @returns {BeamData}
 */
export function searchTree(search, tokens, id, shown) {
  const { history, decoding, special } = search;
  /** @type {Map<number, number>} */
  const numbers = new Map();
  for (const { token } of history) if (!numbers.has(token)) numbers.set(token, numbers.size);
  const rounded = (/** @type {number} */ value) => Math.round(value * DIGITS) / DIGITS;
  return {
    size: decoding.beam,
    alpha: decoding.alpha,
    penalty: decoding.length_penalty,
    tokens: [...numbers.keys()].map((id) => (id === special.eos ? "</s>" : tokens[id])),
    end: numbers.get(special.eos) ?? -1,
    parent: history.map(({ parent }) => parent),
    step: history.map(({ step }) => step),
    token: history.map(({ token }) => numbers.get(token) ?? -1),
    total: history.map(({ total }) => rounded(total)),
    own: history.map(({ own }) => rounded(own)),
    status: history.map(({ status }) => status[0]).join(""),
    leaves: branchEnds(search),
    hypotheses: search.hypotheses.length,
    id,
    shown,
  };
}
