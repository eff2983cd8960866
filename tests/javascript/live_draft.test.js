// What a search has so far: its best hypothesis and the weights of its rows, which the explorer draws row by row.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Translation } from "../../viz_app/components/explorer/js/data/data.js";
import { DraftTranslation } from "../../viz_app/components/explorer/js/data/draft.js";
import { draftOf } from "../../viz_app/components/live/js/draft.js";
import { Translator } from "../../viz_app/components/live/js/translator.js";
import { tinyModel } from "./tiny_model.js";

const { live, files } = tinyModel();
const translator = new Translator(live, [files["model.safetensors"]], files["tokenizer.model"]);
const begin = (text) => translator.begin(translator.validate(text));

/** The best of all hypotheses of a search that goes on, by their scores alone. */
function bestSoFar(search) {
  const inner = new Set(search.history.map(({ parent }) => parent));
  const open = search.history.flatMap(({ step, status }, node) =>
    step === search.steps && status === "kept" && !inner.has(node) ? [node] : [],
  );
  const ended = search.history.flatMap(({ status }, node) => (status === "finished" ? [node] : []));
  const all = [...ended, ...open].map((node) => search.hypothesis(node));
  return all.reduce((best, each) => (each.score > best.score ? each : best));
}

/** The weights of a hypothesis in one pass over all of it: layer after layer, (h, Q, K). */
function forced(state, ids, finished) {
  const { bos, eos } = translator.special;
  const maps = { encoder: [], decoder: [], cross: [] };
  const read = finished ? ids : ids.slice(0, -1);
  translator.forcedPass([], [...state.encoding.ids, eos], [bos, ...read], (kind, _layer, weights) =>
    maps[kind].push(...weights),
  );
  return maps;
}

/** A translation of three tokens, whose kinds have the shape of the tiny model. */
function shown() {
  const kind = { layers: 2, heads: 2, queries: 3, keys: 3, offset: 0 };
  const axis = { tokens: ["a", "b", "c"], words: [0, 1, 2], special: [false, false, false] };
  const header = {
    bits: 16,
    kinds: { encoder: kind, decoder: kind, cross: kind },
    axes: { source: axis, inputs: axis, outputs: axis },
  };
  return new Translation({ header, data: new Uint8Array(1000) });
}

test("the drafts of a search are its best hypothesis at every step, with the weights of a forced pass", () => {
  const state = begin("ab bc a b c");
  let sent = new Int32Array();
  let draft = null;
  let steps = 0;
  state.search.step();
  for (; !state.search.done; state.search.step(), steps++) {
    const { ids, finished } = bestSoFar(state.search);
    const made = draftOf(translator, state, sent);
    sent = made.slots;
    draft ??= new DraftTranslation(shown(), made.draft);
    assert.equal(made.draft.from === 0, made.draft.encoder !== null);
    draft.take(made.draft);
    const tokens = [...ids.map((id) => translator.tokenizer.tokens[id]), ...(finished ? ["</s>"] : [])];
    assert.deepEqual(draft.axes.outputs.tokens.slice(0, draft.written), tokens);
    assert.ok(draft.axes.outputs.tokens.slice(draft.written).every((token) => token === ""));
    const maps = forced(state, ids, finished);
    for (const kind of ["encoder", "decoder", "cross"]) {
      const view = draft.view(kind, "tokens", draft.written);
      const keys = kind === "decoder" ? tokens.length : view.keys.length;
      const rows = kind === "encoder" ? keys : tokens.length;
      assert.equal(view.rows, rows);
      maps[kind].forEach((weight, at) => {
        const [map, row, key] = [Math.floor(at / keys / rows), Math.floor(at / keys) % rows, at % keys];
        const [layer, head] = [Math.floor(map / 2), map % 2];
        assert.ok(Math.abs(view.at(layer, head, row, key) - weight) < 1 / 500, `${kind} ${map} ${row} ${key}`);
      });
    }
  }
  assert.ok(steps > 5 && draft.rows.length > 3);
  assert.equal(state.search.recorded, null); // they take no memory when it is over
});

test("a draft says from which row on the pictures are old", () => {
  const { axes } = shown();
  const bytes = (rows) => new Uint8Array(4 * rows.reduce((sum, row) => sum + row + 4, 0)).fill(255);
  const of = (length) => ({
    source: axes.source,
    ...Object.fromEntries(
      ["inputs", "outputs"].map((name) => [
        name,
        {
          tokens: Array(length).fill("a"),
          words: [...Array(length).keys()],
          special: Array(length).fill(false),
        },
      ]),
    ),
  });
  const draft = new DraftTranslation(shown(), { axes: of(1), from: 0, rows: bytes([0]), encoder: null });
  assert.equal(draft.take({ axes: of(1), from: 0, rows: bytes([0]), encoder: null }), 0);
  assert.equal(draft.take({ axes: of(3), from: 1, rows: bytes([1, 2]), encoder: null }), 1);
  assert.equal(draft.view("cross", "tokens", 3).at(1, 1, 2, 2), 1);
  const { length } = draft;
  const more = Array.from({ length: length - 2 }, (_, index) => index + 3);
  assert.equal(draft.take({ axes: of(length + 1), from: 3, rows: bytes(more), encoder: null }), 0); // no room
  assert.ok(draft.length > length && draft.view("cross", "tokens", length + 1).at(0, 0, 1, 0) === 1);
  assert.equal(draft.take({ axes: of(2), from: 1, rows: bytes([1]), encoder: null }), 0); // another, shorter hypothesis
});
