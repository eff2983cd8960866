// What the warm-up lesson computes in the browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { NdArray } from "../../viz_app/lessons/stage/js/arrays.js";
import { rowsDiffer } from "../../viz_app/lessons/warmup/js/runs.js";
import { rightLetters } from "../../viz_app/lessons/warmup/js/training.js";

test("letters are right in their place, the end sign included", () => {
  assert.equal(rightLetters("abc", "cba."), 4);
  assert.equal(rightLetters("abc", ".cba"), 0); // a copy of the word, one place late
  assert.equal(rightLetters("abc", "cb.."), 3);
});

test("rows differ from a twentieth of the weight on", () => {
  const map = (...bytes) => new NdArray(Uint8Array.from(bytes), [2, 2]);
  assert.equal(rowsDiffer(map(120, 135, 132, 123)), false);
  assert.equal(rowsDiffer(map(120, 135, 133, 122)), true);
});
