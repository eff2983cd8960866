// What another page of the same host has put into the storage breaks no lesson.

import assert from "node:assert/strict";
import { test } from "node:test";

class Element {
  children = [];
  setAttribute() {}
  addEventListener() {}
  append(...children) {
    this.children.push(...children);
  }
  scrollIntoView() {}
}
globalThis.document = { createElement: () => new Element() };
globalThis.location = { origin: "http://localhost", pathname: "/lessons" };
const { Findings } = await import("../../viz_app/lessons/stage/js/findings.js");

const GOOD = { scene: "a", settings: { at: 1, on: true, word: "x" }, title: "t", said: "s", text: "", model: "" };

/** @param {string} kept */
function restored(kept) {
  globalThis.localStorage = { getItem: () => kept };
  const findings = new Findings({ lesson: { name: "waves" }, texts: {} });
  findings.restore();
  return [...findings.pinned.values()];
}

test("what is no finding is left out", () => {
  const odd = [null, 1, "x", [], {}, { ...GOOD, title: {} }, { ...GOOD, settings: { at: null } }];
  assert.deepEqual(restored(JSON.stringify([...odd, { ...GOOD, settings: { at: {} } }, GOOD])), [GOOD]);
  for (const kept of ["", "{", "null", "3", '{"length":9}', JSON.stringify([{ ...GOOD, said: "x".repeat(60_000) }])])
    assert.deepEqual(restored(kept), []);
});
