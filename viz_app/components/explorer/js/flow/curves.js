// The way of a ribbon: two cubic curves, one after the other, as seven points in 14 numbers. So any can turn into any other.

/** @typedef {number[]} Way x, y of start, two controls, middle, two controls, end. */

/**
 * Cut one cubic curve at a share of its length in time; both halves share the point there (de Casteljau).
 * @param {number[]} curve Eight numbers.
 * @param {number} share
 * @returns {Way}
 */
function cut([ax, ay, bx, by, cx, cy, dx, dy], share) {
  const mix = (/** @type {number} */ a, /** @type {number} */ b) => a + share * (b - a);
  const [abx, aby, bcx, bcy, cdx, cdy] = [mix(ax, bx), mix(ay, by), mix(bx, cx), mix(by, cy), mix(cx, dx), mix(cy, dy)];
  const [px, py, qx, qy] = [mix(abx, bcx), mix(aby, bcy), mix(bcx, cdx), mix(bcy, cdy)];
  return [ax, ay, abx, aby, px, py, mix(px, qx), mix(py, qy), qx, qy, cdx, cdy, dx, dy];
}

/**
 * One cubic curve as a way.
 * @param {...number} curve Eight numbers.
 * @returns {Way}
 */
export const single = (...curve) => cut(curve, 0.5);

/**
 * The first part of a way: 8 or 14 numbers.
 * @param {Way} way
 * @param {number} share
 */
export function beginning(way, share) {
  if (share >= 1) return way;
  if (share <= 0.5) return cut(way.slice(0, 8), 2 * share).slice(0, 8);
  return [...way.slice(0, 8), ...cut(way.slice(6), 2 * share - 1).slice(2, 8)];
}

/**
 * Points on a way, each as x, y and the direction of its left side.
 * @param {number[]} way
 * @param {number} steps Of each of its curves.
 */
export function sample(way, steps) {
  const points = [];
  for (let at = 0; at + 8 <= way.length; at += 6) {
    const [ax, ay, bx, by, cx, cy, dx, dy] = way.slice(at, at + 8);
    for (let i = at ? 1 : 0; i <= steps; i++) {
      const [t, s] = [i / steps, 1 - i / steps];
      const [a, b, c, d] = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
      const u = s * s * (bx - ax) + 2 * s * t * (cx - bx) + t * t * (dx - cx);
      const v = s * s * (by - ay) + 2 * s * t * (cy - by) + t * t * (dy - cy);
      const length = Math.hypot(u, v) || 1;
      points.push([a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy, v / length, -u / length]);
    }
  }
  return points;
}

/**
 * Distance of a place from a way; infinite where it is farther from all its points than asked for.
 * @param {Way} way
 * @param {Point} place
 * @param {number} [reach]
 */
export function distance(way, { x, y }, reach = Infinity) {
  let least = Infinity;
  const [across, down] = [0, 1].map((from) => way.filter((_, i) => i % 2 === from)); // a curve lies between its points
  if (x < Math.min(...across) - reach || x > Math.max(...across) + reach) return least;
  if (y < Math.min(...down) - reach || y > Math.max(...down) + reach) return least;
  const points = sample(way, 10);
  for (let i = 1; i < points.length; i++) {
    const [[ax, ay], [bx, by]] = [points[i - 1], points[i]];
    const long = (bx - ax) ** 2 + (by - ay) ** 2 || 1;
    const along = Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / long));
    least = Math.min(least, Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay)));
  }
  return least;
}
