// The part that Streamlit sends again with all new numbers, so it is small: it hands over to the lesson's own code
// (<lesson>/main.js).

import { readBuffer } from "../../../components/common/buffer.js";
import { mountWith } from "../../../components/common/handover.js";

/** @param {Mounted<Uint8Array>} component */
export default function mount(component) {
  return mountWith(`lesson.${readBuffer(component.data).header.name}`, component);
}
