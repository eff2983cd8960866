// Axes of the plots: places, their inverse, round ticks; texts cut to a width; where an interval stands.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axisAround, shareAxis } from "../../viz_app/components/common/draw/interval.js";
import { Axis, fitted } from "../../viz_app/components/common/draw/plot.js";
import { random } from "./random.js";

test("places and numbers of a linear axis", () => {
  const axis = new Axis(10, 20, 100, 300);
  assert.deepEqual(
    [10, 15, 20, 25].map((value) => axis.place(value)),
    [100, 200, 300, 400],
  );
  assert.deepEqual(
    [100, 150, 300, 400, 0].map((place) => axis.value(place)),
    [10, 12.5, 20, 20, 10],
  );
});

test("places of a logarithmic axis that runs upward", () => {
  const axis = new Axis(1, 1000, 300, 0, { log: true });
  for (const [value, place] of [
    [1, 300],
    [10, 200],
    [100, 100],
    [1000, 0],
  ]) {
    assert.ok(Math.abs(axis.place(value) - place) < 1e-9);
    assert.ok(Math.abs(axis.value(place) / value - 1) < 1e-12);
  }
});

test("ticks that a person would choose", () => {
  assert.deepEqual(new Axis(0, 10, 0, 1).ticks(5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(new Axis(-1, 1, 0, 1).ticks(4), [-1, -0.5, 0, 0.5, 1]);
  assert.deepEqual(new Axis(3, 47, 0, 1).ticks(5), [10, 20, 30, 40]);
  assert.deepEqual(new Axis(0.5, 2000, 0, 1, { log: true }).ticks(), [1, 10, 100, 1000]);
});

test("ticks are every round number within any axis, and not many more than asked for", () => {
  const next = random(1);
  for (let run = 0; run < 500; run++) {
    const range = 10 ** (next() * 6 - 3);
    const low = (next() - 0.5) * 20 * range;
    const high = low + range;
    const count = 2 + Math.floor(next() * 8);
    const ticks = new Axis(low, high, 0, 1).ticks(count);
    assert.ok(ticks.length <= count + 1, `${ticks.length} for ${count}`);
    if (ticks.length < 2) continue;
    const step = ticks[1] - ticks[0];
    const lead = Number(step.toExponential(6).split("e")[0]);
    assert.ok(
      [1, 2, 5, 10].some((each) => Math.abs(lead - each) < 1e-4),
      `step ${step}`,
    );
    for (const tick of ticks) {
      assert.ok(tick >= low - step * 1e-6 && tick <= high + step * 1e-6);
      assert.ok(Math.abs(tick / step - Math.round(tick / step)) < 1e-4);
    }
    assert.ok(ticks[0] - step < low && ticks[ticks.length - 1] + step > high, "none is left out at the ends");
  }
});

test("a text is cut to the longest start that fits with an ellipsis, never inside a character", () => {
  const context = /** @type {any} */ ({ measureText: (text) => ({ width: 10 * [...text].length }) });
  assert.equal(fitted(context, "token", 50), "token");
  assert.equal(fitted(context, "token", 49), "tok\u2026");
  assert.equal(fitted(context, "\u{1F600}\u{1F600}\u{1F600}", 20), "\u{1F600}\u2026");
});

test("an axis holds 0 and every number, with space at its ends", () => {
  const axis = axisAround([-0.02, 0.05, null, undefined], 10, 110);
  for (const number of [-0.02, 0, 0.05]) {
    const place = axis.place(number);
    assert.ok(place > 10 && place < 110);
    assert.ok(Math.abs(axis.value(place) - number) < 1e-12);
  }
});

test("of positive numbers it begins at 0", () => {
  assert.equal(axisAround([2, 3], 10, 110).place(0), 10);
});

test("nothing but zeros has a place", () => {
  assert.ok(Number.isFinite(axisAround([0, 0], 10, 110).place(0)));
});

test("shares go from one end to the other", () => {
  assert.ok(shareAxis.place(0) < shareAxis.place(0.5) && shareAxis.place(0.5) < shareAxis.place(1));
});
