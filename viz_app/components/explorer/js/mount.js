// The part that Streamlit sends again with every translation, so it is small: it hands over to the explorer's code,
// which another component brings once (main.js), sooner or later than this one is called.

const CODE = Symbol.for("headlight.explorer");

/** @param {Mounted} component */
export default function mount(component) {
  let gone = false;
  /** @type {(() => void) | null} */
  let stop = null;
  const start = () => {
    if (!gone) stop = /** @type {any} */ (globalThis)[CODE](component);
  };
  if (/** @type {any} */ (globalThis)[CODE]) start();
  else addEventListener(String(CODE.description), start, { once: true });
  return () => {
    gone = true;
    stop?.();
  };
}
