// The explorer's code: one explorer for each place on the page, which then takes new data. See mount.js.
// STYLE, the text of explorer.css, is put before it by Python.

import { Explorer } from "./explorer.js";

const CODE = Symbol.for("headlight.explorer");
const explorers = new WeakMap();
const style = new CSSStyleSheet();
style.replaceSync(STYLE);

/** @param {{ data: any, parentElement: HTMLElement, setStateValue: any }} given */
function show({ data, parentElement, setStateValue }) {
  const root = /** @type {any} */ (parentElement).querySelector(".explorer");
  let explorer = explorers.get(root);
  if (!explorer) {
    root.getRootNode().adoptedStyleSheets = [style];
    explorer = new Explorer(root);
    explorers.set(root, explorer);
    root.explorer = explorer; // for tests and the console
  }
  /** @param {any} selection */
  explorer.report = (selection) => setStateValue("selection", selection);
  explorer.receive(data);
  return () => {
    // Streamlit also cleans up after a call that a newer one has overtaken; then the component is still on the page.
    if (!root.isConnected) {
      explorer.stop();
      explorers.delete(root);
    }
  };
}

export default function provide() {
  if (/** @type {any} */ (globalThis)[CODE]) return;
  /** @type {any} */ (globalThis)[CODE] = show;
  dispatchEvent(new Event(String(CODE.description)));
}
