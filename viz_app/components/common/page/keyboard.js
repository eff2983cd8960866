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

/**
 * The number within bounds that is nearest.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}
