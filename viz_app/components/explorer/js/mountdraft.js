// Brings a draft to the explorer, as mountfinding.js brings findings.

import { readBuffer } from "../../common/buffer.js";
import { findings, receiveFinding } from "./cards/findings.js";

const LINGER = 500; // milliseconds in which the next one may come, also of another sentence

/** @param {Mounted<Uint8Array>} component */
export default function mount({ data }) {
  const { header, data: rows } = readBuffer(data);
  const { key, axes, from } = header;
  const draft = { axes, from, rows, encoder: null };
  receiveFinding({ draft }, key);
  return () => setTimeout(() => findings(key).draft === draft && receiveFinding({ draft: null }, key), LINGER);
}
