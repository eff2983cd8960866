// Named rows of points or bars, from a description that Python sends (chart_data.py), or that a scene makes.

import { Axis } from "../../../components/common/draw/plot.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { isNarrow } from "./layout.js";

/**
 * One column of numbers. `texts`: the values as they are written; `base`: where lines to the points begin; `low`, `high`:
 * a band; `marks`: small marks beside a point; `colours`: of the points; `asides`: a word after each value;
 * `short`: the title on a phone; `none`: a note in place of a column without numbers.
 * @typedef {{ title: string, axis: string, values: (number | null)[], texts: string[], ends: [number, number],
 *   ticks: [at: number, label: string][], log?: boolean, base?: number | null, low?: (number | null)[] | null,
 *   high?: (number | null)[] | null, hollow?: boolean[], marks?: number[][], colours?: string[], asides?: string[], short?: string, none?: string }} Column
 */

/**
 * Rows and their columns. `strong`: rows that stand out; `tokens`: names are tokens; `below`: columns stand below each
 * other, each with the rows in which it has a number; `first`: place of the first column, for its colour.
 * @typedef {{ rows: string[], columns: Column[], strong?: number[], tokens?: boolean, below?: boolean, row_title?: string,
 *   first?: number }} RowsData
 */

const TOP = 34;
const FOOT = 46;
const LANE = 60; // pixels at most

/**
 * Draw rows of points.
 * @param {Pen} pen
 * @param {Box} box
 * @param {RowsData} data
 */
export function drawRows(pen, box, data) {
  if (!data.below) return drawColumns(pen, box, data, data.first);
  const parts = data.columns.map((column) => only(data, column)).filter(({ rows }) => rows.length);
  const room = (box.height - parts.length * (TOP + FOOT)) / parts.reduce((sum, { rows }) => sum + rows.length, 0);
  const lane = Math.min(LANE, room);
  let { y } = box;
  for (const part of parts) {
    const height = TOP + FOOT + lane * part.rows.length;
    drawColumns(pen, { ...box, y, height }, part, parts.indexOf(part));
    y += height;
  }
}

/**
 * The rows in which a column has a number.
 * @param {RowsData} data
 * @param {Column} column
 * @returns {RowsData}
 */
function only({ rows, strong, tokens }, column) {
  const kept = rows.map((_, row) => row).filter((row) => column.values[row] !== null);
  /** @type {(all: any[]) => any[]} */
  const pick = (all) => kept.map((row) => all[row]);
  const picked = Object.entries(column).map(([name, value]) => [
    name,
    Array.isArray(value) && !["ends", "ticks"].includes(name) ? pick(value) : value,
  ]);
  return {
    rows: pick(rows),
    columns: [/** @type {Column} */ (Object.fromEntries(picked))],
    strong: strong?.map((row) => kept.indexOf(row)),
    tokens,
  };
}

/**
 * @param {Pen} pen
 * @param {Box} box
 * @param {RowsData} data
 * @param {number} [first] Place of the first column among all, for its colour.
 */
function drawColumns(pen, box, data, first = 0) {
  const { rows, columns, strong = [], tokens = false } = data;
  const narrow = isNarrow(pen.width);
  const single = columns.length === 1;
  const lane = Math.min(LANE, (box.height - TOP - FOOT) / rows.length);
  const size = Math.min(narrow ? 12 : 14, Math.max(9, lane * 0.8));
  const font = tokens ? pen.theme.code : pen.theme.font;
  const names = rows.map((row) => (tokens ? tokenText(row) : row));
  const longest = Math.max(...names.map((name) => pen.measure(name, { size, font, weight: 650 }))) + 14;
  const left = Math.min(longest, box.width * (single ? 0.46 : 0.28));
  const asides = columns.some((column) => column.asides);
  const words = narrow && !single ? 0 : asides && !narrow ? 170 : 52;
  const each = (box.width - left) / columns.length - words - (narrow ? 16 : 22);
  const top = box.y + TOP;
  names.forEach((name, row) => {
    const style = { size, font, align: "right", weight: strong.includes(row) ? 650 : 400, most: left - 12 };
    pen.write(name, box.x + left - 12, top + (row + 0.5) * lane, style);
  });
  columns.forEach((column, index) => {
    const from = box.x + left + index * (each + words + (narrow ? 16 : 22));
    const title = { size: narrow ? 11.5 : 12.5, weight: 650, most: each + words + (narrow ? 10 : 0) };
    pen.write((narrow && column.short) || column.title, single ? box.x : from, box.y + 10, {
      ...title,
      ...(single ? { most: box.width } : {}),
    });
    if (column.none) return pen.note(column.none, from, top + 12, { size: 12.5, most: each + words });
    const axis = new Axis(...column.ends, from, from + each, { log: column.log });
    drawColumn(pen, column, axis, { top, lane, size, strong, words, colour: first + index, rows: rows.length });
  });
}

