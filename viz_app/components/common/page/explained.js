// Words of the glossary with their explanation, which stands over everything else: to the pointer, by touch and by
// keyboard. The rules for its look are in explained.css.

import { h } from "./dom.js";

const GAP = 6; // between a word and its explanation, in CSS pixels
const EDGE = 8; // between the explanation and the edge of the window
let terms = 0;

/**
 * A word with its explanation, shown where the pointer or the focus is and hidden by Escape. In the app it links to the
 * page Glossary, whose name stands at the document (address.js).
 * @param {string} word
 * @param {string} about
 * @param {string} name Of the term.
 */
export function explained(word, about, name) {
  const said = h("span", { id: `term-${++terms}`, role: "tooltip" }, about);
  const tip = h("span", { class: "about", popover: "manual" }, said);
  const isOpen = () => tip.matches(":popover-open");
  const place = () => (element.isConnected ? put(tip, element) : close());
  const open = () => {
    if (isOpen()) return;
    const page = document.documentElement;
    const glossary = page.getAttribute("data-glossary");
    const link = h("a", { href: `glossary?lang=${page.lang}#${name}`, target: "_blank" }, glossary);
    tip.replaceChildren(said, ...(glossary ? [" ", link] : []));
    tip.showPopover();
    place();
    window.addEventListener("scroll", place, true);
  };
  const close = () => {
    window.removeEventListener("scroll", place, true);
    if (isOpen()) tip.hidePopover();
  };
  /** @param {FocusEvent} event */
  const leave = ({ relatedTarget }) => (relatedTarget instanceof Node && tip.contains(relatedTarget)) || close();
  const listeners = { pointerenter: open, focus: open, click: open, pointerleave: close, focusout: leave };
  const element = h("dfn", { tabindex: "0", "aria-describedby": said.id, ...listeners }, word, tip);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isOpen()) return;
    close();
    event.preventDefault(); // the key ends the presenter's view, or the view of a token, only after that
    event.stopPropagation();
  });
  return element;
}

/**
 * Below its word, or above it where the window ends.
 * @param {HTMLElement} tip
 * @param {HTMLElement} word
 */
function put(tip, word) {
  const { left, top, bottom } = word.getClientRects()[0] ?? word.getBoundingClientRect();
  const right = window.innerWidth - tip.offsetWidth - EDGE;
  const below = bottom + GAP + tip.offsetHeight <= window.innerHeight - EDGE;
  tip.style.left = `${Math.max(EDGE, Math.min(left, right))}px`;
  tip.style.top = `${below ? bottom + GAP : Math.max(EDGE, top - GAP - tip.offsetHeight)}px`;
}

/** @type {Glossary} */
let glossary = { en: {}, ko: {} };

/** @param {Glossary} words */
export function provideGlossary(words) {
  glossary = words;
}

/** @type {WeakMap<Element, string>} Text of an element: a focused word must not be replaced. */
const said = new WeakMap();

/**
 * Writes a text into an element; the first place of each named term explains itself.
 * @param {Element} element
 * @param {string} text
 * @param {string} language
 * @param {string[]} names Of terms of the glossary, such as "query".
 */
export function define(element, text, language, names) {
  const key = `${language} ${text}`;
  if (said.get(element) === key && element.firstChild) return;
  said.set(element, key);
  element.replaceChildren(...defined(text, language, names));
}

/**
 * The same in a text that has been put together: the first place of each term in one of its text nodes.
 * @template {Node} Part
 * @param {Part} part
 * @param {string} language
 * @param {string[]} names
 */
export function explainIn(part, language, names) {
  const [first] = [...part.childNodes].filter((node) => node instanceof Text && node.data.trim());
  if (first instanceof Text) first.replaceWith(...defined(first.data, language, names));
  return part;
}

/**
 * The same as a list of nodes.
 * @param {string} text
 * @param {string} language
 * @param {string[]} names
 * @returns {(string | Node)[]}
 */
export function defined(text, language, names) {
  const known = glossary[language] ?? {};
  const [name, ...others] = names;
  if (!name) return [text];
  const match = known[name] && pattern(known[name][0]).exec(text);
  if (!match) return defined(text, language, others);
  const after = match.index + match[0].length;
  const word = explained(match[0], known[name][1], name);
  return [
    ...defined(text.slice(0, match.index), language, others),
    word,
    ...defined(text.slice(after), language, others),
  ];
}

/**
 * A word in any letters, also in the plural.
 * @param {string} word
 */
function pattern(word) {
  if (!/^[\x20-\x7e]+$/.test(word)) return new RegExp(word); // Korean particles follow without a space
  return new RegExp(word.endsWith("y") ? `\\b${word.slice(0, -1)}(?:y|ies)\\b` : `\\b${word}s?\\b`, "i");
}
