// Parts of the picture of the recorded runs: a peak with its handle, recorded losses, and a map with what the run writes.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { drawMap } from "../../stage/js/map.js";
import { scientific } from "./rate.js";

const HANDLE = 11; // radius, in pixels
const ARROW = 3; // pixels, of the tips in the handle
const WAYS = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
];
const EDGE = 0.96; // of the highest rate of the chart
const PALE = 0.2; // after the playhead
const TITLE = 24; // pixels above the map
const BELOW_MAP = 44; // pixels, for the note and the translation

/**
 * A recorded run with what its arrays hold: `loss` of every seed, their running `median`, and the `map` of each snapshot.
 * @typedef {import("./numbers").Run & { peak: number, median: number[], loss: NdArray, map: NdArray }} Run
 * @typedef {import("./numbers").Example} Example
 */

/**
 * Place of the peak of a run, at the edge of the chart where it is higher.
 * @param {import("../../stage/js/chart.js").Chart} chart
 * @param {Run} run
 */
export function topOf({ across, up }, run) {
  return { x: across.place(run.warmup), y: up.place(Math.min(run.peak, EDGE * up.high)) };
}

/**
 * The peak of a run with its number of steps.
 * @param {Pen} pen
 * @param {import("../../stage/js/chart.js").Chart} chart
 * @param {Run} run
 * @param {string} colour
 * @param {number} rank 0 has the handle, 1 is its rival; 2 is another, whose name gives way at the edge of the chart.
 */
export function drawPeak(pen, chart, run, colour, rank) {
  const { background } = pen.theme;
  const { x, y } = topOf(chart, run);
  const reach = [HANDLE, 6, 3.5][rank];
  pen.dot(x, y, reach, rank === 1 ? colour : background, rank === 1 ? background : colour);
  if (rank === 0) for (const [dx, dy] of WAYS) arrow(pen, x, y, dx, dy, colour);
  const higher = run.peak > chart.up.high;
  if (higher && rank === 2) return;
  const steps = formatCount(run.warmup);
  const label = higher ? `${steps} \u2191 ${scientific(run.peak, 1)}` : steps;
  const side = x + reach + 50 > chart.across.to ? -1 : 1;
  const style = rank < 2 ? { size: 14, weight: 650 } : { size: 11 };
  const place = Math.max(chart.up.to, y - 9);
  pen.write(label, x + side * (reach + 4), place, { colour, align: side < 0 ? "right" : "left", ...style });
}

/**
 * An arrow of the handle.
 * @param {Pen} pen
 * @param {number} x
 * @param {number} y
 * @param {number} dx
 * @param {number} dy
 * @param {string} colour
 */
function arrow(pen, x, y, dx, dy, colour) {
  const tip = HANDLE - 3;
  pen.line(x, y, x + dx * tip, y + dy * tip, { colour });
  const wings = [-1, 0, 1].map((side) => {
    const back = tip - ARROW * Math.abs(side);
    return [x + dx * back + dy * side * ARROW, y + dy * back + dx * side * ARROW];
  });
  pen.trace(wings, { colour });
}

/**
 * The median of a run, pale after the playhead.
 * @param {Pen} pen
 * @param {import("../../stage/js/chart.js").Chart} chart
 * @param {number[]} steps
 * @param {Run} run
 * @param {number} step
 * @param {LineStyle & { alpha: number }} style
 */
export function drawMedian(pen, chart, steps, { median }, step, style) {
  const points = chart.points({ x: steps, y: median });
  const passed = steps.findLastIndex((each) => each <= step) + 1;
  pen.trace(points.slice(Math.max(0, passed - 1)), { ...style, alpha: style.alpha * PALE });
  pen.trace(points.slice(0, passed), style);
}

/**
 * What was recorded of every seed up to the playhead.
 * @param {Pen} pen
 * @param {import("../../stage/js/chart.js").Chart} chart
 * @param {number[]} steps
 * @param {Run} run
 * @param {number} step
 * @param {string} colour
 */
export function drawRecords(pen, { across, up }, steps, { loss }, step, colour) {
  const [seeds, records] = loss.shape;
  for (let record = 0; record < records && steps[record] <= step; record++)
    for (let seed = 0; seed < seeds; seed++) {
      const y = up.place(loss.at(seed, record));
      if (y > up.to && y < up.from) pen.fill(across.place(steps[record]) - 1, y - 1, 2, 2, colour, 0.3);
    }
}

/**
 * Values on a line at the playhead, moved apart where they are close.
 * @param {Pen} pen
 * @param {import("../../stage/js/chart.js").Chart} chart
 * @param {number} step
 * @param {{ value: number, colour: string }[]} values
 */
export function drawReadings(pen, { across, up }, step, values) {
  const x = across.place(step);
  let taken = -Infinity;
  for (const { value, colour } of values.sort((one, other) => other.value - one.value)) {
    const y = up.place(value);
    taken = Math.max(y, taken + 18);
    pen.dot(x, y, 5, colour, pen.theme.background);
    pen.write(value.toFixed(2), x + 10, taken - 10, { colour, size: 14, weight: 650 });
  }
}

/**
 * The map of a run at a snapshot, and what it writes then.
 * @param {Pen} pen
 * @param {Box} box
 * @param {Example} example
 * @param {Run} run
 * @param {number} snapshot
 * @param {{ name: string, colour: string, texts: Texts }} look
 */
export function drawSentence(pen, { x, y, width, height }, example, run, snapshot, { name, colour, texts }) {
  const { queries, keys, head, step, target } = example;
  pen.write(name, x, y + 9, { colour, weight: 650, most: width });
  const place = { x, y: y + TITLE, width: width - 18, height: height - TITLE - BELOW_MAP };
  const { left, top, cell } = drawMap(pen, run.map.part(snapshot), { queries, keys, titles: ["", ""] }, place);
  const note = fillText(texts.map_note, { head, step: formatCount(step[snapshot]) });
  pen.note(note, left, top + cell * queries.length + 11, { size: 11, most: x + width - left });
  const text = run.translations[snapshot];
  const style = { size: 15, weight: 650, colour: text === target ? pen.theme.kinds.cross : pen.theme.text };
  let letters = text.length;
  while (letters && pen.measure(quoted(text, letters), style) > width) letters--;
  if (text) pen.write(quoted(text, letters), x, y + height - 12, style);
  else pen.note(texts.writes_nothing, x, y + height - 12, { size: 14, most: width });
}

/**
 * A text in quotes, cut after so many letters.
 * @param {string} text
 * @param {number} letters
 */
export function quoted(text, letters) {
  return `\u201c${text.length > letters ? `${text.slice(0, letters).trimEnd()} \u2026` : text}\u201d`;
}
