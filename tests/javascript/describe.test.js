// Controls and playheads: what a scene leaves out, and that what it says counts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { choice, playhead, slider } from "../../viz_app/lessons/stage/js/describe.js";

test("of chips the first is on, unless the scene says another", () => {
  const options = { sin: "Sine", cos: "Cosine" };
  const pairs = [
    ["sin", "Sine"],
    ["cos", "Cosine"],
  ];
  const plain = { name: "part", kind: "choice", label: "Columns", options: pairs };
  assert.deepEqual(choice("part", "Columns", options), { ...plain, start: "sin" });
  assert.deepEqual(choice("part", "Columns", options, { start: "cos", server: true }), {
    ...plain,
    start: "cos",
    server: true,
  });
});

test("sliders and playheads run over whole numbers from 0, and start at their lower end", () => {
  const range = slider({ name: "k", label: "k", min: 3, max: 9 });
  assert.deepEqual(range, { name: "k", kind: "range", label: "k", min: 3, max: 9, step: 1, start: 3 });
  const { show, ...rest } = playhead({ name: "at", label: "Row", max: 4, rate: 2 });
  assert.deepEqual(rest, { name: "at", label: "Row", min: 0, max: 4, step: 1, start: 0, rate: 2 });
  // 2.9999999 is step 3, which adding up small parts just missed.
  assert.deepEqual([0, 2.7, 2.9999999, 3].map(show), ["0", "2", "3", "3"]);
});
