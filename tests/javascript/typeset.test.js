// Symbols of the paper in labels.

import assert from "node:assert/strict";
import { test } from "node:test";
import { typesetParts } from "../../viz_app/components/common/draw/typeset.js";

test("symbols of the paper are parted from their subscripts", () => {
  assert.deepEqual(typesetParts("\u00f7 \u221ad_k"), ["\u00f7 \u221ad", "k", ""]);
  assert.deepEqual(typesetParts("d_k = d_v"), ["d", "k", " = d", "v", ""]);
  assert.deepEqual(typesetParts("d_model 512"), ["d", "model", " 512"]);
});

test("everything else stays as it is", () => {
  for (const text of ["", "word_k", "d_keys", "d_k_2", "add_k", "warmup_steps", "a d b"]) {
    assert.deepEqual(typesetParts(text), [text]);
  }
});
