// Numbers as they stand in the pictures of this lesson.

/**
 * Of any size: "6.3", "112", "54 410".
 * @param {number} value
 */
export function many(value) {
  if (value < 10) return value.toFixed(1);
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
