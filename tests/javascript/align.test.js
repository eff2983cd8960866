// Tokens of two sentences paired by their longest common subsequence; how much a head changes between them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { align } from "../../viz_app/components/explorer/js/data/align.js";
import { Difference } from "../../viz_app/components/explorer/js/data/difference.js";
import { headChanges } from "../../viz_app/components/explorer/js/data/sentencediff.js";
import { random } from "./random.js";

/** Length of the longest common subsequence by trying every subset of `b`. */
function longest(a, b) {
  let best = 0;
  for (let set = 0; set < 1 << b.length; set++) {
    const part = b.filter((_, i) => set & (1 << i));
    let at = 0;
    for (const each of a) if (each === part[at]) at++;
    if (at === part.length) best = Math.max(best, part.length);
  }
  return best;
}

test("pairs are equal tokens in order, and as many as possible", () => {
  const next = random(3);
  for (let run = 0; run < 200; run++) {
    const sentence = () => Array.from({ length: Math.floor(next() * 8) }, () => "abc"[Math.floor(next() * 3)]);
    const [a, b] = [sentence(), sentence()];
    const found = [...align(a, b)];
    const pairs = found.flatMap((i, j) => (i < 0 ? [] : [[i, j]]));
    for (const [i, j] of pairs) assert.equal(a[i], b[j]);
    for (let k = 1; k < pairs.length; k++) assert.ok(pairs[k][0] > pairs[k - 1][0]);
    assert.equal(pairs.length, longest(a, b), `${a.join("")} ${b.join("")}`);
  }
});

const axis = (text) => text.split(" ").map((each) => ({ text: each, start: true, special: false }));
const view = (queries, keys, rows) => ({
  layers: 1,
  heads: 1,
  scale: 1,
  queries: axis(queries),
  keys: axis(keys),
  values: rows.flat(),
  offset: (_layer, _head, query) => query * axis(keys).length,
});

test("a head that looks at what stands in the same place has not changed; one that looks elsewhere has, wholly", () => {
  const before = view("the dog sees", "the dog sees", [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ]);
  assert.deepEqual([...headChanges(before, before)], [0]);
  const cat = view("the cat sees", "the cat sees", [
    [1, 0, 0],
    [0, 1, 0],
    [0, 1, 0],
  ]);
  // Shared queries: "the", unchanged, and "sees", which went from itself to the place of dog and cat: (0 + 1) / 2.
  assert.deepEqual([...headChanges(before, cat)], [0.5]);
  assert.equal(
    headChanges(
      before,
      view("x y z", "x y z", [
        [1, 0, 0],
        [1, 0, 0],
        [1, 0, 0],
      ]),
    ),
    null,
  );
});

test("the difference of two heads is of cells that both have, and names what has no partner", () => {
  const matrix = (text, values) => ({
    kind: "cross",
    queries: axis(text),
    keys: axis(text),
    rows: 3,
    columns: 3,
    masked: () => false,
    at: (query, key) => values[query][key],
  });
  const a = matrix("the dog sees", [
    [1, 0, 0],
    [0, 0.5, 0.5],
    [0.25, 0, 0.75],
  ]);
  const b = matrix("the cat sees", [
    [0.5, 0, 0.5],
    [0, 1, 0],
    [0, 0, 1],
  ]);
  const difference = new Difference(a, b);
  const found = [0, 1, 2].map((query) => [0, 1, 2].map((key) => difference.at(query, key)));
  assert.deepEqual(found, [
    [-0.5, null, 0.5],
    [null, null, null],
    [-0.25, null, 0.25],
  ]);
  assert.deepEqual(difference.unpaired(), [
    ["dog", "dog"],
    ["cat", "cat"],
  ]);
  assert.deepEqual(difference.partner({ query: 2, key: 1 }), { query: 2, key: null });
  assert.deepEqual(difference.counterpart({ query: 1, key: 0 }), { query: null, key: 0 });
  assert.equal(new Difference({ ...a, kind: "encoder" }, b).at(0, 0), null);
});
