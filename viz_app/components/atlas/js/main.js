// One atlas for each place on the page, which then takes new labels, colours or maps.

import { instanceAt } from "../../common/component.js";
import { Atlas } from "./atlas.js";

/** @param {Mounted<Uint8Array>} component */
export default function mount({ data, parentElement, setStateValue }) {
  const { instance: atlas, unmount } = instanceAt(parentElement, "atlas", (root) => new Atlas(root));
  atlas.report.send = (seen) => setStateValue("seen", seen);
  atlas.sendOpen = (event) => setStateValue("open", event);
  atlas.receive(data);
  return unmount;
}
