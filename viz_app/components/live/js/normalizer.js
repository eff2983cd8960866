// SentencePiece's normaliser (nmt_nfkc): the tokenizer's own table of what characters become, as a double-array trie.

import { BOUNDARY } from "../../common/text/tokens.js";

/** Bytes for one character; NFKC has 33 at most. The same as in transformer_core/text/length_limits.py. */
export const MAX_EXPANSION = 1000;

export const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

export class Normalizer {
  /** @param {Uint8Array} table The bytes of a trie after their number, then all texts, each with a null. */
  constructor(table) {
    const view = new DataView(table.buffer, table.byteOffset, table.byteLength);
    const size = table.length < 4 ? 0 : view.getUint32(0, true);
    if (size % 4 || size < 4 || size > table.length - 4 || table[table.length - 1] !== 0)
      throw new Error("the SentencePiece model has a damaged table of characters");
    this.trie = Uint32Array.from({ length: size / 4 }, (_, index) => view.getUint32(4 + 4 * index, true));
    this.texts = table.subarray(4 + size);
    for (let from = 0, end = 0; from < this.texts.length; from = end + 1) {
      end = this.texts.indexOf(0, from);
      if (end - from > MAX_EXPANSION)
        throw new Error(
          `the SentencePiece model writes ${end - from} bytes for one character, but at most ${MAX_EXPANSION} are allowed`,
        );
    }
  }

  /**
   * Text -> its bytes, and its characters after normalisation with the byte at which what they came from begins. A word
   * begins with the boundary mark, and no other white space is left; `starts` has one entry more, the end of the last.
   * @param {string} text
   */
  normalize(text) {
    const bytes = new TextEncoder().encode(text); // half of a surrogate pair becomes U+FFFD
    const characters = [BOUNDARY];
    const starts = [0];
    let afterSpace = true;
    for (let at = 0; at < bytes.length; ) {
      const [length, became] = this.longestPrefix(bytes, at);
      for (const character of UTF8.decode(became)) {
        const space = character === " ";
        if (!(space && afterSpace)) {
          characters.push(space ? BOUNDARY : character);
          starts.push(at);
        }
        afterSpace = space;
      }
      at += length;
    }
    starts.push(bytes.length);
    while (characters.at(-1) === BOUNDARY) {
      characters.pop();
      starts.pop();
    }
    return { bytes, characters, starts };
  }

  /**
   * What the longest known prefix becomes: its length, and the bytes in its place. An unknown character stays.
   * @param {Uint8Array} bytes
   * @param {number} at
   * @returns {[number, Uint8Array]}
   */
  longestPrefix(bytes, at) {
    const { trie, texts } = this;
    let length = 0;
    let value = -1;
    let node = childrenOf(trie[0]);
    for (let i = at; i < bytes.length; i++) {
      node ^= bytes[i];
      const unit = trie[node];
      if ((unit & 0x800000ff) !== bytes[i]) break;
      node ^= childrenOf(unit);
      if (unit & 256) {
        length = i + 1 - at;
        value = trie[node] & 0x7fffffff;
      }
    }
    if (value >= 0) return [length, texts.subarray(value, texts.indexOf(0, value))];
    const lead = bytes[at];
    length = lead < 128 ? 1 : lead < 224 ? 2 : lead < 240 ? 3 : 4;
    return [length, bytes.subarray(at, at + length)];
  }
}

/** @param {number} unit Of the trie. */
const childrenOf = (unit) => (unit >>> 10) << ((unit & 512) >>> 6);
