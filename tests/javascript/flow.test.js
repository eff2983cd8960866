// The flow: its parts, the graph of a share, and where everything of the two pictures stands.

import assert from "node:assert/strict";
import { test } from "node:test";
import { beginning, distance, sample, single } from "../../viz_app/components/explorer/js/flow/curves.js";
import {
  carrying,
  chosenToken,
  edgeAt,
  neuronsAt,
  partsOf,
} from "../../viz_app/components/explorer/js/flow/flowparts.js";
import { between } from "../../viz_app/components/explorer/js/flow/flowshapes.js";
import { FoldedPlaces } from "../../viz_app/components/explorer/js/flow/foldedplaces.js";
import { foldedScene } from "../../viz_app/components/explorer/js/flow/foldedscene.js";
import { UnfoldedPlaces } from "../../viz_app/components/explorer/js/flow/unfoldedplaces.js";
import { unfoldedScene } from "../../viz_app/components/explorer/js/flow/unfoldedscene.js";
import { random } from "./random.js";

const LAYERS = 3;
const theme = {
  text: "#000",
  muted: "#555",
  background: "#fff",
  kinds: { encoder: "#00f", decoder: "#f80", cross: "#0a0" },
};
const names = { encoder: "Encoder", decoder: "Decoder", biases: "biases" };
const measure = (text, size) => 0.55 * size * text.length;
const position = (text) => ({ text, start: true, special: text.startsWith("<"), first: 0, last: 0 });
const matrix = (rows, columns, next) => Array.from({ length: rows }, () => Array.from({ length: columns }, next));

/** Tokens of a sentence, and a made-up word of its translation. */
function made(count, at, seed = 3) {
  const next = random(seed);
  const signed = () => 20 * (next() - 0.45);
  const source = [...Array.from({ length: count - 1 }, (_, i) => `word${i}`), "</s>"].map(position);
  const outputs = [...Array.from({ length: count - 1 }, (_, i) => `Wort${i}`), "</s>"].map(position);
  const inputs = Array.from({ length: count }, (_, i) => (i <= at ? signed() : 0));
  const edges = [];
  for (let layer = 0; layer < LAYERS; layer++)
    for (let query = 0; query < count; query++)
      for (let key = 0; key < count; key++)
        for (const kind of [0, 1, 2])
          if (kind === 0 || (query <= at && (kind === 2 || key <= query)))
            edges.push([[kind, layer, query, key], signed()]);
  edges.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const word = {
    logit: 7,
    source: source.map(signed),
    inputs,
    biases: -12.5,
    total: edges.reduce((sum, [, flow]) => sum + Math.abs(flow), 0),
    count: edges.length,
    ways: edges.flatMap(([way]) => way),
    flows: edges.map(([, flow]) => flow),
    heads: edges.map(([, flow]) => [2, flow / 2, 0, flow / 4]),
    states: { encoder: matrix(LAYERS + 1, count, signed), decoder: matrix(LAYERS + 1, count, signed) },
    residuals: { encoder: matrix(LAYERS, count, signed), decoder: matrix(LAYERS, count, signed) },
    neurons: [1, 0, at, 17, 2.5, 0, 0, at, 5, 2, 1, 0, at, 9, -1],
  };
  return { tokens: { source, outputs, first: position("<s>"), biases: "biases" }, word };
}

const { tokens, word } = made(7, 4);
const unfolded = (share = 0.5, width = 800) =>
  new UnfoldedPlaces(tokens, word, 4, share, { width, height: 500, scale: 1 }, measure);

test("the pinned token is chosen, else the newest, else none", () => {
  const axes = { outputs: { words: [0, 1, 1, 2] } };
  const chosen = (state) =>
    chosenToken({ kind: "cross", pin: null, unit: "tokens", step: null, ...state }, { axes, length: 4 });
  assert.equal(chosen({}), null);
  assert.equal(chosen({ step: 2 }), 1);
  assert.equal(chosen({ pin: "q3" }), 3);
  assert.equal(chosen({ pin: "q3", step: 2 }), 1); // it is not yet written
  assert.equal(chosen({ pin: "q2", unit: "words" }), 3);
  assert.equal(chosen({ pin: "k1" }), null);
  assert.equal(chosen({ pin: "q1", kind: "encoder" }), null);
});

