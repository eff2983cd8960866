// Tokens as they are read. SentencePiece writes the space before a word as a character of the token.

export const BOUNDARY = "\u2581";

/**
 * A token without the space before it; a lone space is made visible. The same as `display_label` in Python.
 * @param {string} token
 */
export function tokenText(token) {
  return token.replaceAll(BOUNDARY, "") || (token ? "\u2423" : "");
}

/**
 * Return the text of tokens.
 * @param {string[]} tokens
 */
export function joinTokens(tokens) {
  return tokens.join("").replaceAll(BOUNDARY, " ").trim();
}
