// Asks the browser's translator what expected.py has asked Python. Prints how much was compared, and the largest differences.
//
//     node compare.js FOLDER [plain]

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readBuffer } from "../../viz_app/components/common/buffer.js";
import { headAddress } from "../../viz_app/components/common/heads/heads.js";
import { headsByEffect } from "../../viz_app/components/live/js/effects.js";
import { flowData } from "../../viz_app/components/live/js/flowdata.js";
import { explorerPayload } from "../../viz_app/components/live/js/payload.js";
import { refusalText } from "../../viz_app/components/live/js/sentence.js";
import { Translator } from "../../viz_app/components/live/js/translator.js";

const LOG = 1e-4; // of a log-probability, for each token
const TIE = 2e-5; // of two log-probabilities
const WEIGHT = 1e-5;
const FLOW = 1e-3; // of the largest of its kind

const [folder, mode] = process.argv.slice(2);
const json = (name) => JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
const live = json("live.json");
const expected = json("expected.json");
const files = new Map(
  Object.entries(live.files).map(([name, size]) => {
    const bytes = new Uint8Array(readFileSync(`${expected.checkpoint}/${name}`));
    assert.equal(bytes.length, size);
    return [name, bytes];
  }),
);
const weights = [...files].filter(([name]) => name.endsWith(".safetensors")).map(([, bytes]) => bytes);
const translator = new Translator(live, weights, files.get("tokenizer.model"), mode === "plain");
const found = {
  log: 0,
  weight: 0,
  texts: 0,
  searches: 0,
  ties: 0,
  nodes: 0,
  maps: 0,
  payloads: 0,
  levels: 0,
  cells: 0,
  off: 0,
  effects: 0,
  flows: 0,
  words: 0,
  ways: 0,
  flow: 0,
};

function near(actual, wanted, most, what) {
  const difference = Math.abs(actual - wanted);
  assert.ok(difference <= most, `${what}: ${actual}, not ${wanted}`);
  return difference;
}

function search(text, options = {}) {
  const sentence = translator.validate(text);
  assert.equal(sentence.status, "good", text);
  const begun = translator.begin(sentence, options);
  while (!begun.search.done) begun.search.step();
  return begun;
}

for (const { text, sentence, refusal, ...wanted } of expected.texts) {
  const { ids, tokens, unknown } = translator.tokenizer.encode(text);
  assert.deepEqual({ ids, tokens, unknown, decoded: translator.tokenizer.decode(ids) }, wanted, JSON.stringify(text));
  const validated = translator.validate(text);
  if (refusal) assert.equal(refusalText(validated, live.words), refusal);
  for (const [part, value] of Object.entries(sentence)) assert.deepEqual(validated[part], value, JSON.stringify(text));
  found.texts++;
}

for (const { text, beam, prefix, ...wanted } of expected.searches) {
  const { search: made, ...rest } = search(text, { beam, prefix });
  const tokens = prefix.map((id) => translator.tokenizer.tokens[id]); // as the explorer asks for it
  assert.deepEqual(translator.begin(translator.validate(text), { prefix: tokens }).search.prefix, prefix);
  const { history, hypotheses } = made;
  const nodes = history.map(({ parent, step, token, status }) => [parent, step, token, status]);
  const differs = nodes.findIndex((node, index) => String(node) !== String(wanted.nodes[index]));
  if (differs >= 0 && Math.abs(history[differs].total - wanted.logs[differs][0]) <= TIE) {
    found.ties++; // two candidates as likely: batches of Python order them otherwise, too
    continue;
  }
  assert.deepEqual(nodes, wanted.nodes, text);
  assert.deepEqual(
    hypotheses.map(({ ids, finished, node }) => [ids, finished, node]),
    wanted.hypotheses,
    text,
  );
  assert.equal(translator.text({ search: made, ...rest }), wanted.translation);
  for (const [index, { step, total, own, alternatives }] of history.entries()) {
    const [all, one] = wanted.logs[index];
    found.log = Math.max(found.log, near(own, one, LOG, text), near(total, all, LOG * step, text) / step);
    const others = wanted.alternatives[index];
    assert.deepEqual(
      alternatives.map(([id]) => id),
      others.map(([id]) => id),
      text,
    );
    for (const [place, [, log]] of alternatives.entries()) near(log, others[place][1], LOG * 5, text);
  }
  for (const [index, { score }] of hypotheses.entries()) near(score, wanted.scores[index], LOG * 50, text);
  found.searches++;
  found.nodes += nodes.length;
}

