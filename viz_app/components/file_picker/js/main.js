// A button that opens the browser's choice of a file, and sends its text to Python.

import { eventId } from "../../common/page/events.js";
import { fileButton } from "../../common/page/filebutton.js";
import { readText } from "./read.js";

/** @param {Mounted<{ label: string, accept: string, most: number, most_message: number }>} component */
export default function mount({ data, parentElement, setStateValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".file-picker"));
  fileButton(root, data.label, data.accept, async (file) => {
    const found = await readText(file, data.most, data.most_message);
    setStateValue("file", { id: eventId(), ...found });
  });
}
