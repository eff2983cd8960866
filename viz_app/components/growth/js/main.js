// One history for each place on the page, which then takes new labels or colours.

import { Growth } from "./growth.js";

const shown = new WeakMap();

/** @param {{ data: any, parentElement: HTMLElement, setStateValue: any }} given */
export default function show({ data, parentElement, setStateValue }) {
  const root = /** @type {any} */ (parentElement).querySelector(".growth");
  let growth = shown.get(root);
  if (!growth) {
    growth = new Growth(root);
    shown.set(root, growth);
    root.growth = growth; // for tests and the console
  }
  /** @param {any} seen */
  growth.report = (seen) => setStateValue("seen", seen);
  growth.receive(data);
  return () => {
    // Streamlit also cleans up after a call that a newer one has overtaken; then the component is still on the page.
    if (root.isConnected) return;
    growth.stop();
    shown.delete(root);
  };
}
