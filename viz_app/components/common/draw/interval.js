// A number with its interval on a line, and the mark of what it is compared with.

import { svg } from "../page/dom.js";
import { Axis } from "./plot.js";

const WIDTH = 150; // CSS pixels, as all lengths here
const HEIGHT = 18;
const EDGE = 5;

/**
 * @typedef {{ value: number | null, low: number | null, high: number | null }} Interval What is null is not drawn.
 */

/**
 * The axis that holds all numbers and 0, with a little space at the ends.
 * @param {(number | null | undefined)[]} numbers
 * @param {number} [from] Pixels.
 * @param {number} [to] Pixels.
 */
export function axisAround(numbers, from = EDGE, to = WIDTH - EDGE) {
  const all = [0, ...numbers.filter((each) => typeof each === "number")];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const space = 0.06 * (high - low || 1);
  return new Axis(low < 0 ? low - space : low, high + space, from, to);
}

/** The axis of shares. */
export const shareAxis = new Axis(0, 1, EDGE, WIDTH - EDGE);

/**
 * A dot at the value, a bar from `low` to `high`, a tick at the baseline; a baseline with an interval has a pale band.
 * @param {Interval} shown
 * @param {Interval | null} baseline
 * @param {Axis} axis
 * @param {string} label Says the same in words.
 */
export function intervalPlot(shown, baseline, axis, label) {
  const middle = HEIGHT / 2;
  const parts = [line("interval-axis", axis.from, axis.to, middle)];
  if (axis.low < 0) parts.push(tick("interval-zero", axis.place(0), 3));
  if (baseline?.low !== null && baseline?.high !== null && baseline)
    parts.push(line("interval-band", axis.place(baseline.low), axis.place(baseline.high), middle));
  if (baseline && baseline.value !== null) parts.push(tick("interval-baseline", axis.place(baseline.value), 8));
  if (shown.low !== null && shown.high !== null)
    parts.push(line("interval-bar", axis.place(shown.low), axis.place(shown.high), middle));
  if (shown.value !== null)
    parts.push(svg("circle", { class: "interval-dot", cx: axis.place(shown.value), cy: middle, r: 4 }));
  const box = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT };
  return svg("svg", { class: "interval", role: "img", "aria-label": label, ...box }, ...parts);
}

/**
 * @param {string} name
 * @param {number} from
 * @param {number} to
 * @param {number} y
 */
function line(name, from, to, y) {
  return svg("line", { class: name, x1: from, x2: to, y1: y, y2: y });
}

/**
 * @param {string} name
 * @param {number} x
 * @param {number} half
 */
function tick(name, x, half) {
  return svg("line", { class: name, x1: x, x2: x, y1: HEIGHT / 2 - half, y2: HEIGHT / 2 + half });
}
