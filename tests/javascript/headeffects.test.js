// Effects of heads: measured, estimated, ranked, beside those of random vectors.

import assert from "node:assert/strict";
import test from "node:test";

import { HeadEffects } from "../../viz_app/lessons/lab/benches/off/headeffects.js";
import { NdArray } from "../../viz_app/lessons/stage/js/arrays.js";

/**
 * @param {number[]} values
 * @param {...number} shape
 */
const array = (values, ...shape) => new NdArray(new Float32Array(values), shape);

// One layer of two heads, so six heads, on two tokens. Multiples of 1/4 are exact in float32.
const effects = array([1, 0.5, -2, -0.5, 0, 0.25, 0.25, 0, 3, -3, 0, 0], 6, 2);
const size = { layers: 1, heads: 2 };

test("of the whole translation counts the sum over its tokens", () => {
  const { values, order, most } = new HeadEffects(size, { effects }).ranked(-1);
  assert.deepEqual(values, [1.5, -2.5, 0.25, 0.25, 0, 0]);
  assert.deepEqual(order, [1, 0, 2, 3, 4, 5]);
  assert.equal(most, 2.5);
});

test("of a token counts its own effect", () => {
  const { values, order } = new HeadEffects(size, { effects }).ranked(1);
  assert.deepEqual(values, [0.5, -0.5, 0.25, 0, -3, 0]);
  assert.equal(order[0], 4);
});

test("a head that is not measured has an estimate of the whole, and nothing of a token", () => {
  const estimates = array([9, 9, -4, 5, 9, 9], 6);
  const known = new HeadEffects({ ...size, measured: [true, false, true] }, { effects, estimates });
  assert.deepEqual(known.ranked(-1).values, [1.5, -2.5, -4, 5, 0, 0]);
  assert.deepEqual(known.ranked(0).values, [1, -2, 0, 0, 3, 0]);
});

test("the range of random vectors is that of the token or of the whole, for measured heads alone", () => {
  const [low, high] = [-1, 1].map((sign) =>
    array(
      Array.from({ length: 12 }, (_, at) => sign * at),
      6,
      2,
    ),
  );
  const [total_low, total_high] = [-100, 100].map((value) => array(Array(6).fill(value), 6));
  const known = new HeadEffects(
    { ...size, measured: [true, false, true] },
    { effects, low, high, total_low, total_high },
  );
  assert.deepEqual(known.band(1, 0), { low: -2, high: 2 });
  assert.deepEqual(known.band(1, -1), { low: -100, high: 100 });
  assert.deepEqual(known.ofTokens(4).bands, [
    { low: -8, high: 8 },
    { low: -9, high: 9 },
  ]);
  assert.equal(known.band(2, 0), null);
  assert.equal(new HeadEffects(size, { effects }).band(1, 0), null);
});
