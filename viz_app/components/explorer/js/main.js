// The explorer: builds the parts once, then draws what has changed. Streamlit calls the default export with new data.

import { Explorer } from "./explorer.js";

const explorers = new WeakMap();

export default function explorerComponent({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".explorer");
  let explorer = explorers.get(root);
  if (!explorer) {
    explorer = new Explorer(root);
    explorers.set(root, explorer);
    root.explorer = explorer; // for tests and the console
  }
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
