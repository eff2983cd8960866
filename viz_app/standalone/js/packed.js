// Data blocks of a page without Python, as html_document.py writes them.

import { fromBase64 } from "../../components/common/base64.js";

/** @type {Map<string, Promise<Uint8Array>>} */
const unpacked = new Map();

/**
 * The bytes of a block; they are unpacked once.
 * @param {string} name
 */
export function readBytes(name) {
  const unpacking = unpacked.get(name) ?? unpack(name);
  unpacked.set(name, unpacking);
  unpacking.catch(() => unpacked.delete(name)); // the next try may find the network again
  return unpacking;
}

/**
 * The values of a block of JSON.
 * @param {string} name
 */
export function readJson(name) {
  return JSON.parse(textOf(name));
}

/**
 * The values of a packed block of JSON.
 * @param {string} name
 */
export async function readPacked(name) {
  return JSON.parse(new TextDecoder().decode(await readBytes(name)));
}

/**
 * The text of a block, which is then no longer on the page.
 * @param {string} name
 */
export function takeText(name) {
  const text = textOf(name);
  document.getElementById(name)?.remove();
  return text;
}

/** @param {string} name */
function textOf(name) {
  return document.getElementById(name)?.textContent ?? "";
}

/** A file of a site that could not be fetched; its message is for the reader. */
export class Missing extends Error {}

/** @param {string} address */
async function load(address) {
  const unpacking = await fetch(address)
    .then((answer) => (answer.ok ? answer.blob() : null))
    .catch(() => null);
  if (!unpacking) throw new Missing(readJson("page").missing);
  return unpacking;
}

/** @param {string} name Of a block with gzip in base 64; in a site, with the address of a file. */
async function unpack(name) {
  const address = document.getElementById(name)?.getAttribute("data-src");
  const packed = address ? await load(address) : new Blob([fromBase64(textOf(name))]);
  const bytes = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(bytes).arrayBuffer());
}
