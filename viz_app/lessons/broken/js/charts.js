// The tests as pictures; each draws a healthy model (first row of its array) and a suspect (second row) into a box.

import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { plain } from "../../stage/js/map.js";
import { number, thousands } from "./case.js";

const LEFT = 44;
const RIGHT = 22;
const FOOT = 44;

/**
 * Loss of every recorded update.
 * @param {Pen} pen
 * @param {Record<string, NdArray>} given
 * @param {{ x: number, y: number, width: number, height: number }} box
 * @param {string[]} colours
 * @param {string[]} titles
 */
export function drawLoss({ context, theme }, { step, loss }, box, colours, titles) {
  const records = loss.shape[1];
  const across = new Axis(0, step.at(0, records - 1), box.x + LEFT, box.x + box.width - RIGHT);
  const up = new Axis(0, Math.ceil(Math.max(...loss.data)), box.y + box.height - FOOT, box.y + 22);
  frame(context, theme, box, across, up, titles);
  for (const row of [0, 1]) {
    const points = Array.from({ length: records }, (_, i) => [
      across.place(step.at(row, i)),
      up.place(loss.at(row, i)),
    ]);
    trace(context, points, { colour: colours[row], width: 1.8 });
  }
}

/**
 * How alike the vectors of different pieces are, layer by layer.
 * @param {Pen} pen
 * @param {NdArray} alike
 * @param {{ x: number, y: number, width: number, height: number }} box
 * @param {string[]} colours
 * @param {string[]} titles
 */
export function drawVectors({ context, theme }, alike, box, colours, titles) {
  const last = alike.shape[1] - 1;
  const across = new Axis(-0.15, last + 0.15, box.x + LEFT, box.x + box.width - RIGHT);
  const up = new Axis(Math.min(-0.1, ...alike.data), 1.05, box.y + box.height - FOOT, box.y + 22);
  frame(
    context,
    theme,
    box,
    across,
    up,
    titles,
    Array.from({ length: last + 1 }, (_, i) => i),
    [0, 0.25, 0.5, 0.75, 1],
  );
  for (const row of [0, 1]) {
    const points = Array.from({ length: last + 1 }, (_, i) => [across.place(i), up.place(alike.at(row, i))]);
    trace(context, points, { colour: colours[row], width: 1.4, alpha: 0.7 });
    points.forEach(([x, y], i) => {
      dot(context, x, y, 5.5, colours[row]);
      const above =
        alike.at(row, i) >= alike.at(1 - row, i) === (row === 1 || alike.at(row, i) !== alike.at(1 - row, i));
      write(context, number(alike.at(row, i)), x, y + (above ? -15 : 15), {
        colour: theme.text,
        font: theme.font,
        size: 13,
        weight: 600,
        align: "center",
      });
    });
  }
}

/**
 * How evenly each head looks around.
 * @param {Pen} pen
 * @param {NdArray} evenness
 * @param {{ x: number, y: number, width: number, height: number }} box
 * @param {string[]} colours
 * @param {string[]} titles
 * @param {number} heads
 */
export function drawEvenness({ context, theme }, evenness, box, colours, titles, heads) {
  const count = evenness.shape[1];
  const across = new Axis(-0.7, count - 0.3, box.x + LEFT, box.x + box.width - RIGHT);
  const up = new Axis(0, 1.03, box.y + box.height - FOOT, box.y + 22);
  const each = box.width < 480 ? 2 : 1;
  frame(context, theme, box, across, up, titles, [], [0, 0.25, 0.5, 0.75, 1]);
  for (let head = 0; head < count; head++) {
    const x = across.place(head);
    trace(
      context,
      [0, 1].map((row) => [x, up.place(evenness.at(row, head))]),
      { colour: theme.line, width: 2 },
    );
    for (const row of [0, 1]) dot(context, x, up.place(evenness.at(row, head)), 5, colours[row]);
    if (head % each === 0)
      write(context, headName(head, heads), x, up.from + 12, {
        colour: theme.muted,
        font: theme.font,
        size: 12,
        align: "center",
      });
  }
}

/**
 * How much the vectors of each word change when the words stand in reverse order.
 * @param {Pen} pen
 * @param {{ moved: any, words: any[] }} given
 * @param {{ x: number, y: number, width: number, height: number }} box
 * @param {string[]} colours
 * @param {string} title
 */
export function drawOrder({ context, theme }, { moved, words }, box, colours, title) {
  const longest = Math.min(120, box.width * 0.3);
  const across = new Axis(0, Math.max(1, ...moved.data), box.x + longest + 12, box.x + box.width - 48);
  const lane = Math.min(40, (box.height - FOOT - 4) / words.length);
  const bottom = box.y + lane * words.length;
  drawAxis(context, across, "bottom", bottom + 4, { theme, ticks: across.ticks(4), grid: lane * words.length, title });
  words.forEach((word, index) => {
    const y = box.y + (index + 0.5) * lane;
    write(context, plain(word), box.x + longest, y, {
      colour: theme.text,
      font: theme.code,
      size: Math.min(14, lane),
      align: "right",
      most: longest,
    });
    for (const row of [0, 1]) {
      const tall = Math.min(10, lane * 0.36);
      const top = y + (row ? 1 : -tall - 1);
      const end = across.place(moved.at(row, index));
      context.fillStyle = colours[row];
      context.fillRect(across.from, top, Math.max(1.5, end - across.from), tall);
      if (row)
        write(context, number(moved.at(row, index)), end + 6, top + tall / 2, {
          colour: theme.text,
          font: theme.font,
          size: Math.min(12, lane * 0.45 + 3),
        });
    }
  });
}

/**
 * 9 of 8 heads a layer -> "2.2"
 * @param {number} head
 * @param {number} heads
 */
export function headName(head, heads) {
  return `${Math.floor(head / heads) + 1}.${(head % heads) + 1}`;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Theme} theme
 * @param {{ x: number, y: number, width: number, height: number }} box
 * @param {Axis} across
 * @param {Axis} up
 * @param {string[]} titles
 * @param {number[]} [ticks]
 * @param {number[]} [levels]
 */
function frame(
  context,
  theme,
  box,
  across,
  up,
  titles,
  ticks = across.ticks(box.width > 500 ? 6 : 3),
  levels = up.ticks(5),
) {
  const style = { colour: theme.muted, font: theme.font, size: 12.5 };
  drawAxis(context, up, "left", across.from, { theme, grid: across.to - across.from, ticks: levels });
  drawAxis(context, across, "bottom", up.from, { theme, ticks, show: thousands });
  write(context, titles[1], box.x, box.y + 8, { ...style, most: box.width });
  write(context, titles[0], across.to, up.from + 32, { ...style, align: "right", most: box.width });
}
