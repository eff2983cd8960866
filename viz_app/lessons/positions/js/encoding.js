// The paper's formula (Section 3.5), evaluated again for motion; a test compares it with transformer_core.

import { formatCount } from "../../../components/common/text/format.js";

// Places of the six shown pairs among all, from the fastest to the slowest. Most waves are far longer than any
// sentence, so pairs in even steps would be straight lines.
const SHARES = [0, 0.095, 0.19, 0.3, 0.45, 1];

/**
 * Radians by which pair i turns from one position to the next.
 * @param {number} pair
 * @param {number} width
 */
function frequency(pair, width) {
  return 10000 ** ((-2 * pair) / width);
}

/**
 * Positions until a pair stands as before.
 * @param {number} pair
 * @param {number} width
 */
export function period(pair, width) {
  return (2 * Math.PI) / frequency(pair, width);
}

/**
 * Write a period: "6.3", "112", "54,410".
 * @param {number} pair
 * @param {number} width
 */
export function periodText(pair, width) {
  const length = period(pair, width);
  return length < 10 ? length.toFixed(1) : formatCount(length);
}

/**
 * Angle of pair i at a position, which may lie between two tokens.
 * @param {number} position
 * @param {number} pair
 * @param {number} width
 */
export function angle(position, pair, width) {
  return position * frequency(pair, width);
}

/**
 * PE(pos, 2i) for even columns, PE(pos, 2i + 1) for odd ones.
 * @param {number} position
 * @param {number} column
 * @param {number} width
 */
export function encoding(position, column, width) {
  const turned = angle(position, column >> 1, width);
  return column % 2 ? Math.cos(turned) : Math.sin(turned);
}

/**
 * PE(pos), all columns.
 * @param {number} position
 * @param {number} width
 */
export function vector(position, width) {
  return Float64Array.from({ length: width }, (_, column) => encoding(position, column, width));
}

/**
 * PE(p) . PE(q), column by column.
 * @param {number} p
 * @param {number} q
 * @param {number} width
 */
export function dotProduct(p, q, width) {
  let sum = 0;
  for (let column = 0; column < width; column++) sum += encoding(p, column, width) * encoding(q, column, width);
  return sum;
}

/**
 * The block of M_k for pair i: [[cos, sin], [-sin, cos]] of k times its frequency.
 * @param {number} k
 * @param {number} pair
 * @param {number} width
 */
export function block(k, pair, width) {
  const turned = angle(k, pair, width);
  return [
    [Math.cos(turned), Math.sin(turned)],
    [-Math.sin(turned), Math.cos(turned)],
  ];
}

/**
 * Largest difference between M_k PE(p) and PE(p + k), over all columns.
 * @param {number} p
 * @param {number} k
 * @param {number} width
 */
export function mapError(p, k, width) {
  const from = vector(p, width);
  const to = vector(p + k, width);
  let largest = 0;
  for (let pair = 0; pair < width / 2; pair++) {
    const [sine, cosine] = [from[2 * pair], from[2 * pair + 1]];
    block(k, pair, width).forEach((row, index) => {
      largest = Math.max(largest, Math.abs(row[0] * sine + row[1] * cosine - to[2 * pair + index]));
    });
  }
  return largest;
}

/**
 * Six pairs from the fastest to the slowest; fewer where the vector has fewer.
 * @param {number} width
 */
export function pairs(width) {
  return [...new Set(SHARES.map((share) => Math.round(share * (width / 2 - 1))))];
}

/**
 * Means of a column over steps of positions: what a pixel shows that holds more than one. Returns that of a step.
 * @param {number} from Where step 0 begins.
 * @param {number} step
 * @param {number} column
 * @param {number} width
 */
export function meanEncodings(from, step, column, width) {
  const half = angle(step / 2, column >> 1, width);
  const start = angle(from + step / 2, column >> 1, width) + (column % 2 ? Math.PI / 2 : 0);
  const size = Math.sin(half) / half;
  return (/** @type {number} */ index) => size * Math.sin(start + 2 * half * index);
}

/**
 * Whether a pixel holds so many turns of a wave that only the area between its crests can be drawn.
 * @param {number} turns In a pixel.
 */
export function isBand(turns) {
  return turns > 0.5;
}

/**
 * The column in a row of a bar code: all sines from the fastest to the slowest, then all cosines. A bar code with fewer
 * rows than the vector has numbers takes some of them.
 * @param {number} row
 * @param {number} rows
 * @param {number} width
 */
export function barColumn(row, rows, width) {
  const half = rows / 2;
  const pair = Math.round(((row % half) / Math.max(1, half - 1)) * (width / 2 - 1));
  return 2 * pair + (row < half ? 0 : 1);
}

/**
 * The bit of a position that has the value 2^bit.
 * @param {number} position
 * @param {number} bit
 */
export function bitOf(position, bit) {
  return Math.floor(Math.round(position) / 2 ** bit) % 2;
}

/**
 * Root of the mean square of numbers.
 * @param {ArrayLike<number>} numbers
 */
export function rootMeanSquare(numbers) {
  return Math.hypot(...Array.from(numbers)) / Math.sqrt(numbers.length);
}
