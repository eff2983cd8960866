// A button that opens the browser's choice of an archive, and sends that to the server.

import { h } from "../../common/page/dom.js";
import { eventId } from "../../common/page/events.js";

/** @param {Mounted<{ label: string, address: string, most: number, source: string, target: string }>} component */
export default function mount({ data, parentElement, setStateValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".model-upload"));
  // What is there stays, so that the button keeps the focus.
  const input = root.querySelector("input") ?? h("input", { type: "file", hidden: true, accept: ".zip" });
  const button = root.querySelector("button") ?? h("button", { type: "button", click: () => input.click() });
  if (!root.childElementCount) root.append(button, input);
  button.textContent = data.label;
  input.onchange = async () => {
    const file = input.files?.[0];
    if (!file) return;
    input.value = ""; // so that the same file can be chosen again
    const tell = (/** @type {Record<string, unknown>} */ said) => setStateValue("sent", { id: eventId(), ...said });
    if (file.size > data.most) {
      tell({ problem: "packed" });
      return;
    }
    const name = file.name.replace(/\.zip$/i, "");
    const asked = new URLSearchParams({ name, source: data.source, target: data.target });
    const answer = fetch(`${data.address}?${asked}`, { method: "PUT", body: file, credentials: "same-origin" });
    setTimeout(() => tell({}), 200); // the page follows from now on
    try {
      const found = await answer;
      tell(found.ok ? {} : await found.json());
    } catch {
      tell({ problem: "interrupted" });
    }
  };
}
