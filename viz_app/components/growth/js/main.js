// One training history for each place on the page, which then takes new labels or colours.

import { instanceAt } from "../../common/component.js";
import { Growth } from "./growth.js";

/** @param {Mounted<Uint8Array>} component */
export default function mount({ data, parentElement, setStateValue }) {
  const { instance: growth, unmount } = instanceAt(parentElement, "growth", (root) => new Growth(root));
  growth.report.send = (seen) => setStateValue("seen", seen);
  growth.receive(data);
  return unmount;
}