for (const { text, file, shapes } of expected.maps) {
  const { search: made, encoding } = search(text);
  const [{ ids, finished }] = made.hypotheses;
  const { bos, eos } = live.special_ids;
  const parts = { encoder: [], decoder: [], cross: [] };
  const read = [bos, ...(finished ? ids : ids.slice(0, -1))];
  translator.forcedPass([], [...encoding.ids, eos], read, (kind, _, layer) => parts[kind].push(...layer));
  const raw = readFileSync(`${folder}/${file}`);
  const values = new Float32Array(new Uint8Array(raw).buffer);
  const all = Object.values(parts).flat();
  assert.equal(all.length, values.length, text);
  for (const [number, kind] of Object.keys(parts).entries())
    assert.equal(
      parts[kind].length,
      shapes[number].reduce((a, b) => a * b),
      text,
    );
  for (const [index, value] of all.entries())
    found.weight = Math.max(found.weight, near(value, values[index], WEIGHT, text));
  found.maps++;
}

for (const { text, branch, file } of expected.payloads) {
  const wanted = readBuffer(new Uint8Array(readFileSync(`${folder}/${file}`)));
  const packed = readBuffer(explorerPayload(translator, search(text), branch));
  comparePayloads(packed, wanted, text);
  found.payloads++;
}

function comparePayloads(packed, wanted, text) {
  const { steps, id, beam, selection: _s, gloss: _g, ...header } = packed.header; // without where the explorer starts
  const { steps: otherSteps, id: _i, beam: otherBeam, selection: _o, gloss: _h, ...otherHeader } = wanted.header;
  assert.deepEqual(header, otherHeader, text);
  assert.ok(id && beam.id);
  for (const name of ["total", "own"])
    for (const [index, value] of beam[name].entries())
      near(value, otherBeam[name][index], LOG * beam.step[index], text);
  assert.deepEqual({ ...beam, id: "", total: [], own: [] }, { ...otherBeam, id: "", total: [], own: [] }, text);
  assert.deepEqual(
    steps.map(([, others]) => others.map(([token]) => token)),
    otherSteps.map(([, others]) => others.map(([token]) => token)),
  );
  for (const [index, [probability]] of steps.entries()) near(probability, otherSteps[index][0], LOG, text);
  assert.equal(packed.data.length, wanted.data.length);
  assert.equal((wanted.data.byteOffset - 4) % 2, 0);
  const wide = header.bits === 16;
  const numbers = ({ data }) => (wide ? new Uint16Array(new Uint8Array(data).buffer) : data);
  const [own, other] = [numbers(packed), numbers(wanted)];
  for (const [index, value] of own.entries()) {
    found.cells++;
    if (value === other[index]) continue;
    near(value, other[index], 1, `${text}, level ${index}`);
    found.levels++;
  }
}

for (const { text, heads, translation, words, original, before, after, worst } of expected.off) {
  const changed = search(text, { off: heads });
  assert.equal(translator.text(changed), translation);
  const told = translator.compareWithout(search(text), changed);
  assert.deepEqual({ words: told.words, original: told.original }, { words, original });
  const most = LOG * (original.length + 20);
  near(told.before, before, most, text);
  near(told.after, after, most, text);
  assert.equal(told.worst[0], worst[0]);
  for (const part of [1, 2]) near(told.worst[part], worst[part], LOG, text);
  found.off++;
}

