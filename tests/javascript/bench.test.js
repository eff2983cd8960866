// A bench of the Lab without numbers: what it says in place of its picture, and that it takes little room.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench } from "../../viz_app/lessons/lab/js/bench.js";

const TEXTS = {
  too_long: "{count} of {most}",
  too_much: "{times} times",
  late: "Late.",
  stopped: "Stopped.",
  computing: "Wait.",
};

/** @param {Record<string, unknown>} values */
function bench(values) {
  const lesson = { values: { bench: null, count: 5, most: 80, times: 0, late: false, ...values } };
  return new Bench(/** @type {any} */ (lesson), TEXTS);
}

test("a bench that is refused says why, in round numbers", () => {
  for (const [times, said] of [
    [1.1, "1.1 times"],
    [9.9, "9.9 times"],
    [10, "10 times"],
    [29.8, "30 times"],
    [1203.4, "1,203 times"],
  ])
    assert.equal(bench({ times }).missing({}), said);
  assert.equal(bench({ count: 81 }).missing({}), "81 of 80");
  assert.equal(bench({ late: true }).missing({}), "Late.");
  assert.equal(bench({}).missing({}), "Stopped.");
});

test("without a picture to come the stage is low and nothing can be pinned", () => {
  const [refused, computing] = [bench({ times: 2 }), bench({ bench: "other" })];
  assert.ok(refused.isEmpty && !refused.pinnable);
  assert.ok(!computing.isEmpty && computing.pinnable && computing.missing({}) === "Wait.");
});
