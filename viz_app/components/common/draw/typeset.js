// Symbols of the paper in labels and sentences: d_k is written with a real subscript, as the equations have it.

const SYMBOL = /(?<![A-Za-z0-9])d_(model|ff|k|v)(?![A-Za-z0-9_])/;

/**
 * "\u00f7 \u221ad_k" -> ["\u00f7 \u221ad", "k", ""]: text and subscripts in turn.
 * @param {string} text
 */
export function typesetParts(text) {
  const parts = text.split(new RegExp(SYMBOL, "g"));
  return parts.map((part, index) => (index % 2 === 0 && index < parts.length - 1 ? part.concat("d") : part));
}

/**
 * The same as nodes of the page.
 * @param {string} text
 */
export function typeset(text) {
  return typesetParts(text).map((part, index) => {
    if (index % 2 === 0) return part;
    const element = document.createElement("sub");
    element.textContent = part;
    return element;
  });
}

/**
 * Puts a sentence into an element, only where it changes, so that screen readers are not told twice.
 * @param {HTMLElement} element
 * @param {string} text
 */
export function setTypeset(element, text) {
  if (element.textContent !== typesetParts(text).join("")) element.replaceChildren(...typeset(text));
}
