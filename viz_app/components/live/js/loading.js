// The files of a model, from an address or from the page's own text, with progress; never more bytes than announced.

/**
 * Where a file is: its bytes, an address, or base 64, perhaps of gzip.
 * @typedef {Uint8Array | { url: string } | { base64: string, gzip?: boolean }} FileSource
 */

const SLICE = 2 ** 20; // characters of base 64 that are decoded at a time, a multiple of 4

/**
 * Reads a file.
 * @param {FileSource} source
 * @param {number} size Its bytes. Another length is an error, found before more memory is taken.
 * @param {(bytes: number) => void} report Called with the bytes of each part.
 * @returns {Promise<Uint8Array>}
 */
export async function readFile(source, size, report) {
  const bytes = new Uint8Array(size);
  let at = 0;
  const reader = (await openFile(source)).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (part.value.length > size - at) {
      reader.cancel().catch(() => {});
      throw new Error(`a file of the model has more than its ${size} bytes`);
    }
    bytes.set(part.value, at);
    at += part.value.length;
    report(part.value.length);
  }
  if (at < size) throw new Error(`a file of the model has ${at} of its ${size} bytes`);
  return bytes;
}

/**
 * @param {FileSource} source
 * @returns {Promise<ReadableStream<Uint8Array<ArrayBuffer>>>}
 */
async function openFile(source) {
  if ("url" in source) {
    const response = await fetch(source.url);
    if (!response.ok || !response.body) throw new Error(`a file of the model cannot be loaded: ${response.status}`);
    return response.body;
  }
  if (!("base64" in source)) return new Blob([new Uint8Array(source)]).stream();
  const { base64, gzip } = source;
  const slices = Array.from({ length: Math.ceil(base64.length / SLICE) }, (_, index) =>
    Uint8Array.from(atob(base64.slice(index * SLICE, (index + 1) * SLICE)), (letter) => letter.charCodeAt(0)),
  );
  const stream = new Blob(slices).stream();
  return gzip ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
}
