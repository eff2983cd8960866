// Keys that a component takes for itself.

/**
 * Whether a key is pressed together with one that gives it another meaning.
 * @param {KeyboardEvent} event
 */
export function hasModifier({ altKey, ctrlKey, metaKey }) {
  return altKey || ctrlKey || metaKey;
}

/**
 * Nothing else shall come of a key: neither of the browser nor of what is around the element.
 * @param {Event} event
 */
export function consume(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** Rows down and columns right that the arrow keys go. */
export const ARROWS = /** @type {Record<string, [number, number]>} */ ({
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
});

/**
 * The number within bounds that is nearest.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}
