// Alignment of the tokens of two sentences: their longest common subsequence. The twin of `align` in
// figures/build/comparison.py.

/**
 * Aligns two lists of texts.
 *
 * @returns For each position of `b` the position of `a` that holds the same text, or -1; positions rise, and no alignment
 *   pairs more of them. Of several such alignments it takes the one that pairs positions as early as it can.
 * @param {string[]} a
 * @param {string[]} b
 */
export function align(a, b) {
  const columns = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * columns); // of the rests from (i, j) on
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * columns + j;
      if (a[i] === b[j]) longest[at] = longest[at + columns + 1] + 1;
      else longest[at] = Math.max(longest[at + columns], longest[at + 1]);
    }
  }
  const partners = new Int32Array(b.length).fill(-1);
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const at = i * columns + j;
    if (a[i] === b[j]) partners[j++] = i++;
    else if (longest[at + columns] >= longest[at + 1]) i++;
    else j++;
  }
  return partners;
}
