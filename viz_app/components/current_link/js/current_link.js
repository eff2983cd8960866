// Tells Python that the link of the page that is open was pressed, which leads nowhere by itself.

import { eventId } from "../../common/page/events.js";

/** @param {Mounted<{}>} component */
export default function listen({ setStateValue }) {
  /** @param {MouseEvent} event */
  const onClick = ({ target }) => {
    if (target instanceof Element && target.closest('a[aria-current="page"]')) setStateValue("pressed", eventId());
  };
  document.addEventListener("click", onClick, true);
  return () => document.removeEventListener("click", onClick, true);
}
