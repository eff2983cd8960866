// The part that Streamlit sends again with all new numbers, so it is small: it hands over to the lesson's own code, which
// another component brings once (<lesson>/main.js), sooner or later than this one is called.

import { readBuffer } from "../../../components/common/buffer.js";

/** @param {Mounted} component */
export default function mount(component) {
  const code = Symbol.for(`headlight.lesson.${readBuffer(component.data).header.name}`);
  let gone = false;
  /** @type {(() => void) | null} */
  let stop = null;
  const start = () => {
    if (!gone) stop = /** @type {any} */ (globalThis)[code](component);
  };
  if (/** @type {any} */ (globalThis)[code]) start();
  else addEventListener(String(code.description), start, { once: true });
  return () => {
    gone = true;
    stop?.();
  };
}
