// Table 1 (Section 4), evaluated again for motion; a test compares it with transformer_core.paper.complexity.

export const LAYERS = ["attention", "recurrent", "convolution", "dilated", "separable", "restricted"];

/** @typedef {{ n: number, k?: number, r?: number }} Sizes */

/**
 * Multiply-adds of a layer, the leading term.
 * @param {string} layer
 * @param {Sizes & { d: number }} sizes
 */
export function operations(layer, { n, d, k = 3, r = 8 }) {
  if (layer === "attention") return n * n * d;
  if (layer === "recurrent") return n * d * d;
  if (layer === "separable") return k * n * d + n * d * d;
  if (layer === "restricted") return Math.min(r, n) * n * d;
  return k * n * d * d;
}

/**
 * Operations that must wait for one another.
 * @param {string} layer
 * @param {Sizes} sizes
 */
export function sequential(layer, { n }) {
  return layer === "recurrent" ? n : 1;
}

/**
 * Layers, or steps, until the first position is heard at the last one.
 * @param {string} layer
 * @param {Sizes} sizes
 */
export function path(layer, { n, k = 3, r = 8 }) {
  if (layer === "attention") return Math.min(1, n - 1);
  if (layer === "recurrent") return n - 1;
  if (layer === "restricted") return Math.ceil((n - 1) / r);
  if (layer !== "dilated") return Math.ceil((n - 1) / Math.floor(k / 2));
  let layers = 0;
  while (k ** layers < n) layers += 1;
  return layers;
}

/**
 * The positions that position p hears directly in layer `number`, from 0.
 * @param {string} layer
 * @param {number} number
 * @param {number} p
 * @param {Sizes} sizes
 */
export function neighbours(layer, number, p, { n, k = 3, r = 8 }) {
  if (layer === "attention") return Array.from({ length: n }, (_, position) => position);
  const offsets = [];
  if (layer === "recurrent") offsets.push(-1, 0);
  else if (layer === "dilated") for (let tap = 0; tap < k; tap++) offsets.push(-tap * k ** number);
  else {
    const reach = layer === "restricted" ? r : Math.floor(k / 2);
    for (let offset = -reach; offset <= reach; offset++) offsets.push(offset);
  }
  return offsets.map((offset) => p + offset).filter((position) => position >= 0 && position < n);
}
