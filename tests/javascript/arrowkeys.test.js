// Arrow keys in grids: of a canvas, and of elements in lines that may be ragged or have gaps.

import assert from "node:assert/strict";
import { test } from "node:test";
import { allHeads, headAddress, parseHead } from "../../viz_app/components/common/heads/heads.js";
import { arrowTarget, RovingFocus } from "../../viz_app/components/common/page/arrowkeys.js";

const press = (key, more = {}) => ({ key, preventDefault() {}, stopPropagation() {}, ...more });

test("a cell goes to its neighbour and stops at the edges; without a cell the first one comes", () => {
  const to = (key, cell, more) => arrowTarget(press(key, more), cell, 3, 4);
  assert.deepEqual(to("ArrowDown", [0, 1]), [1, 1]);
  assert.deepEqual(to("ArrowUp", [0, 1]), [0, 1]);
  assert.deepEqual(to("End", [2, 1]), [2, 3]);
  assert.deepEqual(to("PageUp", [2, 1]), [0, 1]);
  for (const key of ["ArrowLeft", "ArrowDown", "Home", "PageDown"]) assert.deepEqual(to(key, null), [0, 0]);
  assert.equal(to("a", [0, 0]), null);
  assert.equal(to("ArrowDown", [0, 0], { ctrlKey: true }), null);
  assert.equal(arrowTarget(press("ArrowDown"), null, 0, 4), null);
});

/** Lines of names; a space is a gap. */
function grid(lines, { nearest = false } = {}) {
  const elements = new Map();
  const element = (name) => ({ name, setAttribute() {}, getAttribute: () => null, focus() {} });
  const roving = new RovingFocus({ addEventListener() {} });
  for (const name of lines.flat()) if (name !== " ") elements.set(name, element(name));
  const rows = lines.map((line) => line.map((name) => elements.get(name)));
  roving.arrange(rows, nearest);
  return (name, key, more) => {
    roving.reach(elements.get(name));
    const to = roving.target(press(key, more));
    return to === null ? null : (to?.name ?? "edge");
  };
}

test("left and right read on over the lines, up and down keep the column", () => {
  const side = [
    ["a1", "a2", "b1"],
    ["a3", "a4", " "],
  ];
  const go = grid(side);
  assert.equal(go("b1", "ArrowRight"), "a3");
  assert.equal(go("a1", "ArrowLeft"), "edge");
  assert.equal(go("a2", "ArrowDown"), "a4");
  assert.equal(go("b1", "ArrowDown"), "edge");
  assert.equal(go("a1", "End"), "b1");
  assert.equal(go("a1", "End", { ctrlKey: true }), "a4");
  assert.equal(go("a1", "x"), null);
  assert.equal(grid([["a1", "a2"], ["a3"]], { nearest: true })("a2", "ArrowDown"), "a3", "the last of a shorter line");
});

test("heads by kind, layer and number, and back from their place", () => {
  const heads = allHeads(2, 3);
  assert.equal(heads.length, 18);
  assert.deepEqual(heads[10], { kind: "decoder", layer: 1, head: 1, index: 4, place: "decoder.2.2", name: "2.2" });
  assert.ok(heads.every((head) => headAddress(parseHead(head.place)) === head.place));
});
