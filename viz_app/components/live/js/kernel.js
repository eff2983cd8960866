// The matrix product as a WebAssembly module, assembled here: float32, four lanes at a time.
//
// linear(x, rows, w, n, k, out) computes out = x W^T; `plainProduct` of linear.js is its readable twin. x, w and out are
// places in the memory; n is a multiple of 8 and k of 4. It keeps the sums of four rows of x with two of W in registers,
// or of one with eight, so that each number that is loaded serves several products.

const I32 = 0x7f; // types
const V128 = 0x7b;
const END = 0x0b;
const LANES = 4;

/** @param {number} value A whole number from 0 on, as LEB128 writes it. */
const unsigned = (value) => {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return [...bytes, value];
};
/** @param {number} value Below 64, as a signed LEB128. */
const constant = (value) => [0x41, value];
/** @param {number} local */
const get = (local) => [0x20, ...unsigned(local)];
/** @param {number} local */
const set = (local) => [0x21, ...unsigned(local)];
/** @param {number[]} value @param {number[]} other */
const add = (value, other) => [...value, ...other, 0x6a];
/** @param {number[]} value @param {number[]} other */
const times = (value, other) => [...value, ...other, 0x6c];
/** @param {number} local @param {number[]} amount */
const advance = (local, amount) => [...add(get(local), amount), ...set(local)];
/** @param {number[]} place */
const load = (place) => [...place, 0xfd, 0x00, 4, 0];
/** @param {number} operation */
const simd = (operation) => [0xfd, ...unsigned(operation)];
const ADD = simd(0xe4);
const MULTIPLY = simd(0xe6);
/** @param {number} count */
const range = (count) => Array.from({ length: count }, (_, index) => index);

// Parameters and locals by their numbers.
const [X, ROWS, W, N, K, OUT, WIDTH, ROW, WEIGHTS, TO, COLUMN, END_OF_ROW] = range(12);
const [XS, WS] = [12, 16]; // pointers into four rows of x, and into eight of W
const NUMBERS = 24; // the first v128: one of x, eight of W, then the sums
const SUMS = NUMBERS + 9;

/** @param {number} rows @param {number} outs The sums of so many rows of x with so many of W, which are stored. */
function block(rows, outs) {
  const sums = range(rows * outs).map((index) => SUMS + index);
  const lane = (/** @type {number} */ sum, /** @type {number} */ each) => [...get(sum), ...simd(0x1f), each];
  const total = (/** @type {number} */ sum) => [
    ...range(LANES).flatMap((each) => lane(sum, each)),
    ...range(LANES - 1).flatMap(() => [0x92]),
  ];
  return [
    ...sums.flatMap((sum) => [...simd(0x0c), ...Array(16).fill(0), ...set(sum)]),
    ...range(rows).flatMap((row) => [...add(get(X), times(get(WIDTH), constant(row))), ...set(XS + row)]),
    ...range(outs).flatMap((out) => [...add(get(WEIGHTS), times(get(WIDTH), constant(out))), ...set(WS + out)]),
    ...[...add(get(WS), get(WIDTH)), ...set(END_OF_ROW)],
    ...[0x03, 0x40], // loop over the columns
    ...range(outs).flatMap((out) => [
      ...load(get(WS + out)),
      ...set(NUMBERS + 1 + out),
      ...advance(WS + out, constant(16)),
    ]),
    ...range(rows).flatMap((row) => [
      ...[...load(get(XS + row)), ...set(NUMBERS), ...advance(XS + row, constant(16))],
      ...range(outs).flatMap((out) => {
        const sum = sums[row * outs + out];
        return [...get(sum), ...get(NUMBERS), ...get(NUMBERS + 1 + out), ...MULTIPLY, ...ADD, ...set(sum)];
      }),
    ]),
    ...[...get(WS), ...get(END_OF_ROW), 0x49, 0x0d, 0, END], // again while WS < END_OF_ROW
    ...range(rows).flatMap((row) =>
      range(outs).flatMap((out) => {
        const place = add(get(TO), times(times(get(N), constant(4)), constant(row)));
        return [...place, ...total(sums[row * outs + out]), 0x38, 2, 4 * out];
      }),
    ),
  ];
}

/** @param {number} rows @param {number} outs `rows` rows of x after the other, while so many are left. */
const pass = (rows, outs) => [
  ...[0x02, 0x40, 0x03, 0x40], // block, loop over the rows
  ...[...add(get(ROW), constant(rows)), ...get(ROWS), 0x4b, 0x0d, 1], // out when ROW + rows > ROWS
  ...[...get(W), ...set(WEIGHTS), ...get(OUT), ...set(TO), ...constant(0), ...set(COLUMN)],
  ...[0x03, 0x40], // loop over the rows of W
  ...block(rows, outs),
  ...advance(WEIGHTS, times(get(WIDTH), constant(outs))),
  ...advance(TO, constant(4 * outs)),
  ...advance(COLUMN, constant(outs)),
  ...[...get(COLUMN), ...get(N), 0x49, 0x0d, 0, END],
  ...advance(X, times(get(WIDTH), constant(rows))),
  ...advance(OUT, times(times(get(N), constant(4)), constant(rows))),
  ...advance(ROW, constant(rows)),
  ...[0x0c, 0, END, END], // again
];

/** The bytes of the module; it takes its memory from `e.m`. */
export function kernelBytes() {
  const body = [
    ...[2, NUMBERS - WIDTH, I32, 17, V128],
    ...[...times(get(K), constant(4)), ...set(WIDTH)],
    ...[...pass(4, 2), ...pass(1, 8), END],
  ];
  const sections = [
    [1, [1, 0x60, 6, ...Array(6).fill(I32), 0]], // one type: six numbers, no result
    [2, [1, 1, 0x65, 1, 0x6d, 2, 0, 1]], // the memory e.m, at least a page
    [3, [1, 0]], // one function of that type
    [7, [1, 6, ...new TextEncoder().encode("linear"), 0, 0]],
    [10, [1, ...unsigned(body.length), ...body]],
  ];
  const bytes = sections.flatMap(([id, contents]) => {
    const all = /** @type {number[]} */ (contents);
    return [/** @type {number} */ (id), ...unsigned(all.length), ...all];
  });
  return new Uint8Array([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...bytes]);
}
