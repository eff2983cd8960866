// The direction of a text, against the first strong letter of the Unicode bidirectional algorithm (rules P2 and P3).

import assert from "node:assert/strict";
import { test } from "node:test";
import { direction } from "../../viz_app/components/common/page/dom.js";

test("the first letter decides, whatever stands before it", () => {
  for (const text of ["سلام", "שלום עולם", "\u2581مرحبا", "12 – ݢ", "«ﺳﻼم» hello", "ߒߞߏ"])
    assert.equal(direction(text), "rtl", text);
  for (const text of ["", "12.", "dog", "개", "日本語", "(a سلام)", "\u2581…", "Ωμέγα"])
    assert.equal(direction(text), "ltr", text);
});
