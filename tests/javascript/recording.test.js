// Formats of films that are offered, and the button that stops a film.

import assert from "node:assert/strict";
import { test } from "node:test";

const element = () => ({ append() {}, addEventListener() {}, setAttribute() {} });
globalThis.document = { createElement: element, createElementNS: element };
let copies = 0;

/** Loads the module anew in a browser that records some media types. */
async function recording(...types) {
  globalThis.MediaRecorder = types.length ? { isTypeSupported: (type) => types.includes(type) } : undefined;
  return import(`../../viz_app/components/common/page/recording.js?${copies++}`);
}

const labels = (film) => film.tools.map(({ button, words }) => (button.hidden ? null : words.textContent));

test("a browser offers what it records, MP4 with a coding that slides play", async () => {
  const chrome = await recording("video/webm", "video/webm;codecs=vp9", "video/mp4", "video/mp4;codecs=avc1");
  assert.deepEqual(chrome.FORMATS, [
    { format: "MP4", type: "video/mp4;codecs=avc1" },
    { format: "WebM", type: "video/webm;codecs=vp9" },
  ]);
  const firefox = await recording("video/webm");
  assert.deepEqual(firefox.FORMATS, [{ format: "WebM", type: "video/webm" }]);
  assert.deepEqual((await recording("video/mp4")).FORMATS, [], "MP4 of another coding would not play");
  const none = await recording();
  assert.deepEqual(new none.Film({}).tools, []);
});

test("a film has a button for each format; while it runs, its own stops it", async () => {
  const { Film, FORMATS } = await recording("video/webm", "video/mp4;codecs=avc1");
  let begun = 0;
  const film = new Film({ begin: () => begun++ });
  film.label("{format} video", "Stop");
  assert.deepEqual(labels(film), ["MP4 video", "WebM video"]);
  film.toggle(FORMATS[1]);
  film.recorder = {};
  film.label("{format} video", "Stop");
  assert.deepEqual([begun, labels(film)], [1, [null, "Stop"]]);
  film.label("{format} video", "Stop", false);
  assert.deepEqual(labels(film), [null, null]);
});
