// Colours for numbers of both signs, such as differences: the table that print takes its colours from.

/**
 * A number from -1 to 1 as a 32-bit pixel: blue for less, brown for more, the page itself where nothing differs.
 * The square root shows small ones, as it does for weights.
 * @param {Pick<Theme, "diverging">} theme
 * @param {number} value
 * @param {string} [scale]
 */
export function divergingPixel(theme, value, scale = "linear") {
  const size = Math.min(1, Math.abs(value));
  const share = Math.sign(value) * (scale === "sqrt" ? Math.sqrt(size) : size);
  return theme.diverging[Math.round(((share + 1) / 2) * (theme.diverging.length - 1))];
}
