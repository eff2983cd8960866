// The files of a model, from an address or from the page's own text, with progress; never more bytes than announced.

import { fromBase64 } from "../../common/base64.js";

/**
 * Where the files are, one behind the other: bytes, an address, or gzip in base 64.
 * @typedef {Uint8Array | { url: string } | { base64: string }} FileSource
 */

const SLICE = 2 ** 20; // characters of base 64 that are decoded at a time, a multiple of 4

/**
 * Reads the files.
 * @param {FileSource} source
 * @param {Uint8Array} bytes Filled. Another length is an error, found before more memory is taken.
 * @param {(loaded: number) => void} report Called with the bytes read so far.
 */
export async function readFiles(source, bytes, report) {
  const size = bytes.length;
  let at = 0;
  const reader = (await openStream(source)).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (part.value.length > size - at) {
      reader.cancel().catch(() => {});
      throw new Error(`the model has more than its ${size} bytes`);
    }
    bytes.set(part.value, at);
    at += part.value.length;
    report(at);
  }
  if (at < size) throw new Error(`the model has ${at} of its ${size} bytes`);
}

/**
 * @param {FileSource} source
 * @returns {Promise<ReadableStream<Uint8Array<ArrayBuffer>>>}
 */
async function openStream(source) {
  if ("url" in source) {
    const response = await fetch(source.url);
    if (!response.ok || !response.body) throw new Error(`${source.url}: ${response.status}`);
    return response.body;
  }
  if (!("base64" in source)) return new Blob([new Uint8Array(source)]).stream();
  const { base64 } = source;
  let at = 0;
  /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */
  const slices = new ReadableStream({
    pull(controller) {
      if (at >= base64.length) return controller.close();
      controller.enqueue(fromBase64(base64.slice(at, at + SLICE)));
      at += SLICE;
    },
  });
  return slices.pipeThrough(new DecompressionStream("gzip"));
}
