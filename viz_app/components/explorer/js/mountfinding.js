// Brings a finding to the explorer; see findings.js.

import { receiveFinding } from "./cards/findings.js";

/** @param {Mounted<Findings>} component */
export default function mount({ data }) {
  receiveFinding(data);
  return () => {};
}
