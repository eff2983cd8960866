// The row that the headline of a head names when none is chosen; the same rule as `head_caption` in Python.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LabelledMatrix } from "../../viz_app/components/explorer/js/data/labelledmatrix.js";
import { Picture } from "../../viz_app/components/explorer/js/draw/picture.js";
import { tellingRow } from "../../viz_app/components/explorer/js/sentences.js";

const SHOWN = { special: true, scale: "linear", threshold: 0, pin: null };

/**
 * A head as it is drawn.
 * @param {string} kind
 * @param {string[]} queries Tokens of SentencePiece.
 * @param {string[]} keys
 * @param {number[][]} weights
 */
function picture(kind, queries, keys, weights) {
  const positions = (tokens) =>
    tokens.map((token, index) => ({
      text: token.replace("\u2581", ""),
      start: token.startsWith("\u2581"),
      special: token.startsWith("<"),
      first: index,
      last: index,
    }));
  const view = { kind, unit: "tokens", causal: false, masked: () => false };
  const matrix = new LabelledMatrix(/** @type {any} */ (view));
  const values = { queries: positions(queries), keys: positions(keys), rows: queries.length, columns: keys.length };
  return new Picture(Object.assign(matrix, values, { at: (query, key) => weights[query][key] }), SHOWN);
}

const KEYS = ["\u2581The", "\u2581ess", "or", "\u2581day", "</s>"];

test("a whole content word, never a copied subword, however sharp that is", () => {
  const queries = ["\u2581Der", "\u2581ess", "or", "\u2581Tag", "\u2581gestern", "</s>"];
  const weights = [
    [0.9, 0, 0, 0.1, 0],
    [0, 1, 0, 0, 0],
    [0, 0, 1, 0, 0],
    [0, 0, 0, 0.9, 0.1],
    [0, 0, 0, 0.6, 0.4],
    [0, 0, 0, 0, 1],
  ];
  assert.equal(tellingRow(picture("cross", queries, KEYS, weights)), 4);
  weights[4] = [0, 0, 0, 0.4, 0.6]; // what it attends to most is no word
  assert.equal(tellingRow(picture("cross", queries, KEYS, weights)), 0);
});

test("in self-attention the longest of those that are nearly the sharpest", () => {
  const weights = [
    [0.95, 0, 0, 0, 0.05],
    [0, 0.9, 0, 0.1, 0],
    [0, 0, 0.3, 0.7, 0],
    [0, 0, 0, 0.88, 0.12],
    [0, 0, 0, 0, 1],
  ];
  assert.equal(tellingRow(picture("encoder", KEYS, KEYS, weights)), 0);
  weights[1] = [0, 0, 0, 0.9, 0.1];
  assert.equal(
    tellingRow(picture("encoder", ["\u2581The", "\u2581essay", "or", "\u2581day", "</s>"], KEYS, weights)),
    1,
  );
});
