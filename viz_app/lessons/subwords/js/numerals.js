// Numbers as they stand in the pictures of this lesson.

/**
 * 7896 -> "7 896", with a space that does not break.
 * @param {number} value
 */
export function many(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
