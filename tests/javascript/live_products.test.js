// The kernel against its readable twins, and weights that take the place of the files they are read from.

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeProducts, padded, plainProduct, plainTransposed } from "../../viz_app/components/live/js/linear.js";
import { makeMemory, Parameters } from "../../viz_app/components/live/js/parameters.js";
import { safetensors, tinyModel } from "./tiny_model.js";

const numbers = (count) => Float32Array.from({ length: count }, (_, i) => Math.sin(7 * i + count));

for (const [n, k] of [
  [1, 3],
  [13, 6],
  [8, 32],
  [70, 33],
  [128, 512],
])
  test(`the kernel multiplies ${n} x ${k} as its twins do, also in the last row of the memory`, () => {
    const stride = padded(k, 4);
    const { weights, product, transposed } = makeProducts(stride * padded(n, 8), Math.max(n, k), false);
    assert.notEqual(product, plainProduct);
    const data = weights.subarray(0, n * stride);
    numbers(n * k).forEach((value, i) => {
      data[Math.floor(i / k) * stride + (i % k)] = value;
    });
    const matrix = { n, k, stride, at: 0, data };
    for (const rows of [1, 3, 4, 6])
      for (const [fast, plain, width] of [
        [product, plainProduct, k],
        [transposed, plainTransposed, n],
      ]) {
        const x = numbers(rows * width);
        const wanted = plain(x, rows, matrix);
        const found = fast(x, rows, matrix);
        assert.equal(found.length, wanted.length);
        assert.ok(found.every((value, i) => Math.abs(value - wanted[i]) < 1e-4));
      }
  });

test("weights are the same where they take the place of their files, in whatever order these have them", () => {
  const { live, files } = tinyModel();
  const { weights: shapes } = live;
  const whole = files["model.safetensors"];
  const half = (names) => {
    let at = 0;
    const header = Object.fromEntries(
      names.map((name) => {
        const length = 2 * shapes[name].reduce((one, other) => one * other);
        at += length;
        return [name, { dtype: "F16", shape: shapes[name], data_offsets: [at - length, at] }];
      }),
    );
    const bits = Uint16Array.from({ length: at / 2 }, (_, i) => 0x2c00 + ((i * 37) % 2000));
    return safetensors(header, new Uint8Array(bits.buffer));
  };
  const names = Object.keys(shapes);
  const [some, others] = [names.slice(0, 5).reverse(), names.slice(5)];
  for (const parts of [[whole], [half(names)], [half(names.toReversed())], [half(others), half(some)]]) {
    const tail = new Uint8Array(301).fill(255); // a tokenizer
    const size = [...parts, tail].reduce((sum, { length }) => sum + length, 0);
    for (const plain of [false, true]) {
      const memory = makeMemory(shapes, size, plain);
      let at = 0;
      const inPlace = [...parts, tail].map((part) => {
        memory.files.set(part, at);
        at += part.length;
        return memory.files.subarray(at - part.length, at);
      });
      assert.equal(at, memory.files.length);
      const found = new Parameters(inPlace.slice(0, -1), shapes, plain, memory);
      const wanted = new Parameters(parts, shapes, plain);
      for (const name of names) {
        const [{ data: one, k, stride }, { data: other }] = [found.matrix(name), wanted.matrix(name)];
        assert.ok(
          one.every((value, i) => value === (i % stride < k ? other[i] : 0)),
          name,
        );
      }
      assert.deepEqual(inPlace.at(-1), tail);
    }
  }
});
