// The explorer's code: one explorer for each place on the page, which then takes new data. See mount.js.
// STYLE, the text of explorer.css, is put before it by Python.

import { instanceAt } from "../../common/component.js";
import { rootOf } from "../../common/dom.js";
import { provideCode } from "../../common/handover.js";
import { Explorer } from "./explorer.js";

const style = new CSSStyleSheet();
style.replaceSync(STYLE);

/** @param {Mounted<Uint8Array>} component */
function mount({ data, parentElement, setStateValue }) {
  const { instance: explorer, unmount } = instanceAt(parentElement, "explorer", (root) => {
    rootOf(root).adoptedStyleSheets = [style];
    return new Explorer(root);
  });
  explorer.report = (selection) => setStateValue("selection", selection);
  explorer.reportOff = (head) => setStateValue("off", head);
  explorer.receive(data);
  return unmount;
}

export default function provide() {
  provideCode("explorer", mount);
}
