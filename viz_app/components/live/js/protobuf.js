// The fields of a Protocol Buffers message, each length checked before it is used.

/**
 * Reads a message: the number of each field with its value, a number or bytes that share the message's memory.
 * @param {Uint8Array} bytes
 * @returns {[number, number | Uint8Array][]}
 */
export function readFields(bytes) {
  /** @type {[number, number | Uint8Array][]} */
  const fields = [];
  let at = 0;
  const damaged = () => new Error("the SentencePiece model is damaged");
  const varint = () => {
    let value = 0;
    for (let factor = 1; factor < 2 ** 70; factor *= 128) {
      if (at >= bytes.length) throw damaged();
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw damaged();
  };
  while (at < bytes.length) {
    const key = varint();
    const wire = key % 8;
    if (wire !== 0 && wire !== 1 && wire !== 2 && wire !== 5) throw damaged();
    const number = Math.floor(key / 8);
    if (wire === 0) {
      fields.push([number, varint()]);
      continue;
    }
    const length = wire === 2 ? varint() : wire === 1 ? 8 : 4;
    if (length > bytes.length - at) throw damaged();
    fields.push([number, bytes.subarray(at, at + length)]);
    at += length;
  }
  return fields;
}
