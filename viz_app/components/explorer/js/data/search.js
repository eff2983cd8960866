// A beam search as it comes from Python (serving/search_tree.py): a tree, its branches, and their ranking under any alpha.

import { joinTokens, tokenText } from "../../../common/text/tokens.js";

export const START = -1; // the parent of the first tokens

/**
 * What a log-probability is divided by; the same as length_penalty in decoding/beam.py.
 * @param {number} length
 * @param {number} alpha
 * @param {string} kind
 */
export function lengthPenalty(length, alpha, kind) {
  return (kind === "power" ? length : (5 + length) / 6) ** alpha;
}

export class Search {
  /**
   * @param {BeamData} beam
   * @param {number[]} [open] Branches whose maps can be shown; all unless given.
   */
  constructor(beam, open = beam.leaves.map((_, branch) => branch)) {
    this.open = new Set(open);
    this.id = beam.id;
    this.size = beam.size;
    this.alpha = beam.alpha;
    this.penalty = beam.penalty;
    this.hypotheses = beam.hypotheses;
    this.parent = beam.parent;
    this.step = beam.step;
    this.token = beam.token;
    this.own = beam.own;
    this.total = beam.total;
    this.status = beam.status;
    this.leaves = beam.leaves;
    this.end = beam.end;
    this.tokens = beam.tokens;
    this.count = this.parent.length;
    this.steps = Math.max(0, ...this.step);
    this.branches = new Map(this.leaves.map((node, branch) => /** @type {const} */ ([node, branch])));
    /** @type {Map<number, number[]>} */
    this.children = new Map([[START, []]]);
    /** @type {number[][]} */
    this.columns = Array.from({ length: this.steps + 1 }, () => []); // the nodes of each step from top to bottom
    for (let node = 0; node < this.count; node++) {
      const siblings = this.children.get(this.parent[node]);
      if (siblings) siblings.push(node);
      else this.children.set(this.parent[node], [node]);
      this.columns[this.step[node]].push(node);
    }
    // What the search went on with stands above what it pruned; within each, the best first.
    this.row = new Int32Array(this.count);
    for (const column of this.columns) {
      column.sort((a, b) => Number(this.pruned(a)) - Number(this.pruned(b)) || a - b);
      column.forEach((node, row) => (this.row[node] = row));
    }
    this.rows = Math.max(1, ...this.columns.map((column) => column.length));
  }

  /** @param {number} node */
  pruned(node) {
    return this.status[node] === "p";
  }

  /** @param {number} node */
  ended(node) {
    return this.token[node] === this.end;
  }

  /** @param {number} node */
  label(node) {
    return tokenText(this.tokens[this.token[node]]);
  }

  /**
   * @param {number} node
   * @param {number} alpha
   */
  score(node, alpha) {
    return this.total[node] / lengthPenalty(this.step[node], alpha, this.penalty);
  }

  /**
   * The nodes from the first token to this one.
   * @param {number} node
   */
  path(node) {
    /** @type {number[]} */
    const path = [];
    for (let at = node; at !== START; at = this.parent[at]) path.push(at);
    return path.reverse();
  }

  /**
   * The tokens of a branch as text, without `</s>`.
   * @param {number} node
   */
  text(node) {
    const tokens = this.path(node).filter((at) => !this.ended(at));
    return joinTokens(tokens.map((at) => this.tokens[this.token[at]]));
  }

  /**
   * Everything that the search finished, and what it returned cut off, best first under this alpha.
   * @param {number} alpha
   */
  ranking(alpha) {
    const ends = this.leaves.filter((node, branch) => branch < this.hypotheses || this.status[node] === "f");
    const rows = ends.map((node) => ({
      node,
      branch: this.branches.get(node) ?? -1,
      ended: Number(this.ended(node)),
      score: this.score(node, alpha),
    }));
    return rows.sort((a, b) => b.ended - a.ended || b.score - a.score || a.branch - b.branch);
  }

  /**
   * What became of a branch: "hypothesis", "pruned", "given_up" or "pushed_out".
   * @param {number} branch
   */
  fate(branch) {
    const node = this.leaves[branch];
    if (branch < this.hypotheses) return "hypothesis";
    if (this.pruned(node)) return "pruned";
    return this.ended(node) ? "pushed_out" : "given_up";
  }
}
