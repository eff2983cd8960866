// The weights of a payload, 16 or 8 bits each, without what is masked; tokens merged to words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Merged } from "../../viz_app/components/explorer/js/data/merge.js";
import { FULL, Weights } from "../../viz_app/components/explorer/js/data/weights.js";
import { random } from "./random.js";

const bytes = (...numbers) => new Uint8Array(Uint16Array.from(numbers).buffer);
const shape = { layers: 1, heads: 1, queries: 2, keys: 2, offset: 0, rows: 0 };

test("16 bits come as they are", () => {
  const weights = new Weights({ bits: 16, kinds: { encoder: shape } }, bytes(FULL, 0, 30000, 35535));
  assert.deepEqual([...weights.of("encoder")], [FULL, 0, 30000, 35535]);
});

test("the decoder's rows grow by one, and what was left out is 0", () => {
  const weights = new Weights({ bits: 16, kinds: { decoder: shape } }, bytes(FULL, 20000, 45535));
  assert.deepEqual([...weights.of("decoder")], [FULL, 0, 20000, 45535]);
});

test("with 8 bits a byte is a share of its row's largest weight, and the sum of the row comes along", () => {
  const data = new Uint8Array(4 + 8);
  data.set([255, 0, 255, 51]); // of each row's largest
  data.set(bytes(FULL, FULL, 50000, 60000), 4); // largest and sum of the first row, of the second
  const weights = new Weights({ bits: 8, kinds: { cross: { ...shape, rows: 4 } } }, data);
  const found = [...weights.of("cross")];
  for (const [at, wanted] of [FULL, 0, 50000, 10000].entries()) assert.ok(Math.abs(found[at] - wanted) <= 1);
  assert.equal(weights.rowSum("cross", 0), 1);
  assert.equal(weights.rowSum("cross", 1), 60000 / FULL);
});

const words = (lengths) => {
  let first = 0;
  return lengths.map((length) => {
    const word = { text: "", start: true, special: false, first, last: first + length - 1 };
    first += length;
    return word;
  });
};

/** The definition: of the tokens of the query that are written, the mean of what goes to any token of the key. */
function definition(head, query, key, written) {
  const rows = head.slice(query.first, Math.min(query.last + 1, written));
  const shares = rows.map((row) => row.slice(key.first, key.last + 1).reduce((sum, weight) => sum + weight, 0));
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

test("a hand-worked head: two words of two tokens and one", () => {
  const head = [0.5, 0.25, 0.25, 0, 0.5, 0.5, 1, 0, 0];
  const merged = new Merged(Float32Array.from(head), 1, 3, words([2, 1]), words([2, 1]));
  merged.need(0, Infinity);
  assert.deepEqual([...merged.values], [0.625, 0.375, 1, 0]);
});

test("every head and step is what the definition says, in whatever order they are asked for", () => {
  const next = random(2);
  for (let run = 0; run < 40; run++) {
    const lengths = () => Array.from({ length: 1 + Math.floor(next() * 4) }, () => 1 + Math.floor(next() * 3));
    const [queries, keys] = [words(lengths()), words(lengths())];
    const [Q, K] = [queries.at(-1).last + 1, keys.at(-1).last + 1];
    const heads = [0, 1, 2].map(() => Array.from({ length: Q }, () => Array.from({ length: K }, () => next())));
    const merged = new Merged(Float64Array.from(heads.flat(2)), heads.length, K, queries, keys);
    for (let ask = 0; ask < 12; ask++) {
      const map = Math.floor(next() * heads.length);
      const written = next() < 0.2 ? Infinity : 1 + Math.floor(next() * Q);
      merged.need(map, written);
      for (const [q, query] of queries.entries()) {
        if (query.first >= written) continue; // not written yet, so not shown
        for (const [k, key] of keys.entries()) {
          const found = merged.values[(map * queries.length + q) * keys.length + k];
          assert.ok(Math.abs(found - definition(heads[map], query, key, written)) < 1e-5);
        }
      }
    }
  }
});
