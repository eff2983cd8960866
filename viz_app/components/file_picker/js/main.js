// A button that opens the browser's choice of a file, and tells Python what the file holds.

import { h } from "../../common/page/dom.js";
import { eventId } from "../../common/page/events.js";
import { readText } from "./read.js";

/** @param {Mounted<{ label: string, accept: string, most: number, most_message: number }>} component */
export default function mount({ data, parentElement, setStateValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".file-picker"));
  // What is there stays, so that the button keeps the focus.
  const input = root.querySelector("input") ?? h("input", { type: "file", hidden: true });
  const button = root.querySelector("button") ?? h("button", { type: "button", click: () => input.click() });
  if (!root.childElementCount) root.append(button, input);
  button.textContent = data.label;
  input.accept = data.accept;
  input.onchange = async () => {
    const file = input.files?.[0];
    if (!file) return;
    const found = await readText(file, data.most, data.most_message);
    input.value = ""; // so that the same file can be chosen again
    setStateValue("file", { id: eventId(), ...found });
  };
}
