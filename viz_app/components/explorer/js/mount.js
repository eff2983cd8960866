// The part that Streamlit sends again with every translation, so it is small: it hands over to the explorer's code (main.js).

import { mountWith } from "../../common/handover.js";

/** @param {Mounted} component */
export default function mount(component) {
  return mountWith("explorer", component);
}
