// Safetensors files: the header is checked against the file before anything is read of it.

const WIDTHS = new Map([
  ["F16", 2],
  ["F32", 4],
]);

const BLOCK = 2 ** 16; // bytes that are copied at a time

/** @typedef {{ shape: number[], dtype: string, bytes: Uint8Array }} StoredTensor Its bytes share the memory of the file. */

/**
 * Reads the tensors of a file by name. Throws an Error that says what is wrong with it.
 * @param {Uint8Array} file
 * @returns {Map<string, StoredTensor>}
 */
export function readTensors(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const size = file.length < 8 ? Infinity : Number(view.getBigUint64(0, true));
  if (size > file.length - 8) throw new Error("the safetensors file is truncated: its header is longer than the file");
  const data = file.subarray(8 + size);
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + size)));
  /** @type {Map<string, StoredTensor>} */
  const tensors = new Map();
  for (const [name, entry] of Object.entries(header ?? {})) {
    if (name === "__metadata__") continue;
    const { dtype, shape, data_offsets: offsets } = entry ?? {};
    const width = WIDTHS.get(dtype);
    if (!width) throw new Error(`${name} is of type ${dtype}, but must be F16 or F32`);
    if (
      ![shape, offsets].every(
        (list) => Array.isArray(list) && list.every((each) => Number.isSafeInteger(each) && each >= 0),
      )
    )
      throw new Error(`${name} has a damaged header`);
    const [begin, end] = offsets;
    const needed = shape.reduce((/** @type {number} */ product, /** @type {number} */ each) => product * each, width);
    if (!(begin <= end && end <= data.length && end - begin === needed))
      throw new Error(`${name} takes ${needed} bytes, but its data are bytes ${begin} to ${end} of ${data.length}`);
    tensors.set(name, { shape, dtype, bytes: data.subarray(begin, end) });
  }
  return tensors;
}

/**
 * Writes the numbers of a tensor as float32, each row `stride` after the one before. The target may lie on the bytes, from
 * so far before them that it is never ahead of them.
 * @param {StoredTensor} tensor
 * @param {Float32Array} target
 * @param {number} stride
 */
export function widen({ shape, dtype, bytes }, target, stride) {
  const block = new Uint8Array(BLOCK); // aligned
  const numbers = dtype === "F32" ? new Float32Array(block.buffer) : new Uint16Array(block.buffer);
  const columns = shape.at(-1) ?? 1;
  let [at, column, check] = [0, 0, 0];
  for (let from = 0; from < bytes.length; from += BLOCK) {
    const part = bytes.subarray(from, from + BLOCK);
    block.set(part);
    for (let i = 0, end = part.length / numbers.BYTES_PER_ELEMENT; i < end; i++) {
      const value = dtype === "F32" ? numbers[i] : HALF[numbers[i]];
      target[at++] = value;
      check += value * 0;
      if (++column < columns) continue;
      for (; column < stride; column++) target[at++] = 0;
      column = 0;
    }
  }
  if (check !== 0) throw new Error("a weight is not a finite number");
}

/** The number of each float16. */
const HALF = Float32Array.from({ length: 65536 }, (_, bits) => {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const sign = bits >> 15 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
});
