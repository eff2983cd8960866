// The strip of cards in the app: a press is reported, so that the session goes on; a press for another tab is a link.

import { eventId } from "../../common/page/events.js";

/** @param {Mounted<null>} component */
export default function show({ parentElement, setStateValue }) {
  for (const card of /** @type {any} */ (parentElement).querySelectorAll("a.card")) {
    card.onclick = (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      setStateValue("open", { name: card.dataset.card, id: eventId() });
    };
  }
}
