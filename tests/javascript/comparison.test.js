// What a head is compared with at first, and that all maps of a comparison have cells of one size.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Comparison } from "../../viz_app/components/explorer/js/data/comparison.js";
import { measureMap } from "../../viz_app/components/explorer/js/draw/geometry.js";

const HEADS = [
  [0, 0],
  [0, 1],
  [1, 1],
];

/** A comparison of a model whose second layer lacks its first head; head 1.2 is selected. */
function started() {
  const state = { kind: "cross", layer: 0, head: 1, against: null, vs: null, vsmodel: null, vsbranch: 0 };
  const store = { state, set: (patch) => Object.assign(state, patch) };
  const comparison = new Comparison(/** @type {any} */ (store));
  const open = (text) => {
    const about = { text, model: "m", own: "m", models: [] };
    const view = () => ({ layers: 2, present: () => HEADS });
    comparison.receive(/** @type {any} */ ({ id: text, length: 3, about, view }), null);
  };
  open("One.");
  comparison.pin();
  return { state, comparison, open, place: () => [state.layer, state.head] };
}

test("B is the next head that the model has, until somebody chooses another", () => {
  const { state, comparison, place } = started();
  assert.equal(state.against, "cross.1.2");
  assert.deepEqual(place(), [1, 1]);
  assert.ok(comparison.isBeside());
  state.layer = 0;
  state.head = 0;
  assert.ok(!comparison.isBeside());
  comparison.release();
  assert.deepEqual(place(), [0, 0], "the choice stays");
});

test("a second sentence is compared in the same head; the end leads back to it", () => {
  const second = started();
  second.open("Two.");
  assert.deepEqual([second.state.vs, second.state.against], ["One.", "cross.1.2"]);
  assert.deepEqual(second.place(), [0, 1]);
  const end = started();
  end.comparison.release();
  assert.equal(end.state.against, null);
  assert.deepEqual(end.place(), [0, 1]);
});

test("a map takes the size of cells of another one", () => {
  const labels = { size: 12, width: () => 20, widest: () => 20 };
  const axes = (count) => ({ queries: Array(count).fill({ text: "a" }), keys: Array(count).fill({ text: "a" }) });
  const long = measureMap(axes(20), labels, 500, 460, 460);
  const short = measureMap(axes(8), labels, 500, 460, 460);
  assert.ok(short.cell > long.cell);
  assert.equal(measureMap(axes(8), labels, 500, 460, 460, long.cell).cell, long.cell);
});
