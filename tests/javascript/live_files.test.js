// Files of a model that are damaged or lie: a clear error, and no more memory than the file itself has.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readFiles } from "../../viz_app/components/live/js/loading.js";
import { Parameters } from "../../viz_app/components/live/js/parameters.js";
import { readTensors } from "../../viz_app/components/live/js/safetensors.js";
import { Tokenizer } from "../../viz_app/components/live/js/tokenizer.js";
import { Translator } from "../../viz_app/components/live/js/translator.js";
import { field, safetensors, sentencePiece, tinyModel } from "./tiny_model.js";

const tensor = (changes) =>
  safetensors({ w: { dtype: "F16", shape: [2, 2], data_offsets: [0, 8], ...changes } }, new Uint8Array(8));

test("a tensor of float16 is read as it is", () => {
  const { bytes, shape } = readTensors(tensor({})).get("w");
  assert.deepEqual([bytes.length, shape], [8, [2, 2]]);
});

for (const [what, file, message] of [
  ["an empty file", new Uint8Array(), /truncated/],
  ["a header longer than the file", safetensors({}).subarray(0, 9), /truncated/],
  ["a header of 2^63 bytes", new Uint8Array([0, 0, 0, 0, 0, 0, 0, 128, 123]), /truncated/],
  ["a header that is no JSON", safetensors("{"), /JSON|Expected/],
  ["data beyond the end", tensor({ data_offsets: [0, 1e9] }), /bytes/],
  ["data from behind their end", tensor({ data_offsets: [8, 0] }), /bytes/],
  ["a shape larger than its data", tensor({ shape: [1e6, 1e6] }), /takes 2000000000000 bytes/],
  ["a shape of negative numbers", tensor({ shape: [-2, -2] }), /damaged header/],
  ["a shape of fractions", tensor({ shape: [0.5, 8] }), /damaged header/],
  ["a shape that is a text", tensor({ shape: "22" }), /damaged header/],
  ["one offset", tensor({ data_offsets: [0] }), /bytes/],
  ["another type", tensor({ dtype: "I64" }), /must be F16 or F32/],
  ["no description", safetensors({ w: null }), /must be F16 or F32/],
])
  test(`safetensors with ${what} are refused`, () => assert.throws(() => readTensors(file), message));

test("weights that lack one, have another shape, or are not finite are refused", () => {
  const { live, files } = tinyModel();
  const file = files["model.safetensors"];
  assert.throws(() => new Parameters([], live.weights), /the weights lack embedding.weight/);
  assert.throws(
    () => new Parameters([file], { ...live.weights, "embedding.weight": [7, 6] }),
    /embedding.weight has shape 13 x 6, the model needs 7 x 6/,
  );
  const damaged = file.slice();
  damaged.set([0, 0, 128, 127], damaged.length - 4); // infinity
  assert.throws(() => new Parameters([damaged], live.weights), /not a finite number/);
  assert.throws(() => new Translator(live, [file], sentencePiece([["<unk>", 2]])), /the tokenizer has 1 tokens/);
});

const MODEL = sentencePiece([
  ["<unk>", 2],
  ["a", 1],
]);
const TABLE = [4, 0, 0, 0, 0, 0, 0, 0, ...Array(1001).fill(97), 0];
for (const [what, model, message] of [
  ["nothing in it", new Uint8Array(), /not a SentencePiece model/],
  ["a length beyond its end", new Uint8Array([10, 255, 255, 255, 255, 15]), /damaged/],
  ["a number without an end", new Uint8Array(Array(40).fill(255)), /damaged/],
  ["a group", new Uint8Array([11]), /damaged/],
  ["its end cut off", MODEL.subarray(0, -3), /damaged/],
  ["a token without text", new Uint8Array(field(1, field(3, 1))), /damaged token/],
  ["no <unk>", sentencePiece([["a", 1]]), /<unk>/],
  ["no table of characters", sentencePiece([["<unk>", 2]], []), /damaged table/],
  ["a trie longer than its table", sentencePiece([["<unk>", 2]], [255, 255, 255, 127, 0]), /damaged table/],
  ["texts without an end", sentencePiece([["<unk>", 2]], [4, 0, 0, 0, 0, 0, 0, 0, 97]), /damaged table/],
  ["a long text for a character", sentencePiece([["<unk>", 2]], TABLE), /1001 bytes for one character/],
])
  test(`a tokenizer with ${what} is refused`, () => assert.throws(() => new Tokenizer(model), message));

const gzip = async (bytes) => {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return { base64: Buffer.from(await new Response(packed).arrayBuffer()).toString("base64") };
};

test("the files have the announced bytes, wherever they come from", async () => {
  const bytes = Uint8Array.from({ length: 3000 }, (_, index) => index);
  const url = `data:application/octet-stream;base64,${Buffer.from(bytes).toString("base64")}`;
  for (const source of [bytes, await gzip(bytes), { url }]) {
    let reported = 0;
    const read = new Uint8Array(3000);
    await readFiles(source, read, (loaded) => {
      reported = loaded;
    });
    assert.deepEqual([read, reported], [bytes, 3000]);
    const refused = (size, message) =>
      assert.rejects(
        readFiles(source, new Uint8Array(size), () => {}),
        message,
      );
    await refused(2999, /more than its 2999 bytes/);
    await refused(3001, /3000 of its 3001 bytes/);
  }
  const bomb = await gzip(new Uint8Array(50_000_000));
  await assert.rejects(
    readFiles(bomb, new Uint8Array(100), () => {}),
    /more than its 100 bytes/,
  );
});
