// Starts the tour in a browser that has never shown it, or when the visitor asks for it.

import { instanceAt } from "../../common/component.js";
import { Tour } from "./tour.js";

/** @param {Mounted<TourData>} component */
export default function mount({ data, parentElement }) {
  const { instance, unmount } = instanceAt(parentElement, "tour", (root) => new Tour(root));
  instance.receive(data);
  return unmount;
}
