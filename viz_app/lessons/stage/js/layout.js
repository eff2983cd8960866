// Places of the parts of a picture: on a phone below each other, else side by side.

export const PHONE = 620; // pixels; narrower pictures have one column, smaller type and fewer ticks

/**
 * Tell whether a picture is as narrow as on a phone.
 * @param {number} width
 */
export function isNarrow(width) {
  return width < PHONE;
}

/**
 * Cut a box in two: side by side where it is wide, else below each other.
 * @param {Box} box
 * @param {{ gap?: number, share?: number, top?: number }} [options] `share` of the width for the first part; `top`: its
 *   height where it stands above the other, half of the box by default.
 * @returns {[Box, Box]}
 */
export function split({ x, y, width, height }, { gap = 24, share = 0.5, top = (height - gap) / 2 } = {}) {
  if (isNarrow(width)) {
    const below = top + gap;
    return [
      { x, y, width, height: top },
      { x, y: y + below, width, height: height - below },
    ];
  }
  const first = (width - gap) * share;
  return [
    { x, y, width: first, height },
    { x: x + first + gap, y, width: width - first - gap, height },
  ];
}
