// Validation of a sentence before the model reads it, as viz_app/serving/input_validation.py does it.

import { fillText, formatCount } from "../../common/text/format.js";
import { SPACES } from "./tokenizer.js";

/** @typedef {import("./tokenizer.js").Tokenizer} Tokenizer */
/** @typedef {import("./tokenizer.js").Encoding} Encoding */
/**
 * @typedef {object} Limits
 * @property {number} characters
 * @property {number} tokens
 */
/**
 * A sentence without outer and repeated white space, and whether the model can translate it.
 * @typedef {object} Sentence
 * @property {string} text
 * @property {"good" | "empty" | "korean" | "long" | "refused"} status "refused": more characters than any text may have.
 * @property {number} tokens How many it has; of a text that is refused, its characters.
 * @property {number} limit How many are allowed.
 * @property {string[]} unknown Characters that the vocabulary lacks, each once.
 * @property {Encoding} [encoding] Of a good one.
 */

/** Jamo, syllables and compatibility forms: the output of a Korean keyboard. */
const HANGUL = /[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]/;

/**
 * @param {string} typed
 * @param {Tokenizer} tokenizer
 * @param {Limits} limits
 * @param {string} reads BCP 47 code of the source language; if empty, the vocabulary decides.
 * @returns {Sentence}
 */
export function validateSentence(typed, tokenizer, limits, reads) {
  const refusal = (/** @type {Sentence["status"]} */ status, text = "", tokens = 0, limit = limits.tokens) =>
    /** @type {Sentence} */ ({ text, status, tokens, limit, unknown: [] });
  if (typed.length > limits.characters) {
    const characters = [...typed].length;
    if (characters > limits.characters) return refusal("refused", "", characters, limits.characters);
  }
  const text = typed.split(SPACES).filter(Boolean).join(" ");
  if (!text) return refusal("empty");
  const mostly = 2 * (text.split(HANGUL).length - 1) > [...text.replaceAll(" ", "")].length;
  const korean = mostly && reads.split("-")[0].toLowerCase() !== "ko";
  if (korean && reads) return refusal("korean", text);
  const encoding = tokenizer.encode(text);
  const tokens = encoding.ids.length;
  if (!tokens) return refusal("empty", text);
  if (tokens > limits.tokens) return refusal("long", text, tokens);
  const { unknown } = encoding;
  if (korean && unknown.some((character) => HANGUL.test(character))) return refusal("korean", text);
  return { text, status: "good", tokens, limit: limits.tokens, unknown, encoding };
}

/**
 * Why a sentence is not translated, in the words of the app.
 * @param {Sentence} sentence
 * @param {Record<string, string>} words By its status.
 */
export function refusalText({ status, tokens, limit }, words) {
  const characters = { characters: formatCount(tokens), limit: formatCount(limit) };
  return fillText(words[status], status === "refused" ? characters : { tokens, limit, over: tokens - limit });
}
