// Findings of one explorer are not those of another one on the same page.

import assert from "node:assert";
import test from "node:test";
import { findings, receiveFinding, whenTold } from "../../viz_app/components/explorer/js/cards/findings.js";

const events = new EventTarget();
globalThis.addEventListener = events.addEventListener.bind(events);
globalThis.removeEventListener = events.removeEventListener.bind(events);
globalThis.dispatchEvent = events.dispatchEvent.bind(events);

test("each explorer has its own, and keeps what was found before", () => {
  let told = 0;
  const end = whenTold(() => told++);
  receiveFinding({ roles: null, off: { head: "cross.1.2" } }, "one");
  receiveFinding({ off: { head: "cross.2.2" } }, "two");
  receiveFinding({ off: null });
  receiveFinding({ card: null }, "one");
  assert.deepEqual(findings("one"), { roles: null, off: { head: "cross.1.2" }, card: null });
  assert.deepEqual(findings("two"), { off: { head: "cross.2.2" } });
  assert.deepEqual(findings(undefined), { off: null });
  assert.deepEqual(findings("none"), {});
  assert.equal(told, 4);
  end();
  receiveFinding({ off: null }, "two");
  assert.equal(told, 4);
});