for (const { text, effects } of expected.effects) {
  const heads = finished(headsByEffect(translator, search(text), Infinity));
  assert.equal(heads.length, Object.keys(effects).length);
  for (const head of heads) near(head.effect, effects[headAddress(head)], 40 * LOG, `${text} ${headAddress(head)}`);
  for (const [index, { effect }] of heads.entries()) assert.ok(!index || effect <= heads[index - 1].effect);
  found.effects += heads.length;
}

function finished(steps) {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

for (const { text, prefix, flow, ...options } of expected.flows) {
  const { words, ...about } = finished(flowData(translator, search(text, { prefix }), options));
  const { words: wanted, ...otherAbout } = flow;
  assert.deepEqual(about, otherAbout);
  assert.deepEqual(
    words.map((word) => word === null),
    wanted.map((word) => word === null),
  );
  for (const [position, word] of wanted.entries()) if (word) compareWords(words[position], word, `${text} ${position}`);
  found.flows++;
}

function compareWords(word, wanted, what) {
  const largest = (values) => Math.max(...values.map(Math.abs));
  const nearAll = (values, others, most, part) => {
    assert.equal(values.length, others.length, `${what}: ${part}`);
    for (const [index, value] of values.entries())
      found.flow = Math.max(found.flow, near(value, others[index], FLOW * most, `${what}: ${part} ${index}`) / most);
  };
  const parts = (each) => [each.logit, ...each.source, ...each.inputs, each.biases];
  nearAll(parts(word), parts(wanted), largest(parts(wanted)), "parts");
  nearAll([word.total], [wanted.total], wanted.total, "total");
  near(word.count, wanted.count, 0.01 * wanted.count, `${what}: count`);
  for (const name of ["states", "residuals"])
    for (const stack of ["encoder", "decoder"])
      nearAll(word[name][stack].flat(), wanted[name][stack].flat(), largest(wanted[name][stack].flat()), name);
  const most = Math.abs(wanted.flows[0]);
  const ways = (each) => placed(each.flows.map((flow, index) => [each.ways.slice(4 * index, 4 * index + 4), flow]));
  found.ways += samePlaces(ways(word), ways(wanted), most, `${what}: ways`);
  const all = (numbers) => numbers.length / 5;
  const neurons = ({ neurons: numbers }) =>
    placed(Array.from({ length: all(numbers) }, (_, i) => [numbers.slice(5 * i, 5 * i + 4), numbers[5 * i + 4]]));
  samePlaces(neurons(word), neurons(wanted), Math.abs(wanted.neurons[4]), `${what}: neurons`);
  const heads = ({ heads: pairs }) =>
    Array.from({ length: pairs.length / 2 }, (_, i) => [pairs[2 * i], pairs[2 * i + 1]]);
  const places = [...ways(wanted).keys()];
  for (const [index, place] of [...ways(word).keys()].entries()) {
    const other = places.indexOf(place);
    const pairs = (pairs) => placed(heads({ heads: pairs }));
    if (other >= 0)
      samePlaces(pairs(word.heads[index]), pairs(wanted.heads[other]), most, `${what}: heads of ${place}`);
  }
  found.words++;
}

/** Flows by their places, the largest first. */
function placed(pairs) {
  const flows = new Map(pairs.map(([place, flow]) => [String(place), flow]));
  assert.equal(flows.size, pairs.length);
  const sizes = [...flows.values()].map(Math.abs);
  assert.deepEqual(
    sizes,
    [...sizes].sort((a, b) => b - a),
  );
  return flows;
}

/** Compares flows; one that only one side lists is about as small as the smallest. Returns how many both list. */
function samePlaces(flows, others, most, what) {
  const least = Math.abs([...others.values()].at(-1) ?? 0) + FLOW * most;
  let both = 0;
  for (const [one, other] of [
    [flows, others],
    [others, flows],
  ])
    for (const [place, flow] of one)
      if (other.has(place)) both += near(flow, other.get(place), FLOW * most, `${what} ${place}`) >= 0;
      else assert.ok(Math.abs(flow) <= least, `${what} ${place}: ${flow}`);
  return both / 2;
}

console.log(JSON.stringify(found));