test("a graph is the smallest that carries its share", () => {
  for (const share of [0.1, 0.5, 0.8, 0.99, 1]) {
    const { count, carried } = carrying(word, share);
    const sum = (number) => word.flows.slice(0, number).reduce((total, flow) => total + Math.abs(flow), 0) / word.total;
    assert.ok(sum(count) >= share - 1e-9 && sum(count - 1) < share);
    assert.ok(Math.abs(carried - sum(count)) < 1e-12);
  }
  const cut = { ...word, flows: word.flows.slice(0, 3) };
  assert.equal(carrying(cut, 0.99).count, 3);
  assert.ok(carrying(cut, 0.99).carried < 0.2);
});

test("edges, parts and neurons are read from the flat lists", () => {
  const edge = edgeAt(word, 5);
  assert.deepEqual(
    [["encoder", "decoder", "cross"].indexOf(edge.kind), edge.layer, edge.query, edge.key],
    word.ways.slice(20, 24),
  );
  assert.deepEqual(edge.heads, [
    [2, word.flows[5] / 2],
    [0, word.flows[5] / 4],
  ]);
  assert.deepEqual(neuronsAt(word, "decoder", 1, 4), [
    [17, 2.5],
    [9, -1],
  ]);
  const names = partsOf(word, 4).map(({ name }) => name);
  assert.deepEqual(names, ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "i0", "i1", "i2", "i3", "i4", "b"]);
});

test("the beginning of a way lies on it", () => {
  const way = single(0, 0, 10, 80, 90, 20, 100, 100);
  for (const share of [0.2, 0.5, 0.7]) {
    const [x, y] = beginning(way, share).slice(-2);
    assert.ok(distance(way, { x, y }) < 0.5);
  }
  assert.deepEqual(beginning(way, 1), way);
  assert.ok(Math.abs(distance(single(0, 0, 0, 10, 0, 20, 0, 30), { x: 4, y: 15 }) - 4) < 1e-9);
  for (const [, , u, v] of sample(way, 8)) assert.ok(Math.abs(Math.hypot(u, v) - 1) < 1e-9);
});

test("a short sentence lies above its translation, a long one stands; no two words overlap", () => {
  for (const [count, width, across] of [
    [7, 800, true],
    [7, 360, false],
    [40, 800, false],
  ]) {
    const places = new FoldedPlaces(made(count, 2).tokens, width, 430, measure);
    assert.equal(places.across, across);
    assert.ok(places.width <= width);
    for (const line of ["source", "output"]) {
      const all = [...places.places.values()].filter((place) => place.line === line);
      for (let i = 1; i < all.length; i++)
        assert.ok(all[i].at - all[i - 1].at >= (all[i].width + all[i - 1].width) / 2 - 0.01);
      assert.ok(all[0].at > 0 && all.at(-1).at < (across ? places.width : places.height));
    }
    for (const [name, { at, line }] of places.places) {
      if (name === "b" || name === "i0") continue;
      const beside = line === "source" ? places.source : places.output;
      const hit = places.at(across ? { x: at, y: beside } : { x: beside, y: at });
      assert.deepEqual(
        hit,
        line === "source" ? { source: Number(name.slice(1)) } : { output: Number(name.slice(1)) - 1 },
      );
    }
  }
});

test("ribbons are as wide as their parts, and leave the word side by side", () => {
  const places = new FoldedPlaces(tokens, 800, 430, measure);
  const words = tokens.outputs.map((_, i) => (i === 4 ? word : null));
  const scene = foldedScene(places, words, { output: 4 }, theme);
  const parts = partsOf(word, 4);
  const whole = parts.reduce((sum, { value }) => sum + Math.max(0, value), 0);
  for (const { name, value } of parts) {
    const ribbon = scene.get(`p${name}`);
    if (Math.abs(value) < 0.004 * whole) continue;
    assert.ok(Math.abs(ribbon.at[14] - (places.wide * Math.abs(value)) / whole) < 1e-9);
    assert.equal(ribbon.hollow, value < 0);
  }
  const upper = parts
    .filter(({ name }) => name.startsWith("s") && scene.has(`p${name}`))
    .map(({ name }) => scene.get(`p${name}`).at);
  for (let i = 1; i < upper.length; i++)
    assert.ok(Math.abs(upper[i][0] - upper[i - 1][0] - (upper[i][14] + upper[i - 1][14]) / 2) < 1e-9);
  assert.equal(scene.get("ns3").text.replace("\u2212", "-"), word.source[3].toFixed(1));
});

