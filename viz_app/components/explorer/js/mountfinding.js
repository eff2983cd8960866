// Brings a finding to the explorer; see findings.js.

import { receiveFinding } from "./cards/findings.js";

/** @param {Mounted<Findings & { key: string }>} component */
export default function mount({ data: { key, ...finding } }) {
  receiveFinding(finding, key);
  return () => {};
}
