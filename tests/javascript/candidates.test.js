// The candidates of the token that is chosen, and the beginning that a press on one of them forces.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Candidates } from "../../viz_app/components/explorer/js/beam/candidates.js";

const OUTPUTS = { tokens: ["\u2581Der", "\u2581Hu", "nd", "\u2581bellt", "</s>"], words: [0, 1, 1, 2, 3] };

/** Candidates without their elements. */
function candidates(state) {
  const made = Object.create(Candidates.prototype);
  const store = { state, set: (patch) => Object.assign(state, patch) };
  return Object.assign(made, { store, translation: { axes: { outputs: OUTPUTS } } });
}

test("they are those of the pinned row, else of the newest token", () => {
  const at = (state, step) => candidates(state).at(state, step);
  assert.equal(at({ kind: "cross", unit: "tokens", pin: null }, 3), 2);
  assert.equal(at({ kind: "cross", unit: "tokens", pin: "q1" }, 5), 1);
  assert.equal(at({ kind: "cross", unit: "words", pin: "q2" }, 5), 3);
  assert.equal(at({ kind: "cross", unit: "tokens", pin: "k1" }, 5), 4);
  assert.equal(at({ kind: "cross", unit: "tokens", pin: "q4" }, 2), 1, "it is not written yet");
  assert.equal(at({ kind: "encoder", unit: "tokens", pin: "q1" }, 5), 4, "a row of the source");
});

test("a press asks for the tokens before it, and the token", () => {
  const state = { kind: "cross", unit: "tokens", pin: null, branch: 3, step: 4, force: null };
  candidates(state).force({ token: "\u2581heult" }, 3);
  assert.equal(state.force, "\u2581Der \u2581Hu nd \u2581heult");
  assert.deepEqual([state.branch, state.step, state.pin], [0, null, "q3"]);
  candidates(state).force({ token: "x".repeat(1000) }, 3);
  assert.equal(state.force, "\u2581Der \u2581Hu nd \u2581heult", "longer than a link carries");
});
