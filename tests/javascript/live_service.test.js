// The translator behind messages: progress, answers, refusals, and the newest request.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readBuffer } from "../../viz_app/components/common/buffer.js";
import { allHeads, headAddress } from "../../viz_app/components/common/heads/heads.js";
import { LiveService } from "../../viz_app/components/live/js/service.js";
import { joined, tinyModel } from "./tiny_model.js";

async function opened(changes = {}) {
  const answers = [];
  const drafts = [];
  const service = new LiveService((answer) => (answer.draft ? drafts : answers).push(answer));
  const { live, files } = tinyModel();
  await service.receive({ request: 1, do: "open", live: { ...live, ...changes }, files: joined(files) });
  const ask = async (message) => {
    const request = service.latest + 1;
    await service.receive({ request, ...message });
    return answers.filter((answer) => answer.request === request);
  };
  return { service, answers, drafts, ask, total: Object.values(live.files).reduce((a, b) => a + b) };
}

test("a model says how much of it is loaded, and that it is ready", async () => {
  const { answers, total } = await opened();
  assert.deepEqual(answers.at(-1), { request: 1, ready: true, kernel: true });
  assert.deepEqual(answers.at(-2), { request: 1, loaded: total, total });
});

test("a sentence comes with translation and payload, and any of its branches", async () => {
  const { ask } = await opened();
  const [{ sentence, translation, payload }] = await ask({ do: "translate", text: "  a  bc " });
  assert.deepEqual([sentence.text, sentence.status, "encoding" in sentence], ["a bc", "good", false]);
  const { header } = readBuffer(payload);
  assert.equal(header.beam.shown, 0);
  assert.ok(translation.length);
  const [other] = await ask({ do: "translate", text: "a bc", branch: 2 });
  const second = readBuffer(other.payload).header;
  assert.deepEqual([second.beam.shown, second.beam.id], [2, header.beam.id]);
  assert.notEqual(second.id, header.id);
});

test("only a translation has drafts, and it is the same without", async () => {
  const { ask, drafts } = await opened();
  const now = performance.now;
  const translated = async (time) => {
    performance.now = time;
    const [{ payload }] = await ask({ do: "translate", text: "a bc ab" });
    performance.now = now;
    return payload;
  };
  let time = 0;
  const payload = await translated(() => (time += 1000)); // every step is due
  assert.ok(drafts.length > 5 && drafts.every(({ request }) => request === 2));
  const { axes } = readBuffer(payload).header;
  const count = drafts.length;
  await ask({ do: "flow", text: "a bc ab" });
  await ask({ do: "without", text: "a b", heads: [{ kind: "cross", layer: 1, head: 0 }] });
  assert.equal(drafts.length, count);
  const other = await opened();
  other.service.search = (
    (search) =>
    (...args) =>
      search.call(other.service, ...args.slice(0, 4))
  )(other.service.search);
  const [{ payload: alone }] = await other.ask({ do: "translate", text: "a bc ab" });
  assert.equal(other.drafts.length, 0);
  assert.deepEqual([readBuffer(alone).header.axes, alone], [axes, payload]);
});

test("what cannot be translated is refused with its reason", async () => {
  const { ask } = await opened();
  const statuses = {
    "": "empty",
    " \u001c ": "empty",
    "\uac1c": "korean",
    "ab \uac1c\uac1c\uac1c": "korean",
    "ab \uac1c": "good", // one Korean word is unknown
    [`${"a ".repeat(99)}`]: "long",
    [`${"a".repeat(401)}`]: "refused",
  };
  for (const [text, status] of Object.entries(statuses)) {
    const [answer] = await ask({ do: "translate", text });
    assert.equal(answer.sentence.status, status);
    assert.equal(answer.payload === undefined, status !== "good");
  }
  const long = await ask({ do: "translate", text: "a ".repeat(99) });
  assert.deepEqual([long[0].sentence.tokens, long[0].sentence.limit, long[0].refusal], [99, 60, "99 39 60"]);
});

test("a prefix begins the translation, and one that cannot is an error in words", async () => {
  const { ask } = await opened();
  for (const prefix of ["ab c", [12, 4, 7], ["\u2581ab", "\u2581", "c"]]) {
    const [{ payload }] = await ask({ do: "translate", text: "abc", prefix });
    const { axes, about } = readBuffer(payload).header;
    assert.equal(about.force, "\u2581ab \u2581 c");
    assert.deepEqual(axes.outputs.tokens.slice(0, 3), about.force.split(" "));
  }
  const failed = async (prefix) => (await ask({ do: "translate", text: "abc", prefix }))[0].failed;
  assert.match(await failed([1]), /token 0 of the prefix has the id 1, which cannot stand there/);
  assert.match(await failed([99]), /id 99/);
  assert.match(await failed(["never"]), /id -1/);
  assert.match(await failed(Array(40).fill(5)), /the prefix has 40 tokens, but this translation may have at most/);
});

