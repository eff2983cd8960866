// Where the constituents and words of a phrase-structure tree stand: words in one row at the foot, laid out by d3-hierarchy.

const GAP = 12; // pixels between words
const [MIN, MAX] = [27, 44]; // between two levels
const HEIGHT = 330; // that the levels share

/**
 * @param {D3Hierarchy} d3
 * @param {TreeData} tree
 * @param {{ word: (text: string) => number, label: (text: string) => number }} measure Widths in pixels.
 * @param {Set<number>} collapsed Constituents of which only the words are shown, as one.
 */
export function layoutTree(d3, tree, measure, collapsed) {
  const root = d3.hierarchy(outline(tree, collapsed));
  const widths = new Map();
  for (const leaf of root.leaves()) {
    let width = measure.word(leaf.data.text);
    // Of a constituent that holds nothing else the label stands right above.
    for (let at = leaf.parent; at && at.children?.length === 1; at = at.parent)
      width = Math.max(width, measure.label(at.data.text));
    widths.set(leaf, width + GAP);
  }
  const level = Math.max(MIN, Math.min(MAX, HEIGHT / Math.max(1, root.height)));
  d3
    .cluster()
    .nodeSize([1, level])
    .separation((a, b) => (widths.get(a) + widths.get(b)) / 2)(root); // it asks for leaves only
  // Above the middle of all its words, not of its children: then no line crosses a label beside it.
  for (const node of root.descendants()) {
    const own = node.leaves();
    node.x = (own[0].x + own[own.length - 1].x) / 2;
  }
  const leaves = root.leaves();
  const left = leaves[0].x - widths.get(leaves[0]) / 2;
  const last = leaves[leaves.length - 1];
  return {
    width: last.x + widths.get(last) / 2 - left,
    height: level * root.height,
    items: root.descendants().map((node) => ({
      ...node.data,
      x: node.x - left,
      y: node.y,
      depth: node.depth,
      parent: node.parent ? node.parent.data.node : -1,
      from: node.parent ? { x: node.parent.x - left, y: node.parent.y } : null,
      width: widths.get(node) ?? measure.label(node.data.text),
    })),
  };
}

/**
 * The tree as nested items: constituents by their index, words by theirs.
 * @param {TreeData} tree
 * @param {Set<number>} collapsed
 * @returns {TreeItem}
 */
function outline({ words, nodes }, collapsed) {
  const owner = words.map(() => 0);
  nodes.forEach(({ begin, end }, index) => owner.fill(index, begin, end)); // the innermost comes last
  const made = nodes.map(({ label }, node) => {
    /** @type {TreeItem} */
    const item = { text: label, node, word: -1, children: [] };
    return item;
  });
  // Children in the order of their words: a constituent stands where its first word does.
  const firsts = nodes.map(({ begin }) => begin);
  words.forEach((text, word) => {
    for (let node = 1; node < nodes.length; node++)
      if (firsts[node] === word) made[nodes[node].parent].children.push(made[node]);
    made[owner[word]].children.push({ text, node: -1, word, children: [] });
  });
  for (const node of collapsed) {
    const { begin, end } = nodes[node];
    made[node].children = [{ text: phrase(words, begin, end), node: -1, word: -1, whole: node, children: [] }];
  }
  return made[0];
}

/**
 * Words of a constituent; of many the first and the last ones.
 * @param {string[]} words
 * @param {number} begin
 * @param {number} end
 * @param {number} [most]
 */
export function phrase(words, begin, end, most = 5) {
  const own = words.slice(begin, end);
  if (own.length <= most) return own.join(" ");
  const half = Math.floor(most / 2);
  return `${own.slice(0, most - half).join(" ")} \u2026 ${own.slice(-half).join(" ")}`;
}

/**
 * Label and words of each constituent.
 * @param {TreeData} tree
 * @returns {[string, number, number][]}
 */
export function spansOf({ nodes }) {
  return nodes.map(({ label, begin, end }) => [label, begin, end]);
}

/**
 * How one tree differs from another over the same words: constituents that only one of them has.
 * @param {[string, number, number][]} own
 * @param {[string, number, number][]} other
 */
export function treeDifference(own, other) {
  return { gone: without(own, other), come: without(other, own) };
}

/**
 * @param {[string, number, number][]} some
 * @param {[string, number, number][]} others
 */
function without(some, others) {
  const left = others.map(String);
  return some.filter((node) => {
    const at = left.indexOf(String(node));
    if (at < 0) return true;
    left.splice(at, 1); // each counts once
    return false;
  });
}
