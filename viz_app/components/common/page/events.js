// Numbers of events that Python must answer once each: it takes a number only if it is larger than the last one.

const LAST = Symbol.for("headlight.event"); // of the window, since every mount of a component runs this module anew

/**
 * The number of a new event: larger than all before it on this page, also when the clock was set back. It starts from
 * the clock so that a page that is loaded anew goes on above what its session may know.
 */
export function eventId() {
  /** @type {Record<symbol, number | undefined>} */
  const shared = /** @type {any} */ (globalThis);
  const id = Math.max(Date.now(), (shared[LAST] ?? 0) + 1);
  shared[LAST] = id;
  return id;
}
