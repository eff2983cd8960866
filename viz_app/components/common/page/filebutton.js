// A button that opens the browser's choice of a file.

import { h } from "./dom.js";

/**
 * Fills an element with the button; a mounted one stays, so that it keeps the focus.
 * @param {HTMLElement} root
 * @param {string} label
 * @param {string} accept Files that are offered first, see `accept` of HTML's input.
 * @param {(file: File) => void} take
 */
export function fileButton(root, label, accept, take) {
  const input = root.querySelector("input") ?? h("input", { type: "file", hidden: true });
  const button = root.querySelector("button") ?? h("button", { click: () => input.click() });
  if (!root.childElementCount) root.append(button, input);
  button.textContent = label;
  input.accept = accept;
  input.onchange = () => {
    const file = input.files?.[0];
    input.value = ""; // so that the same file can be chosen again
    if (file) take(file);
  };
}
