// What is read of a chosen file: nothing that is too large to read or to send.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readText } from "../../viz_app/components/file_picker/js/read.js";

/** @param {string} text */
const file = (text) => new Blob([text]);

test("the text of a file is read", async () => {
  assert.deepEqual(await readText(file('{"text": "안녕"}'), 100, 100), { text: '{"text": "안녕"}' });
});

test("a file that is too large is not read", async () => {
  const unread = { size: 11, text: () => assert.fail("it was read") };
  assert.deepEqual(await readText(unread, 10, 100), { problem: "size" });
});

test("a text that would be too long in its message is not sent", async () => {
  assert.deepEqual(await readText(file('"'.repeat(10)), 10, 21), { problem: "size" });
  assert.deepEqual(await readText(file('"'.repeat(10)), 10, 22), { text: '"'.repeat(10) });
});

test("a file that went away is told", async () => {
  const gone = { size: 1, text: () => Promise.reject(new Error("gone")) };
  assert.deepEqual(await readText(gone, 10, 10), { problem: "unreadable" });
});
