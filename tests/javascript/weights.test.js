// The weights of a payload, 16 or 8 bits each, the decoder's without what is masked.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FULL, Weights } from "../../viz_app/components/explorer/js/data/weights.js";

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
