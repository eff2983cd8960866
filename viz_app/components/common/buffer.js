// A buffer as Python joins it (components/buffer.py): a header of plain values, and data after it.

/**
 * Bytes -> their header, and the data after it, which shares their memory.
 * @param {Uint8Array} bytes
 * @returns {{ header: any, data: Uint8Array }}
 */
export function readBuffer(bytes) {
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
  return { header: JSON.parse(new TextDecoder().decode(bytes.subarray(4, end))), data: bytes.subarray(end) };
}
