// Where an interval stands on its line.

import assert from "node:assert/strict";
import test from "node:test";

import { axisAround, shareAxis } from "../../viz_app/components/common/draw/interval.js";

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
