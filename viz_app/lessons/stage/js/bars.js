// Shades of numbers that several lessons draw, as CSS.

import { cssColour } from "../../../components/common/draw/canvas.js";
import { divergingPixel } from "../../../components/common/draw/diverging.js";

const scales = new WeakMap();

/**
 * The colour of a weight, 0 to 1, as CSS.
 * @param {Theme} theme
 * @param {number} weight
 */
export function shade(theme, weight) {
  let scale = scales.get(theme);
  if (!scale) {
    scale = Array.from(theme.pixels, cssColour);
    scales.set(theme, scale);
  }
  return scale[Math.max(0, Math.min(255, Math.round(255 * weight)))];
}

/**
 * The colour of a number from -1 to 1, as CSS.
 * @param {Theme} theme
 * @param {number} value
 */
export function twoSided(theme, value) {
  return cssColour(divergingPixel(theme, value));
}
