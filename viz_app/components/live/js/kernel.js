// The matrix product as a WebAssembly module, assembled here: float32, four lanes at a time.
//
// out = x W^T for four rows of x with two rows of W at a time (`four`), or for one with eight (`one`): their sums stay in
// registers, and each number that is loaded serves several products. `fourTransposed` and `oneTransposed` are out = x W, for
// as many lanes of its rows. `plainProduct` and `plainTransposed` of linear.js are the readable twins.

/** @typedef {(number | Code)[]} Code Bytes, nested as they were put together. */

const [I32, V128] = [0x7f, 0x7b]; // types
const [END, ADD, MULTIPLY, LESS, FLOAT_ADD] = [0x0b, 0x6a, 0x6c, 0x49, 0x92]; // instructions
const LOOP = [0x03, 0x40];
const AGAIN = [0x0d, 0, END]; // if the number on the stack is not 0
const [ZEROS, LANES_ADD, LANES_MULTIPLY] = [
  [0xfd, 0x0c, Array(16).fill(0)],
  [0xfd, 0xe4, 1],
  [0xfd, 0xe6, 1],
];

// Parameters by their numbers, all in bytes: x, W, a row of x, out, the end of its first row, a row of it, and one of W.
const [X, W, WIDTH, OUT, OUT_END, OUT_WIDTH, W_WIDTH] = [0, 1, 2, 3, 4, 5, 6];
const [STOP, XS, WS] = [7, 8, 12]; // the end of a row; places in up to four rows of x, and in eight of W
const [NUMBER, WEIGHTS, SUMS] = [20, 21, 29]; // of four lanes: one of x, eight of W, eight sums

const get = (/** @type {number} */ local) => [0x20, local];
const set = (/** @type {number} */ local) => [0x21, local];
const constant = (/** @type {number} */ value) => [0x41, value < 64 ? value : [(value & 127) | 128, value >> 7]]; // below 2^13
const load = (/** @type {number} */ place) => [get(place), 0xfd, 0, 4, 0];
const range = (/** @type {number} */ count) => Array.from({ length: count }, (_, index) => index);
/** @param {number} place @param {number} count @param {number} size */
const behind = (place, count, size) => [get(place), constant(count), get(size), MULTIPLY, ADD];
/** @param {number} local @param {number} bytes */
const advance = (local, bytes) => [get(local), constant(bytes), ADD, set(local)];

/**
 * The code of a function for so many rows of x and of W at a time.
 * @param {number} rows
 * @param {number} outs
 * @returns {Code}
 */
function product(rows, outs) {
  const pairs = range(rows * outs).map((pair) => ({
    row: Math.floor(pair / outs),
    out: pair % outs,
    sum: SUMS + pair,
  }));
  const lane = (/** @type {number} */ sum) => (/** @type {number} */ index) => [get(sum), 0xfd, 0x1f, index];
  const total = (/** @type {number} */ sum) => [range(4).map(lane(sum)), Array(3).fill(FLOAT_ADD)];
  const columns = [
    range(outs).map((out) => [load(WS + out), set(WEIGHTS + out), advance(WS + out, 16)]),
    range(rows).map((row) => [
      [load(XS + row), set(NUMBER), advance(XS + row, 16)],
      pairs
        .filter((pair) => pair.row === row)
        .map(({ out, sum }) => [get(NUMBER), get(WEIGHTS + out), LANES_MULTIPLY, get(sum), LANES_ADD, set(sum)]),
    ]),
  ];
  const weights = [
    pairs.map(({ sum }) => [ZEROS, set(sum)]),
    range(rows).map((row) => [behind(X, row, WIDTH), set(XS + row)]),
    range(outs).map((out) => [behind(W, out, WIDTH), set(WS + out)]),
    [behind(W, 1, WIDTH), set(STOP)],
    [LOOP, columns, get(WS), get(STOP), LESS, AGAIN],
    pairs.map(({ row, out, sum }) => [behind(OUT, row, OUT_WIDTH), total(sum), 0x38, 2, 4 * out]), // f32.store
    [behind(W, outs, WIDTH), set(W), advance(OUT, 4 * outs)],
  ];
  return untilEnd(weights);
}

/**
 * The code of a function for so many rows of x, and four times so many columns of W, at a time.
 * @param {number} rows
 * @param {number} outs
 * @returns {Code}
 */
function transposed(rows, outs) {
  const pairs = range(rows).flatMap((row) => range(outs).map((out) => ({ row, out, sum: SUMS + row * outs + out })));
  const weights = [
    range(outs).map((out) => [get(WS), 0xfd, 0, 4, 16 * out, set(WEIGHTS + out)]),
    range(rows).map((row) => [
      get(XS + row),
      0xfd,
      9,
      2,
      0,
      set(NUMBER),
      advance(XS + row, 4), // v128.load32_splat
      pairs
        .filter((pair) => pair.row === row)
        .map(({ out, sum }) => [get(NUMBER), get(WEIGHTS + out), LANES_MULTIPLY, get(sum), LANES_ADD, set(sum)]),
    ]),
    behind(WS, 1, W_WIDTH),
    set(WS),
  ];
  const columns = [
    pairs.map(({ sum }) => [ZEROS, set(sum)]),
    range(rows).map((row) => [behind(X, row, WIDTH), set(XS + row)]),
    [behind(X, 1, WIDTH), set(STOP), get(W), set(WS)],
    [LOOP, weights, get(XS), get(STOP), LESS, AGAIN],
    pairs.map(({ row, out, sum }) => [behind(OUT, row, OUT_WIDTH), get(sum), 0xfd, 11, 4, 16 * out]), // v128.store
    [advance(W, 16 * outs), advance(OUT, 16 * outs)],
  ];
  return untilEnd(columns);
}

/** @param {Code} code Repeated until the first row of out is full. */
function untilEnd(code) {
  const locals = [2, NUMBER - STOP, I32, 17, V128];
  return sized([locals, LOOP, code, get(OUT), get(OUT_END), LESS, AGAIN, END]);
}

/** @param {any} code @returns {number[]} */
const flatten = (code) => code.flat(Number.POSITIVE_INFINITY);

/**
 * Code after its length, which is below 2^14.
 * @param {Code} code
 * @returns {Code}
 */
function sized(code) {
  const bytes = flatten(code);
  return [(bytes.length & 127) | 128, bytes.length >> 7, bytes];
}

/** The bytes of the module; it takes its memory from `e.m`. */
export function kernelBytes() {
  const name = (/** @type {string} */ text) => sized([...new TextEncoder().encode(text)]);
  const names = ["four", "one", "fourTransposed", "oneTransposed"];
  const sections = [
    [1, sized([1, 0x60, 7, Array(7).fill(I32), 0])], // one type: seven numbers, no result
    [2, sized([1, name("e"), name("m"), 2, 0, 1])], // a memory of a page at least
    [3, sized([names.length, names.map(() => 0)])], // functions of that type
    [7, sized([names.length, names.map((each, index) => [name(each), 0, index])])],
    [10, sized([names.length, product(4, 2), product(1, 8), transposed(4, 2), transposed(1, 8)])],
  ];
  return Uint8Array.from(flatten([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, sections]));
}
