// The tests as figures; each draws a healthy model (first row of its array) and a suspect (second row) into a box.

import { Axis } from "../../../components/common/draw/plot.js";
import { formatCount, headName, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";

const LEFT = 44;
const RIGHT = 22;
const FOOT = 44;
const QUARTERS = [0, 0.25, 0.5, 0.75, 1];

/**
 * Loss of every recorded update.
 * @param {Pen} pen
 * @param {Arrays} arrays
 * @param {Box} box
 * @param {string[]} colours
 * @param {string[]} titles
 */
export function drawLoss(pen, { step, loss }, box, colours, titles) {
  const records = loss.shape[1];
  const { across, up } = axes(box, [0, step.at(0, records - 1)], [0, Math.ceil(Math.max(...loss.data))]);
  frame(pen, box, across, up, titles);
  colours.forEach((colour, row) => {
    const points = Array.from({ length: records }, (_, i) => [
      across.place(step.at(row, i)),
      up.place(loss.at(row, i)),
    ]);
    pen.trace(points, { colour, width: 1.8 });
  });
}

/**
 * How alike the vectors of different tokens are, layer by layer.
 * @param {Pen} pen
 * @param {NdArray} alike
 * @param {Box} box
 * @param {string[]} colours
 * @param {string[]} titles
 */
export function drawVectors(pen, alike, box, colours, titles) {
  const layers = Array.from({ length: alike.shape[1] }, (_, layer) => layer);
  const { across, up } = axes(box, [-0.15, layers.length - 0.85], [Math.min(-0.1, ...alike.data), 1.05]);
  frame(pen, box, across, up, titles, layers, QUARTERS);
  colours.forEach((colour, row) => {
    const points = layers.map((layer) => [across.place(layer), up.place(alike.at(row, layer))]);
    pen.trace(points, { colour, width: 1.4, alpha: 0.7 });
    points.forEach(([x, y], layer) => {
      const [own, other] = [alike.at(row, layer), alike.at(1 - row, layer)];
      const above = own === other ? row === 1 : own > other;
      pen.dot(x, y, 5.5, colour);
      pen.write(signed(own), x, y + (above ? -15 : 15), { weight: 600, align: "center" });
    });
  });
}

/**
 * How evenly each head looks around.
 * @param {Pen} pen
 * @param {NdArray} evenness
 * @param {Box} box
 * @param {string[]} colours
 * @param {string[]} titles
 * @param {number} heads Of a layer.
 */
export function drawEvenness(pen, evenness, box, colours, titles, heads) {
  const count = evenness.shape[1];
  const { across, up } = axes(box, [-0.7, count - 0.3], [0, 1.03]);
  frame(pen, box, across, up, titles, [], QUARTERS);
  for (let head = 0; head < count; head++) {
    const x = across.place(head);
    const [one, other] = [0, 1].map((row) => up.place(evenness.at(row, head)));
    pen.line(x, one, x, other, { colour: pen.theme.line, width: 2 });
    pen.dot(x, one, 5, colours[0]);
    pen.dot(x, other, 5, colours[1]);
    if (box.width >= 480 || head % 2 === 0) pen.note(nameOf(head, heads), x, up.from + 12, { align: "center" });
  }
}

/**
 * How much the vectors of each word change when the words stand in reverse order.
 * @param {Pen} pen
 * @param {{ moved: NdArray, words: string[] }} change
 * @param {Box} box
 * @param {string[]} colours
 * @param {string} title
 */
export function drawOrder(pen, { moved, words }, box, colours, title) {
  const longest = Math.min(120, box.width * 0.3);
  const across = new Axis(0, Math.max(1, ...moved.data), box.x + longest + 12, box.x + box.width - 48);
  const lane = Math.min(40, (box.height - FOOT - 4) / words.length);
  const tall = Math.min(10, lane * 0.36);
  const high = lane * words.length;
  pen.axis(across, "bottom", box.y + high + 4, { ticks: across.ticks(4), grid: high, title });
  words.forEach((word, index) => {
    const y = box.y + (index + 0.5) * lane;
    const style = { font: pen.theme.code, size: Math.min(14, lane), align: "right", most: longest };
    pen.write(tokenText(word), box.x + longest, y, style);
    const [one, other] = [0, 1].map((row) => Math.max(1.5, across.place(moved.at(row, index)) - across.from));
    pen.fill(across.from, y - tall - 1, one, tall, colours[0]);
    pen.fill(across.from, y + 1, other, tall, colours[1]);
    const end = across.place(moved.at(1, index));
    pen.write(signed(moved.at(1, index)), end + 6, y + 1 + tall / 2, { size: Math.min(12, lane * 0.45 + 3) });
  });
}

/**
 * Head 9 where each layer has 8 -> "2.2"
 * @param {number} head
 * @param {number} heads Of a layer.
 */
export function nameOf(head, heads) {
  return headName(Math.floor(head / heads), head % heads);
}

/**
 * @param {Box} box
 * @param {[low: number, high: number]} x
 * @param {[low: number, high: number]} y
 */
function axes(box, x, y) {
  return {
    across: new Axis(...x, box.x + LEFT, box.x + box.width - RIGHT),
    up: new Axis(...y, box.y + box.height - FOOT, box.y + 22),
  };
}

/**
 * @param {Pen} pen
 * @param {Box} box
 * @param {Axis} across
 * @param {Axis} up
 * @param {string[]} titles
 * @param {number[]} [ticks]
 * @param {number[]} [levels]
 */
function frame(pen, box, across, up, titles, ticks = across.ticks(box.width > 500 ? 6 : 3), levels = up.ticks(5)) {
  const style = { size: 12.5, most: box.width };
  pen.axis(up, "left", across.from, { grid: across.to - across.from, ticks: levels });
  pen.axis(across, "bottom", up.from, { ticks, show: formatCount });
  pen.note(titles[1], box.x, box.y + 8, style);
  pen.note(titles[0], across.to, up.from + 32, { ...style, align: "right" });
}
