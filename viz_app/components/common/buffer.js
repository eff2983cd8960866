// A buffer as Python joins it (components/buffer.py): a header of plain values, and data after it.

export const ALIGNMENT = 8;

/**
 * Header and data -> bytes, as `join_buffer` of buffer.py.
 * @param {object} header
 * @param {Uint8Array} data
 */
export function joinBuffer(header, data) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((4 + text.length) / ALIGNMENT) * ALIGNMENT;
  const bytes = new Uint8Array(start + data.length).fill(32, 0, start);
  new DataView(bytes.buffer).setUint32(0, start - 4, true);
  bytes.set(text, 4);
  bytes.set(data, start);
  return bytes;
}

/**
 * Bytes -> their header, and the data after it, which shares their memory.
 * @param {Uint8Array} bytes
 * @returns {{ header: any, data: Uint8Array }}
 */
export function readBuffer(bytes) {
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
  return { header: JSON.parse(new TextDecoder().decode(bytes.subarray(4, end))), data: bytes.subarray(end) };
}
