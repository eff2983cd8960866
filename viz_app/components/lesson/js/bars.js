// Bars and shades that several lessons draw.

const scales = new WeakMap();

/** The colour of a weight, 0 to 1, as CSS. */
export function shade(theme, weight) {
  let scale = scales.get(theme);
  if (!scale) {
    scale = Array.from(theme.pixels, (pixel) => `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`);
    scales.set(theme, scale);
  }
  return scale[Math.max(0, Math.min(255, Math.round(255 * weight)))];
}

// Purple for less, orange for more, as everywhere in the app where numbers have two signs.
const ENDS = { light: { less: [84, 39, 136], more: [179, 88, 6] }, dark: { less: [207, 196, 255], more: [255, 198, 129] } };

/** The colour of a number from -1 to 1 over the background. */
export function twoSided(theme, value) {
  const [red, green, blue] = ENDS[theme.dark ? "dark" : "light"][value < 0 ? "less" : "more"];
  return `rgb(${red} ${green} ${blue} / ${Math.min(1, Math.abs(value)).toFixed(3)})`;
}

/** A bar that stands on a base line. */
export function bar(context, x, base, width, height, colour) {
  context.fillStyle = colour;
  context.fillRect(x, base - height, width, height);
}
