// The stage of the waves: its chapters along one playhead, bands, bits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bitOf, isBand, period } from "../../viz_app/lessons/positions/js/encoding.js";
import { FARTHEST, START, Story } from "../../viz_app/lessons/positions/js/story.js";

const near = (/** @type {number} */ one, /** @type {number} */ other) =>
  assert.ok(Math.abs(one - other) < 0.01, `${one} ${other}`);

test("the chapters follow each other, and each opens at its telling frame", () => {
  const story = new Story(16, 10, true);
  const names = story.chapters.map(({ name }) => name);
  assert.deepEqual(names, ["waves", "zoom", "near", "sum", "head"]);
  for (const name of names) assert.equal(story.at(story.time(name)).name, name);
  assert.equal(story.time("waves"), START);
  assert.equal(story.at(story.end).name, "head");
  assert.deepEqual(
    new Story(16, 10, false).chapters.map(({ name }) => name),
    names.slice(0, 4),
  );
  // A sentence of one token, one of many.
  for (const tokens of [1, 2, 300]) {
    const other = new Story(Math.max(16, tokens), tokens, true);
    assert.ok(other.cut(other.end) === tokens - 1 && Number.isFinite(other.timeAt(0, other.end)));
  }
});

test("the pull-out goes from the sentence to all positions, and the slider is its inverse", () => {
  const story = new Story(16, 10, true);
  assert.equal(story.shown(START), 16);
  near(story.shown(story.time("zoom")), FARTHEST);
  near(story.shown(story.timeOf(1024)), 1024);
  assert.equal(story.at(story.timeOf(16)).name, "zoom");
});

test("the cut goes where it is dragged", () => {
  const story = new Story(16, 10, true);
  for (const [name, position] of [
    ["waves", 7],
    ["near", 40],
    ["sum", 3],
    ["head", 9],
  ]) {
    const time = story.timeAt(position, story.time(name));
    assert.equal(story.at(time).name, name);
    near(story.cut(time), position);
  }
});

test("the slowest wave of 256 numbers swings once, and a wave is a band from two turns in four pixels on", () => {
  assert.equal(Math.round(period(127, 256)), 58470);
  assert.ok(FARTHEST / period(127, 256) > 1 && FARTHEST / period(127, 256) < 1.5);
  assert.deepEqual([0.49, 0.51].map(isBand), [false, true]);
});

test("the bits are those of the position", () => {
  for (const position of [0, 4, 5, 1023, 65535]) {
    const bits = Array.from({ length: 16 }, (_, bit) => bitOf(position, bit));
    assert.equal(parseInt(bits.reverse().join(""), 2), position);
  }
});
