// One explorer for each place on the page, which then takes new data.
// STYLE, the text of its style matrices, and GLOSSARY are put before it by Python.

import { instanceAt } from "../../common/component.js";
import { rootOf } from "../../common/page/dom.js";
import { provideGlossary } from "../../common/page/explained.js";
import { Explorer } from "./explorer.js";

const style = new CSSStyleSheet();
style.replaceSync(STYLE);
provideGlossary(GLOSSARY);

/** @param {Mounted<Uint8Array>} component */
export function mount({ data, parentElement, setStateValue }) {
  const { instance: explorer, unmount } = instanceAt(parentElement, "explorer", (root) => {
    rootOf(root).adoptedStyleSheets = [style];
    return new Explorer(root);
  });
  explorer.report.send = (selection) => setStateValue("selection", selection);
  explorer.reportOff = (head) => setStateValue("off", head);
  explorer.tools.report = (event) => setStateValue("tool", event);
  explorer.card.reportSentence = (event) => setStateValue("sentence", event);
  explorer.receive(data);
  return unmount;
}
