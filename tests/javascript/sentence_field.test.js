// While one types fast, about every second key reports the sentence; after a rest each key does, and the last always. The
// first one after a rest does at once, unless many share the server.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

const written = [];
globalThis.HTMLTextAreaElement = class {
  reports = 0;
  get value() {
    return "";
  }
  set value(text) {
    written.push(text);
  }
  matches() {
    return true;
  }
  dispatchEvent() {
    this.reports += 1;
  }
};
globalThis.KeyboardEvent = class {};
const listeners = {};
globalThis.document = { addEventListener: (name, listener) => (listeners[name] = listener) };

const { default: mount } = await import("../../viz_app/components/sentence_field/sentence_field.js");

let now = 10_000;
mock.timers.enable({ apis: ["setTimeout"] });
mock.method(performance, "now", () => now);

function pass(milliseconds) {
  for (let i = 0; i < milliseconds; i++) {
    now += 1;
    mock.timers.tick(1);
  }
}

test("the first key after a rest is reported at once where few share the server, later ones after the pause", () => {
  const field = new HTMLTextAreaElement();
  const waits = (pause, rest) => {
    mount({ data: { pause } });
    pass(rest);
    listeners.input({ target: field });
    const before = field.reports;
    let waited = 0;
    for (; field.reports === before; waited++) pass(1);
    return waited;
  };
  assert.equal(waits(50, 1000), 1);
  assert.equal(waits(50, 200), 50, "a key that is held repeats sooner");
  assert.equal(waits(100, 1000), 100);
  pass(1000);
});

test("a fast typist's sentence is reported at every second key, and after the last one", () => {
  mount({ data: { pause: 50 } });
  const reports = (keys, every) => {
    const field = new HTMLTextAreaElement();
    for (let i = 0; i < keys; i++) {
      listeners.input({ target: field });
      pass(i < keys - 1 ? every : 0);
    }
    const before = field.reports;
    pass(250);
    return [before, field.reports - before];
  };
  assert.deepEqual(reports(20, 125), [10, 1]);
  pass(1000);
  assert.deepEqual(reports(20, 310), [19, 1]);
});

test("lines that are pasted become one, and many blanks take no time", () => {
  const field = new HTMLTextAreaElement();
  const write = (value) => {
    Object.defineProperty(field, "value", { value, configurable: true });
    written.length = 0;
    listeners.input({ target: field });
    return written[0] ?? null;
  };
  assert.equal(write("a \r\n b\n\n c"), "a b c");
  assert.equal(write("a\n"), "a ");
  assert.equal(write(" a b "), null);
  const before = process.cpuUsage().user;
  write(`a${" ".repeat(100_000)}b`);
  assert.ok(process.cpuUsage().user - before < 1e6);
});
