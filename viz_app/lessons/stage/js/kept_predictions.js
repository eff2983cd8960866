// Tells Python what this device has kept of the reader's predictions, once.

import { readProgress } from "./progress.js";

/** @param {Mounted<{ lessons: string[], known: boolean }>} component */
export default function report({ data: { lessons, known }, setStateValue }) {
  const kept = lessons.map((name) => [name, readProgress(name).predicted]);
  if (!known) setStateValue("predicted", Object.fromEntries(kept));
}
