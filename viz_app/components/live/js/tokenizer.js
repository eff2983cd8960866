// SentencePiece BPE (Section 5.1), as transformer_core/text/tokenizer.py runs it: text -> ids and tokens, and back.

import { BOUNDARY } from "../../common/text/tokens.js";
import { Normalizer, UTF8 } from "./normalizer.js";
import { readFields } from "./protobuf.js";

const SEPARATORS = [28, 29, 30, 31].map((code) => String.fromCharCode(code)).join("");
/** White space as Python has it: that of Unicode, and four separators of ASCII. */
export const SPACES = new RegExp(`[\\p{White_Space}${SEPARATORS}]+`, "u");

const NORMAL = 1; // kinds of tokens
const UNKNOWN = 2;
const CONTROL = 3;

/**
 * One text in tokens; an unknown token shows its characters.
 * @typedef {{ ids: number[], tokens: string[], unknown: string[] }} Encoding `unknown`: the characters of the text that the
 *   vocabulary lacks, each once.
 */

export class Tokenizer {
  /** @param {Uint8Array} model Bytes of tokenizer.model. Throws an Error if they are none. */
  constructor(model) {
    /** @type {string[]} */
    this.tokens = [];
    /** @type {number[]} */
    this.scores = [];
    /** @type {number[]} */
    this.kinds = [];
    /** @type {Map<string, number>} */
    this.ids = new Map();
    /** @type {number | Uint8Array | undefined} */
    let table;
    for (const [number, value] of readFields(model)) {
      if (typeof value === "number") continue;
      if (number === 1) this.addToken(Object.fromEntries(readFields(value)));
      else if (number === 3) table = Object.fromEntries(readFields(value))[2];
    }
    this.unk = this.kinds.indexOf(UNKNOWN);
    if (this.unk < 0 || !(table instanceof Uint8Array)) throw new Error("not a SentencePiece model with <unk>");
    this.normalizer = new Normalizer(table);
  }

  /** @param {Record<number, number | Uint8Array>} piece Text, score and kind. */
  addToken({ 1: text, 2: score = new Uint8Array(4), 3: kind = NORMAL }) {
    if (!(text instanceof Uint8Array && score instanceof Uint8Array && score.length === 4 && typeof kind === "number"))
      throw new Error("the SentencePiece model has a damaged token");
    const token = UTF8.decode(text);
    if (kind === NORMAL) this.ids.set(token, this.tokens.length);
    this.tokens.push(token);
    this.scores.push(new DataView(score.buffer, score.byteOffset).getFloat32(0, true));
    this.kinds.push(kind);
  }

  /**
   * Text -> tokens.
   * @param {string} text
   * @returns {Encoding}
   */
  encode(text) {
    const { bytes, characters, starts } = this.normalizer.normalize(text);
    /** @type {Encoding} */
    const encoding = { ids: [], tokens: [], unknown: [] };
    const { ids, tokens } = encoding;
    /** @type {[number, number][]} */
    const spans = []; // of unknown tokens, in bytes
    for (let begin = 0; begin < characters.length; ) {
      const next = characters.indexOf(BOUNDARY, begin + 1);
      const end = next < 0 ? characters.length : next;
      for (const symbol of this.merge(characters.slice(begin, end))) {
        const from = starts[begin];
        begin += [...symbol].length;
        const id = this.ids.get(symbol) ?? this.unk;
        if (id === this.unk && ids.at(-1) === this.unk) {
          tokens[tokens.length - 1] += symbol;
          spans[spans.length - 1][1] = starts[begin];
        } else {
          if (id === this.unk) spans.push([from, starts[begin]]);
          ids.push(id);
          tokens.push(symbol);
        }
      }
    }
    const covered = spans.flatMap(([from, to]) => {
      const whole = UTF8.decode(bytes.subarray(from, to)).trim(); // empty for a part of a character
      return [...(whole || [...UTF8.decode(bytes.subarray(to, to + 4))].slice(0, 1))];
    });
    encoding.unknown = [...new Set(covered)].filter((character) => !SPACES.test(character));
    return encoding;
  }

  /**
   * Byte-pair encoding of a word: the pair with the best score is merged, the first of equals, until no pair is a token.
   * @param {string[]} symbols Its characters; changed in place.
   */
  merge(symbols) {
    const pairScore = (/** @type {number} */ left) => {
      const id = this.ids.get(symbols[left] + symbols[left + 1]);
      return id === undefined ? -Infinity : this.scores[id];
    };
    const scores = symbols.slice(1).map((_, left) => pairScore(left));
    for (;;) {
      let best = 0;
      for (let left = 1; left < scores.length; left++) if (scores[left] > scores[best]) best = left;
      if (!(scores[best] > -Infinity)) return symbols;
      symbols.splice(best, 2, symbols[best] + symbols[best + 1]);
      scores.splice(best, 1);
      if (best > 0) scores[best - 1] = pairScore(best - 1);
      if (best < scores.length) scores[best] = pairScore(best);
    }
  }

  /**
   * Ids -> text; special tokens vanish, `<unk>` becomes U+2047.
   * @param {number[]} ids
   */
  decode(ids) {
    const shown = ids.filter((id) => this.kinds[id] !== CONTROL);
    const tokens = shown.map((id) => (id === this.unk ? " \u2047 " : this.tokens[id]));
    return tokens.join("").replaceAll(BOUNDARY, " ").replace(/^ /, "");
  }
}
