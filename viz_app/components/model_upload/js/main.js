// A button that opens the browser's choice of an archive, and sends it to the server.

import { eventId } from "../../common/page/events.js";
import { fileButton } from "../../common/page/filebutton.js";

/** @param {Mounted<{ label: string, address: string, most: number, source: string, target: string }>} component */
export default function mount({ data, parentElement, setStateValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".model-upload"));
  const tell = (/** @type {Record<string, unknown>} */ said) => setStateValue("sent", { id: eventId(), ...said });
  fileButton(root, data.label, ".zip", async (file) => {
    if (file.size > data.most) return tell({ problem: "packed" });
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
  });
}