test("the head that is needed most is the first without which the translation changes, or has the largest effect", async () => {
  const { ask, service } = await opened();
  const without = [];
  const text = "abc a";
  for (const head of allHeads(2, 2)) without.push((await ask({ do: "without", text, heads: [head] }))[0].off);
  without.sort((one, other) => one.after - other.after);
  const { translator } = service;
  const translated = translator.text.bind(translator);
  for (const [changing, rank] of [
    [0, 1],
    [2, 3],
    [4, 5],
    [7, 1],
  ]) {
    translator.text = (found) => {
      const { head } = without[changing];
      return found.off.map(headAddress).includes(head) ? "another" : translated({ ...found, search: whole.search });
    };
    const whole = translator.begin(translator.validate(text));
    while (!whole.search.done) whole.search.step();
    const [{ needed }] = await ask({ do: "needed", text });
    const { head } = without[rank - 1];
    assert.deepEqual(needed, { model: "tiny", source: text, head, rank, count: without.length });
  }
});

test("heads are switched off in groups", async () => {
  const { ask } = await opened();
  const heads = [
    { kind: "cross", layer: 1, head: 0 },
    { kind: "encoder", layer: 0, head: 1 },
  ];
  const [{ off }] = await ask({ do: "without", text: "abc a", heads });
  assert.equal(off.head, "cross.2.1 encoder.1.2");
  assert.notEqual(off.before, off.after);
});

test("the flow of all words, or of one against a token, follows the branch and the prefix", async () => {
  const { ask } = await opened();
  const about = { text: "abc a", branch: 1, prefix: ["\u2581ab"] };
  const [{ payload }] = await ask({ do: "translate", ...about });
  const [{ flow }] = await ask({ do: "flow", ...about });
  const { axes } = readBuffer(payload).header;
  assert.deepEqual([flow.tokens, flow.source, flow.model], [axes.outputs.tokens, "abc a", "tiny"]);
  assert.ok(flow.words.every((word) => word.flows.length));
  assert.deepEqual([flow.lens.length, flow.lens[0].length], [3, axes.inputs.tokens.length]);
  const [{ flow: contrast }] = await ask({ do: "flow", ...about, at: 1, against: "b" });
  assert.deepEqual([contrast.at, contrast.against, contrast.lens], [1, "b", []]);
  assert.deepEqual(
    contrast.words.map((word) => word !== null),
    flow.tokens.map((_, position) => position === 1),
  );
  assert.notEqual(contrast.words[1].logit, flow.words[1].logit);
  for (const unknown of [
    { at: 1, against: "never" },
    { at: 99, against: "b" },
    { at: null, against: "b" },
  ])
    assert.equal((await ask({ do: "flow", ...about, ...unknown }))[0].flow, null);
});

test("of a long translation there is the flow of the words around one", async () => {
  const { ask } = await opened({ decoding: { ...tinyModel().live.decoding, extra_length: 80, min_length: 70 } });
  const there = ({ words }) => [words.findIndex(Boolean), words.filter(Boolean).length];
  const [{ flow }] = await ask({ do: "flow", text: "abc" });
  assert.ok(flow.words.length > 70);
  assert.deepEqual(there(flow), [0, 48]);
  const [{ flow: last }] = await ask({ do: "flow", text: "abc", at: flow.words.length - 1 });
  assert.deepEqual(there(last), [flow.words.length - 48, 48]);
  assert.deepEqual([last.at, last.against], [null, null]);
  const [{ flow: middle }] = await ask({ do: "flow", text: "abc", at: 40 });
  assert.deepEqual(there(middle), [16, 48]);
});

test("a newer request ends the flow between two words", async () => {
  const { service, answers, ask } = await opened();
  await ask({ do: "translate", text: "abc" });
  let words = 0;
  const goesOn = service.goesOn.bind(service);
  service.goesOn = (request) => {
    if (++words === 3) service.receive({ request: 4, do: "translate", text: "" });
    return goesOn(request);
  };
  await service.receive({ request: 3, do: "flow", text: "abc" });
  assert.deepEqual([words, answers.at(-1)], [3, { request: 3, superseded: true }]);
});

test("a newer request ends the others, also while they search", async () => {
  const { service, answers } = await opened({
    decoding: { ...tinyModel().live.decoding, extra_length: 2000, min_length: 1900 },
  });
  const first = service.receive({ request: 2, do: "translate", text: "abc" });
  const second = service.receive({ request: 3, do: "translate", text: "ab" });
  await new Promise((resolve) => setTimeout(resolve, 60)); // it searches now
  await Promise.all([first, second, service.receive({ request: 4, do: "translate", text: "" })]);
  const of = (request) => answers.find((answer) => answer.request === request);
  assert.deepEqual(
    [of(2), of(3)],
    [
      { request: 2, superseded: true },
      { request: 3, superseded: true },
    ],
  );
  assert.equal(of(4).sentence.status, "empty");
});

test("few searches are kept, and none keeps its keys and values", async () => {
  const { service, ask } = await opened();
  for (let count = 1; count < 14; count++) await ask({ do: "translate", text: "a ".repeat(count) });
  assert.equal(service.searches.size, 8);
  for (const { search } of service.searches.values()) assert.equal(search.cache, null);
});

test("before a model is open, and with a damaged one, there is an error", async () => {
  const answers = [];
  const drafts = [];
  const service = new LiveService((answer) => (answer.draft ? drafts : answers).push(answer));
  await service.receive({ request: 1, do: "translate", text: "a" });
  const { live, files } = tinyModel();
  await service.receive({ request: 2, do: "open", live, files: joined(files).subarray(9) });
  assert.match(answers[0].failed, /no model is open/);
  assert.match(answers.at(-1).failed, /bytes/);
  await service.receive({ request: 3, do: "open", live, files: joined(files) });
  assert.equal(answers.at(-1).ready, true);
});
