// Settings of a scene: what an address may set, and how it is written into one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromAddress, linkTo } from "../../viz_app/lessons/stage/js/address.js";
import { startSettings, validSettings } from "../../viz_app/lessons/stage/js/settings.js";

const SCENE = {
  controls: [
    { name: "size", kind: "range", min: 1, max: 8, step: 1, start: 4 },
    {
      name: "part",
      kind: "choice",
      options: [
        ["sin", "sine"],
        ["2", "two"],
      ],
      start: "sin",
    },
    { name: "mask", kind: "switch", start: false },
    { name: "words", kind: "text", start: "" },
    { name: "row", kind: "held", start: 3 },
    { name: "again", kind: "button" },
    { name: "chapter", kind: "choice", options: [["one", "One"]], read: () => "one", patch: () => ({ at: 1 }) },
  ],
  kept: [{ name: "token", start: "dog" }],
  playhead: { name: "at", min: 0, max: 5, step: 1, rate: 1 },
};

test("a scene starts where its controls do; a button and a control that shows another setting have none, a playhead starts at its least", () => {
  const start = { size: 4, part: "sin", mask: false, words: "", row: 3, token: "dog", at: 0 };
  assert.deepEqual(startSettings(SCENE), start);
});

test("settings of an address are taken in their type and within their bounds, others are not", () => {
  const valid = { size: 2, part: "2", mask: true, words: "a b", row: 0, token: "cat", at: 2.5 };
  assert.deepEqual(validSettings(SCENE, valid), valid);
  assert.deepEqual(validSettings(SCENE, { size: 99, part: 2, at: -1 }), { size: 8, part: "2", at: 0 });
  const wrong = { size: "2", part: "cos", mask: "on", words: 1, row: "0", token: 4, at: true };
  assert.deepEqual(validSettings(SCENE, { ...wrong, again: 1, chapter: "one", other: 1, __proto__: null }), {});
});

test("a link holds scene and settings, and what else stood in the address", () => {
  const link = linkTo("https://example.org/lessons?lesson=masks&with=at:1#top", {
    scene: "rows",
    settings: { mask: true, at: 5, share: 0.1 + 0.2, text: "on", words: "Guten Tag, (1)", none: "" },
  });
  const params = new URL(link).searchParams;
  assert.deepEqual([params.get("lesson"), params.get("scene")], ["masks", "rows"]);
  assert.equal(params.get("with"), "at:5,mask:on,share:0.3,text:%6Fn,words:Guten%20Tag%2C%20%281%29");
  assert.equal(new URL(linkTo(link, { scene: "rows", settings: {} })).searchParams.has("with"), false);
});

test("a long number of an address takes no time", () => {
  const before = process.cpuUsage().user;
  assert.deepEqual(fromAddress(`at:${"1".repeat(100_000)}x,on:on`), { on: true });
  assert.ok(process.cpuUsage().user - before < 1e6);
});
