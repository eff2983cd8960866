// The tree of a beam search and its ranking under any length penalty.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BeamLayout } from "../../viz_app/components/explorer/js/beam/beamlayout.js";
import { lengthPenalty, Search, START } from "../../viz_app/components/explorer/js/data/search.js";

// <s> -> "▁a" (0) -> "</s>" (2);  <s> -> "▁a" (0) -> "▁b" (3) -> "</s>" (4);  <s> -> "▁c" (1), pruned.
const BEAM = {
  id: "x",
  size: 2,
  alpha: 1,
  penalty: "gnmt",
  shown: 0,
  hypotheses: 1,
  tokens: ["\u2581a", "\u2581c", "</s>", "\u2581b"],
  end: 2,
  parent: [-1, -1, 0, 0, 3],
  step: [1, 1, 2, 2, 3],
  token: [0, 1, 2, 3, 2],
  own: [-1, -2, -1, -0.5, -0.8],
  total: [-1, -2, -2, -1.5, -2.3],
  status: "kpfkf",
  leaves: [4, 2, 1],
};

test("the penalties of the paper's reference and of fairseq, worked by hand", () => {
  assert.equal(lengthPenalty(7, 1, "gnmt"), 2); // ((5 + 7) / 6) ** 1
  assert.equal(lengthPenalty(13, 2, "gnmt"), 9);
  assert.equal(lengthPenalty(5, 2, "power"), 25);
  assert.equal(lengthPenalty(40, 0, "gnmt"), 1);
});

test("paths, texts and fates of the branches", () => {
  const search = new Search(BEAM);
  assert.deepEqual(search.path(4), [0, 3, 4]);
  assert.equal(search.text(4), "a b");
  assert.deepEqual(
    [0, 1, 2].map((branch) => search.fate(branch)),
    ["hypothesis", "pushed_out", "pruned"],
  );
  assert.deepEqual(search.children.get(START), [0, 1]);
  assert.deepEqual(search.columns.slice(1), [[0, 1], [2, 3], [4]]);
});

test("alpha decides between the short and the long hypothesis", () => {
  const search = new Search(BEAM);
  const first = (alpha) => search.ranking(alpha)[0].branch;
  assert.equal(first(0), 1); // -2 against -2.3
  // -2 / (7/6) ** a = -2.3 / (8/6) ** a at a = ln(1.15) / ln(8/7) = 1.0466...
  const even = Math.log(2.3 / 2) / Math.log(8 / 7);
  assert.equal(first(even - 0.001), 1);
  assert.equal(first(even + 0.001), 0);
  for (const { node, score } of search.ranking(0.7)) {
    assert.ok(Math.abs(score - BEAM.total[node] / ((5 + BEAM.step[node]) / 6) ** 0.7) < 1e-12);
  }
});

test("places of the nodes, worked by hand, and the node at a place", () => {
  const layout = new BeamLayout(new Search(BEAM), { column: 100, row: 30, left: 20, top: 10, bend: 15, scroll: 5 });
  assert.deepEqual([layout.x(START), layout.y(START)], [5, 25]);
  assert.deepEqual([layout.x(1), layout.y(1)], [105, 55]); // the pruned one stands below
  assert.deepEqual([layout.textX(0), layout.stepX(2)], [24, 165]);
  assert.deepEqual([layout.width, layout.height], [334, 76]);
  assert.deepEqual([layout.at(120, 45), layout.at(10, 20), layout.at(120, 200)], [3, null, null]);
});
