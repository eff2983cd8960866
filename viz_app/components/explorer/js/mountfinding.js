// Brings a finding to the explorer; see findings.js.

import { readBuffer } from "../../common/buffer.js";
import { receiveFinding } from "./cards/findings.js";

/** @param {Mounted<Uint8Array>} component */
export default function mount({ data }) {
  const { key, ...finding } = readBuffer(data).header;
  receiveFinding(finding, key);
  return () => {};
}
