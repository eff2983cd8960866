// Comparison of two sentences word by word, by the algorithm of Python's difflib (Ratcliff and Obershelp), which
// transformer_core/analysis/ablation.py uses: the longest common block, and again on both sides of it.

/**
 * The words of each sentence, and whether each differs from the other sentence.
 * @param {string[]} before
 * @param {string[]} after
 * @returns {[[string, boolean][], [string, boolean][]]}
 */
export function wordDiff(before, after) {
  const old = before.map(() => true);
  const now = after.map(() => true);
  /** @type {[number, number, number, number][]} */
  const open = [[0, before.length, 0, after.length]];
  for (let part = open.pop(); part; part = open.pop()) {
    const { a, b, size } = longestBlock(before, after, ...part);
    if (!size) continue;
    old.fill(false, a, a + size);
    now.fill(false, b, b + size);
    open.push([part[0], a, part[2], b], [a + size, part[1], b + size, part[3]]);
  }
  return [before.map((word, index) => [word, old[index]]), after.map((word, index) => [word, now[index]])];
}

/**
 * The longest block of equal words within two ranges; of several the one that begins first in `before`, then in `after`.
 * @param {string[]} before
 * @param {string[]} after
 * @param {number} begin
 * @param {number} end
 * @param {number} first
 * @param {number} last
 */
function longestBlock(before, after, begin, end, first, last) {
  const best = { a: begin, b: first, size: 0 };
  let lengths = new Uint32Array(after.length + 1); // of the block that ends at each word of `after`, which is one later
  for (let a = begin; a < end; a++) {
    const next = new Uint32Array(after.length + 1);
    for (let b = first; b < last; b++) {
      if (before[a] !== after[b]) continue;
      const size = lengths[b] + 1;
      next[b + 1] = size;
      if (size > best.size) Object.assign(best, { a: a - size + 1, b: b - size + 1, size });
    }
    lengths = next;
  }
  return best;
}
