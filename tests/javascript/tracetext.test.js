import assert from "node:assert/strict";
import { test } from "node:test";
import { worth } from "../../viz_app/lessons/lab/benches/trace/tracetext.js";

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
