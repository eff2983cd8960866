// What Python finds out after the explorer is drawn: the roles of heads, and a translation without one of them. Components
// that show nothing bring it, so that the maps are not sent again.

const TOLD = Symbol.for("headlight.findings"); // of the window, since every mount of a component runs its modules anew

/** @type {Record<symbol, Findings | undefined>} */
const shared = /** @type {any} */ (globalThis);

/** The newest finding of each name. */
export function findings() {
  return shared[TOLD] ?? {};
}

/**
 * Makes a finding known.
 * @param {Findings} finding
 */
export function receiveFinding(finding) {
  shared[TOLD] = { ...findings(), ...finding };
  dispatchEvent(new Event("headlight.findings"));
}

/**
 * Calls a function whenever something is found out; returns what ends that.
 * @param {() => void} listener
 */
export function whenTold(listener) {
  addEventListener("headlight.findings", listener);
  return () => removeEventListener("headlight.findings", listener);
}