test("ways of the unfolded picture join the states that they say, and grow upwards", () => {
  for (const width of [800, 360]) {
    const places = unfolded(0.5, width);
    for (const stack of ["encoder", "decoder"]) {
      const { x, left, right } = places.frames[stack];
      for (let i = 1; i < x.length; i++) assert.ok(x[i] > x[i - 1]);
      assert.ok(left >= 0 && right <= places.width);
    }
    assert.equal(places.frames.decoder.foot < places.frames.encoder.top, width === 360);
    for (const edge of places.edges) {
      const way = places.way(edge);
      const from = edge.kind === "decoder" ? "decoder" : "encoder";
      const to = edge.kind === "encoder" ? "encoder" : "decoder";
      assert.ok(Math.abs(way[0] - places.frames[from].x[edge.key]) < 1e-9);
      assert.ok(Math.abs(way[12] - places.frames[to].x[edge.query]) < 1e-9);
      assert.ok(Math.abs(way[1] - places.y(from, edge.kind === "cross" ? LAYERS : edge.layer)) < 1e-9);
      if (edge.kind !== "cross") assert.ok(way[13] < way[1] && way[13] > places.y(to, edge.layer + 1) - 1e-9);
      const [begins, ends] = places.grows(edge);
      assert.ok(begins < ends && begins >= 0 && ends <= 1);
    }
  }
});

test("ways that end at one place lie side by side", () => {
  const places = unfolded(1);
  const ends = places.edges.filter(({ kind, layer, query }) => kind === "cross" && layer === 1 && query === 4);
  const rows = ends.map((edge) => [places.way(edge)[13], places.wide(edge.flow)]).sort((a, b) => a[0] - b[0]);
  assert.equal(rows.length, 7);
  for (let i = 1; i < rows.length; i++)
    assert.ok(Math.abs(rows[i][0] - rows[i - 1][0] - (rows[i][1] + rows[i - 1][1]) / 2) < 1e-9);
});

test("a way, a state and a token are found where they are drawn", () => {
  const places = unfolded();
  const index = places.edges.findIndex(({ kind }) => kind === "encoder");
  const [x, y] = places.way(places.edges[index]).slice(6, 8);
  const hit = places.at({ x, y });
  assert.ok("edge" in hit && distance(places.way(places.edges[hit.edge]), { x, y }) < 7);
  const { x: columns, foot } = places.frames.decoder;
  assert.deepEqual(places.at({ x: columns[2], y: places.y("decoder", 2) }), {
    node: { stack: "decoder", layer: 2, position: 2 },
  });
  assert.deepEqual(places.at({ x: columns[2], y: foot + 40 }), { output: 1 });
});

test("one picture turns into the next, and what is in both stays", () => {
  const before = foldedScene(
    new FoldedPlaces(tokens, 800, 430, measure),
    [null, null, null, null, word],
    { output: 4 },
    theme,
  );
  const after = unfoldedScene(unfolded(), null, theme, names);
  assert.ok(before.has("s2") && after.has("s2"));
  for (const [name, shape] of between(before, after, 1)) {
    if (after.has(name)) shape.at.forEach((value, i) => assert.ok(Math.abs(value - after.get(name).at[i]) < 1e-9));
    else assert.equal(shape.alpha, 0);
  }
  const [x] = between(before, after, 0.5).get("s2").at;
  assert.ok(Math.abs(x - (before.get("s2").at[0] + after.get("s2").at[0]) / 2) < 1e-9);
});
