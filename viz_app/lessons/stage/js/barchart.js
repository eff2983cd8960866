// Named rows of bars on one axis; of several bars in a row each has a colour of its own.

import { Axis } from "../../../components/common/draw/plot.js";
import { tokenText } from "../../../components/common/text/tokens.js";

/**
 * A row. `texts`: the values as they are written; `note`: a second line below the name.
 * @typedef {{ name: string, values: number[], texts: string[], strong?: boolean, token?: boolean, note?: string,
 *   colours?: string[], alphas?: number[] }} BarRow
 */

/**
 * `ends` of the axis; `key`: names of the bars of a row; `colours`: their colours; `left`, `right`: room for names and
 * texts; `inside`: texts stand in long bars, not in a column of their own.
 * @typedef {{ ends: [low: number, high: number], log?: boolean, ticks?: [at: number, label: string][], title?: string,
 *   key?: string[], colours: string[], left?: number, right?: number, size?: number, track?: boolean }} BarStyle
 */

const KEY = 26;

/**
 * Draw rows of bars into a box.
 * @param {Pen} pen
 * @param {Box} box
 * @param {BarRow[]} rows
 * @param {BarStyle} style
 */
export function drawBars(pen, box, rows, { ends, log, ticks, title, key, colours, left, right, size = 14, track }) {
  const { theme } = pen;
  const top = box.y + (key ? KEY : 0);
  const foot = box.y + box.height - (title ? 42 : ticks ? 22 : 0);
  const lane = (foot - top) / Math.max(1, rows.length);
  const letters = Math.max(8, Math.min(size, lane - 3));
  const names = rows.map(({ name, token }) => (token ? tokenText(name) : name));
  /** @param {BarRow} row */
  const look = ({ token, strong }) => ({
    font: token ? theme.code : theme.font,
    size: letters,
    weight: strong ? 700 : 400,
  });
  const longest = Math.max(...rows.map((row, index) => pen.measure(names[index], { ...look(row), weight: 700 }))) + 18;
  const edge = left ?? Math.min(longest, box.width * 0.46);
  const widest = rows.flatMap(({ texts }) => texts.map((text) => pen.measure(text, { size: letters, weight: 700 })));
  const room = right ?? Math.min(Math.max(0, ...widest) + 12, box.width * 0.4);
  const axis = new Axis(ends[0], ends[1], box.x + edge, box.x + box.width - room, { log });
  const labels = new Map(ticks);
  if (ticks) {
    const show = (/** @type {number} */ tick) => labels.get(tick) ?? "";
    pen.axis(axis, "bottom", foot, { ticks: [...labels.keys()], grid: foot - top, show });
  }
  if (title) pen.note(title, axis.to, foot + 32, { align: "right", most: box.width });
  let along = axis.from;
  for (const [index, name] of (key ?? []).entries()) {
    pen.write(name, along, box.y + 10, { size: 13, weight: 600, colour: colours[index] });
    along += pen.measure(name, { size: 13, weight: 600 }) + 20;
  }
  rows.forEach((row, at) => {
    const middle = top + (at + 0.5) * lane;
    const { values, texts, note, strong } = row;
    const lift = note ? letters * 0.65 : 0;
    if (names[at])
      pen.write(names[at], axis.from - 12, middle - lift, { ...look(row), align: "right", most: edge - 14 });
    if (note) pen.note(note, axis.from - 12, middle + lift, { size: 12, align: "right", most: edge - 14 });
    const thick = Math.min(values.length > 1 ? 15 : 26, (lane * 0.68) / values.length);
    values.forEach((value, bar) => {
      const y = middle + (bar - (values.length - 1) / 2) * (thick + 2);
      const colour = row.colours?.[bar] ?? colours[bar];
      const long = Math.min(axis.to, axis.place(Math.max(value, log ? axis.low : value))) - axis.from;
      if (track) pen.fill(axis.from, y - thick / 2, axis.to - axis.from, thick, theme.line);
      pen.fill(axis.from, y - thick / 2, Math.max(value > 0 ? 1 : 0, long), thick, colour, row.alphas?.[bar]);
      const tint = values.length > 1 ? { colour } : {};
      const end = track || key ? axis.to : axis.from + Math.max(0, long);
      pen.write(texts[bar], end + 8, y, {
        ...tint,
        size: Math.min(letters, values.length > 1 ? thick + 2 : letters),
        weight: strong ? 700 : 400,
        most: room - 8,
      });
    });
  });
  return axis;
}
