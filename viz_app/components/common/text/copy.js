// A button that copies a text and says whether that worked.

import { h } from "../page/dom.js";

const CONFIRMED = 2000; // milliseconds

/**
 * @param {() => string} text What it copies, asked for when it is pressed.
 * @param {Record<"copy" | "copied" | "copy_failed", string>} texts
 * @param {Record<string, any>} [attributes]
 */
export function copyButton(text, texts, attributes = {}) {
  const button = h("button", { ...attributes, click: () => confirmCopy(text(), texts, button) }, texts.copy);
  return button;
}

/**
 * Copies a text; the label says for a moment whether that worked.
 * @param {string} text
 * @param {Parameters<typeof copyButton>[1]} texts
 * @param {HTMLElement} button
 * @param {HTMLElement} [label]
 */
export async function confirmCopy(text, texts, button, label = button) {
  label.textContent = (await copy(text, button)) ? texts.copied : texts.copy_failed;
  setTimeout(() => (label.textContent = texts.copy), CONFIRMED);
}

/**
 * Copies a text, also on a page that came without TLS, as in a class, where browsers offer no clipboard.
 * @param {string} text
 * @param {HTMLElement} button Stays in focus. The text is selected beside it, since a dialog makes all else inert.
 */
async function copy(text, button) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = h("textarea", { style: "position: fixed; opacity: 0" });
  field.value = text;
  button.after(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  button.focus();
  return done;
}
