// How a weight becomes a colour: where it stands on the scale, 0 to 1, and which of the 256 colours that is.
//
// "linear" shows weights as they are, "sqrt" their square roots, so that small ones can be told apart, and "row" each
// weight relative to the largest one that is shown of its row.

const LAST = 255; // index of the colour of a full weight

/**
 * Place of a weight on the scale, 0 to 1.
 * @param {number} weight
 * @param {number} rowMax
 * @param {string} scale
 */
export function scalePlace(weight, rowMax, scale) {
  if (scale === "sqrt") return Math.min(1, Math.sqrt(weight));
  if (scale === "row") return rowMax > 0 ? Math.min(1, weight / rowMax) : 0;
  return Math.min(1, weight);
}

/**
 * Index of its colour, 0 to 255; weights below `threshold` percent are left out, as if they were 0.
 * @param {number} weight
 * @param {number} rowMax
 * @param {string} scale
 * @param {number} [threshold]
 */
export function colourIndex(weight, rowMax, scale, threshold = 0) {
  if (!(weight > 0) || weight < threshold / 100) return 0;
  return Math.round(scalePlace(weight, rowMax, scale) * LAST);
}

/**
 * The other way: the weight at a place of the scale.
 * @param {number} place
 * @param {number} rowMax
 * @param {string} scale
 */
export function weightAtPlace(place, rowMax, scale) {
  if (scale === "sqrt") return place * place;
  return scale === "row" ? place * rowMax : place;
}
