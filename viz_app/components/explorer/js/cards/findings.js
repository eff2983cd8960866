// What Python finds out after the explorer is drawn: the roles of heads, and a translation without one of them. Components
// that show nothing bring it, so that the maps are not sent again.

const TOLD = Symbol.for("headlight.findings"); // of the window, since every mount of a component runs its modules anew

/** Findings of each explorer by its key, which its data have. */
const shared = /** @type {Record<symbol, Map<string | undefined, Findings>>} */ (/** @type {unknown} */ (globalThis));
shared[TOLD] ??= new Map();

/**
 * The newest finding of each name.
 * @param {string | undefined} key Of the explorer; undefined for the only one of a page.
 * @returns {Findings}
 */
export function findings(key) {
  return shared[TOLD].get(key) ?? {};
}

/**
 * What is known of the roles of the heads of a translation's model.
 * @param {Translation} translation
 */
export function rolesOf({ key, about }) {
  const { roles } = findings(key);
  return roles?.model === about?.model ? (roles ?? null) : null;
}

/**
 * Makes a finding known.
 * @param {Findings} finding
 * @param {string} [key]
 */
export function receiveFinding(finding, key) {
  shared[TOLD].set(key, { ...findings(key), ...finding });
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
