// Axes of tokens: which word each belongs to, and <s> or </s> around them, as transformer_core/text/tokenizer.py has it.

import { BOUNDARY } from "../../common/text/tokens.js";

const PUNCTUATION = /^\p{P}+$/u;
const WORD_INTERNAL = /['\u2019\-\u2010\u2011_&/@#%]/; // punctuation that joins a word: isn't, well-known
const MARK = /^\p{M}/u;
/** Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese. */
const WITHOUT_BLANKS =
  /[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\u{20000}-\u{3ffff}]/u;

/** @param {string} token */
function isPunctuation(token) {
  const text = token.replaceAll(BOUNDARY, "");
  return PUNCTUATION.test(text) && !WORD_INTERNAL.test(text);
}

/**
 * Whether two tokens meet in a script without blanks between words; a vowel sign stays with its letter.
 * @param {string} before
 * @param {string} after
 */
function meetWithoutBlanks(before, after) {
  const last = [...before].at(-1) ?? "";
  const first = [...after][0] ?? "";
  return !MARK.test(after) && (WITHOUT_BLANKS.test(first) || WITHOUT_BLANKS.test(last));
}

/**
 * The word that each token belongs to, from 0: one starts at a boundary mark, and punctuation is a word of its own.
 * @param {string[]} tokens
 */
export function wordNumbers(tokens) {
  let number = -1;
  let previous = "";
  return tokens.map((token) => {
    const starts =
      token.startsWith(BOUNDARY) ||
      isPunctuation(token) ||
      isPunctuation(previous) ||
      meetWithoutBlanks(previous, token);
    if (number < 0 || (starts && previous !== BOUNDARY)) number++; // a mark alone belongs to the token after it
    previous = token;
    return number;
  });
}

/**
 * @param {string[]} tokens
 * @param {{ start?: boolean, end?: boolean }} around `<s>` before (decoder inputs), `</s>` after (source, outputs).
 */
export function axis(tokens, { start = false, end = false }) {
  const words = wordNumbers(tokens);
  const first = start ? 1 : 0;
  const last = words.length ? words[words.length - 1] + 1 : 0;
  return {
    tokens: [...(start ? ["<s>"] : []), ...tokens, ...(end ? ["</s>"] : [])],
    words: [...(start ? [0] : []), ...words.map((word) => word + first), ...(end ? [last + first] : [])],
    special: [...(start ? [true] : []), ...tokens.map(() => false), ...(end ? [true] : [])],
  };
}
