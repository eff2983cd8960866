// Numbers, labels, tokens, symbols and directions as text, worked by hand; places on colour scales.

import assert from "node:assert/strict";
import { test } from "node:test";
import { typesetParts } from "../../viz_app/components/common/draw/typeset.js";
import { direction } from "../../viz_app/components/common/page/dom.js";
import {
  decimals,
  fillText,
  formatCount,
  headName,
  percent,
  raised,
  signed,
  tiny,
} from "../../viz_app/components/common/text/format.js";
import { joinTokens, tokenText } from "../../viz_app/components/common/text/tokens.js";
import { colourIndex, scalePlace, weightAtPlace } from "../../viz_app/components/explorer/js/data/colourmapping.js";
import { worth } from "../../viz_app/lessons/lab/benches/trace/tracetext.js";
import { periodText } from "../../viz_app/lessons/positions/js/encoding.js";
import { scientific } from "../../viz_app/lessons/warmup/js/rate.js";

test("shares, weights and heads", () => {
  assert.deepEqual([0, 0.125, 0.8149, 1].map(percent), ["0\u202f%", "13\u202f%", "81\u202f%", "100\u202f%"]);
  globalThis.document = { documentElement: { lang: "ko" } };
  assert.equal(percent(0.8149), "81%");
  delete globalThis.document;
  assert.equal(decimals(0.8125), "0.813");
  assert.equal(headName(3, 5), "4.6");
});

test("placeholders are filled once: what a value says is never a placeholder", () => {
  assert.equal(fillText("{a} and {b}, {a}", { a: "{b}", b: 2 }), "{b} and 2, {b}");
  assert.equal(fillText("{missing}{a}", { a: 0 }), "0");
});

test("large, small and signed numbers", () => {
  assert.deepEqual(
    [0, 1, 2].map((pair) => periodText(pair, 4)),
    ["6.3", "628", "62,832"], // 2 pi times 1, 100 and 10,000
  );
  assert.deepEqual(
    [-0.5, 0.5, -0.001].map((value) => signed(value)),
    ["\u22120.50", "0.50", "0.00"],
  );
  assert.equal(tiny(3.1e-16), "3\u202f\u00b7\u202f10\u207b\u00b9\u2076");
  assert.equal(scientific(6.987e-4), "6.99 \u00d7 10\u207b\u2074");
  assert.equal(raised(-10), "\u207b\u00b9\u2070");
  assert.equal(scientific(0), "0");
  assert.deepEqual([999, 7896, 1234567].map(formatCount), ["999", "7,896", "1,234,567"]);
});

test("a weight's place on each scale, and back", () => {
  assert.equal(scalePlace(0.25, 0.5, "linear"), 0.25);
  assert.equal(scalePlace(0.25, 0.5, "sqrt"), 0.5);
  assert.equal(scalePlace(0.25, 0.5, "row"), 0.5);
  assert.equal(colourIndex(1, 1, "linear"), 255);
  assert.equal(colourIndex(0.2, 1, "linear"), 51);
  assert.equal(colourIndex(0.04, 1, "sqrt", 5), 0); // under the threshold of 5 percent
  for (const scale of ["linear", "sqrt", "row"]) {
    for (const weight of [0.01, 0.3, 0.5]) {
      assert.ok(Math.abs(weightAtPlace(scalePlace(weight, 0.5, scale), 0.5, scale) - weight) < 1e-12);
    }
  }
});

test("a label counts", () => {
  const shown = [0, 1, "1", "1,000"].map((count) => fillText("{count} {count|step|steps}", { count }));
  assert.deepEqual(shown, ["0 steps", "1 step", "1 step", "1,000 steps"]);
});

test("a token is read without the space before it, which alone is made visible", () => {
  assert.equal(tokenText("\u2581Haus"), "Haus");
  assert.equal(tokenText("es"), "es");
  assert.equal(tokenText("\u2581"), "\u2423");
  assert.equal(tokenText(""), "");
});

test("tokens make a text", () => {
  assert.equal(joinTokens(["\u2581Ein", "\u2581sch\u00f6n", "es", "\u2581Haus", "."]), "Ein sch\u00f6nes Haus.");
  assert.equal(joinTokens([]), "");
});

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

test("the first letter decides, whatever stands before it", () => {
  for (const text of ["سلام", "שלום עולם", "\u2581مرحبا", "12 – ݢ", "«ﺳﻼم» hello", "ߒߞߏ"])
    assert.equal(direction(text), "rtl", text);
  for (const text of ["", "12.", "dog", "개", "日本語", "(a سلام)", "\u2581…", "Ωμέγα"])
    assert.equal(direction(text), "ltr", text);
});

test("a tile says which number is of this sentence and which of a corpus", () => {
  const texts = { tile_here: "here {tau}", tile_corpus: "corpus {error}" };
  const own = {
    methods: ["alti", "leave-one-out", "attention"],
    agreement: [0.42, 1, null], // leave-one-out agrees with itself, which says nothing
    measured: { errors: [0.34, null, 0.5] },
  };
  const bench = /** @type {any} */ ({ own, texts });
  assert.deepEqual(worth(bench, 0), ["here 0.42", "corpus 34\u202f%"]);
  assert.deepEqual(worth(bench, 1), ["", ""]);
  assert.deepEqual(worth(bench, 2), ["", "corpus 50\u202f%"]);
});
