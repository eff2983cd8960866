// Code of a component that one mount brings and others run, so that these are small.

/** @typedef {(component: Mounted) => () => void} Mount Shows a component; what it returns takes it off again. */

/** Code by its symbol: of the window, since every mount of a component runs its modules anew. */
const shared = /** @type {Record<symbol, Mount>} */ (/** @type {unknown} */ (globalThis));

/**
 * Makes code known to `mountWith`; the first of a name stays.
 * @param {string} name
 * @param {Mount} mount
 */
export function provideCode(name, mount) {
  const code = Symbol.for(`headlight.${name}`);
  if (shared[code]) return;
  shared[code] = mount;
  dispatchEvent(new Event(String(code.description)));
}

/**
 * Runs code that another component provides, sooner or later than this is called.
 * @param {string} name
 * @param {Mounted} component
 */
export function mountWith(name, component) {
  const code = Symbol.for(`headlight.${name}`);
  /** @type {(() => void) | null} */
  let unmount = null;
  let gone = false;
  const start = () => {
    if (!gone) unmount = shared[code](component);
  };
  if (shared[code]) start();
  else addEventListener(String(code.description), start, { once: true });
  return () => {
    gone = true;
    unmount?.();
  };
}
