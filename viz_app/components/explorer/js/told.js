// Brings a finding to the explorer; see findings.js.

import { tell } from "./findings.js";

/** @param {Mounted<Findings>} component */
export default function mount({ data }) {
  tell(data);
  return () => {};
}