/**
 * @param {Pen} pen
 * @param {Column} column
 * @param {Axis} axis
 * @param {{ top: number, lane: number, size: number, strong: number[], words: number, colour: number, rows: number }} plan
 */
function drawColumn(pen, column, axis, { top, lane, size, strong, words, colour: place, rows }) {
  const { theme } = pen;
  const { encoder, decoder, cross } = theme.kinds;
  const foot = top + lane * rows;
  const texts = new Map(apart(pen, axis, column.ticks));
  pen.axis(axis, "bottom", foot + 4, { ticks: [...texts.keys()], show: (tick) => texts.get(tick) ?? "" });
  pen.note(column.axis, (axis.from + axis.to) / 2, foot + 36, { align: "center", most: axis.to - axis.from + 24 });
  const { base, values, low, high } = column;
  const start = typeof base === "number" ? axis.place(base) : axis.from;
  if (typeof base === "number") pen.line(start, top - 4, start, foot + 2, { colour: encoder, dash: [4, 4] });
  values.forEach((value, row) => {
    const y = top + (row + 0.5) * lane;
    const style = { size, align: "right" };
    const right = axis.to + 46;
    if (value === null) return words ? pen.note("\u2013", right, y, style) : undefined;
    const at = axis.place(value);
    const colour = column.colours?.[row] ?? (strong.includes(row) ? encoder : [decoder, cross][place % 2]);
    const [from, to] = [low?.[row], high?.[row]];
    if (typeof from === "number" && typeof to === "number") band(pen, axis, [from, to], y, lane);
    pen.line(start, y, at, y, { colour, width: lane < 30 ? 2 : 3 });
    for (const mark of column.marks?.[row] ?? [])
      pen.line(axis.place(mark), y - lane * 0.22, axis.place(mark), y + lane * 0.22, {
        colour: theme.text,
        width: 1.2,
      });
    const radius = Math.min(6, Math.max(3.5, lane * 0.2));
    if (column.hollow?.[row]) pen.dot(at, y, radius, theme.background, colour);
    else pen.dot(at, y, radius, colour, theme.background);
    if (words) {
      pen.write(column.texts[row], right, y, { ...style, weight: 650 });
      const aside = words > 60 && column.asides?.[row];
      if (aside) pen.note(aside, right + 10, y, { size: Math.min(12.5, size), most: words - 52 });
    } else if (lane >= 38) {
      const wide = pen.measure(column.texts[row], { size: 12 });
      const middle = Math.max(axis.from + wide / 2, Math.min(axis.to - wide / 2 + 10, at));
      pen.fill(middle - wide / 2 - 1, y + 9, wide + 2, 14, theme.background, 0.8);
      pen.write(column.texts[row], middle, y + 16, { size: 12, align: "center" });
    }
  });
}

/**
 * @param {Pen} pen
 * @param {Axis} axis
 * @param {[number, number]} ends
 * @param {number} y
 * @param {number} lane
 */
function band(pen, axis, ends, y, lane) {
  const [one, other] = ends.map((end) => axis.place(end));
  const alpha = pen.theme.dark ? 0.3 : 0.16;
  pen.fill(Math.min(one, other), y - lane * 0.36, Math.abs(other - one), lane * 0.72, pen.theme.kinds.encoder, alpha);
}

/**
 * Ticks that do not touch each other.
 * @param {Pen} pen
 * @param {Axis} axis
 * @param {[number, string][]} ticks
 */
function apart(pen, axis, ticks) {
  const wide = Math.max(0, ...ticks.map(([, text]) => pen.measure(text, { size: 12 }))) + 6;
  const places = ticks.map(([at]) => axis.place(at));
  const gaps = places.slice(1).map((place, index) => Math.abs(place - places[index]));
  const every = Math.max(1, Math.ceil(wide / Math.min(Infinity, ...gaps)));
  return ticks.filter((_, index) => index % every === 0);
}

/**
 * The numbers of rows as a table: a row for each, a column for each kind of number.
 * @param {RowsData} data
 * @returns {TableData}
 */
export function rowsTable({ rows, columns, row_title: title = "" }) {
  const parts = columns.flatMap(({ title, texts, low, high, asides }) => [
    { title, texts },
    ...(low ? [{ title: "95 %", texts: rows.map((_, row) => interval(low[row], high?.[row])) }] : []),
    ...(asides ? [{ title: "", texts: asides }] : []),
  ]);
  return {
    columns: [title, ...parts.map((part) => part.title)],
    rows: rows.map((name, row) => [name, ...parts.map((part) => part.texts[row])]),
  };
}

/**
 * @param {number | null | undefined} low
 * @param {number | null | undefined} high
 */
function interval(low, high) {
  const short = (/** @type {number} */ end) => String(Number(end.toPrecision(4)));
  return typeof low === "number" && typeof high === "number" ? `${short(low)} \u2013 ${short(high)}` : "";
}
