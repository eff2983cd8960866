// The presenter's view: a lesson or the explorer fills the window, and what is opened next does, too.

const PRESENTING = Symbol.for("headlight.presenting"); // of the window: the element that does, or did when it was left
const shared = /** @type {Record<symbol, Element | null>} */ (/** @type {unknown} */ (globalThis));

export const isPresenting = () => Boolean(shared[PRESENTING]);

/**
 * @param {Element} root
 * @param {boolean} on
 */
export function present(root, on) {
  shared[PRESENTING] = on ? root : null;
  root.classList.toggle("presenting", on);
  document.documentElement.toggleAttribute("data-presenting", on); // the line of the route then stands above it
}

/**
 * The element leaves the page; another one may have taken over already.
 * @param {Element} root
 */
export function leavePresenting(root) {
  if (shared[PRESENTING] === root) document.documentElement.removeAttribute("data-presenting");
}
