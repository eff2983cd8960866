// Does the log-probability fall where a method says? Without what it names first, beside random words or heads.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, signed } from "../../../components/common/text/format.js";

/** @typedef {import("./numbers").Check} Check */

/**
 * The check in words.
 * @param {string} text
 * @param {Check} check
 */
export function checkText(text, { first, random }) {
  const count = first.length;
  return fillText(text, { count, first: signed(-first[count - 1], 2), random: signed(-random[count - 1], 2) });
}

/**
 * By how much the log-probability falls when more and more is left out.
 * @param {Pen} pen
 * @param {Texts} texts
 * @param {string} title
 * @param {Check} check
 * @param {Box} place
 */
export function drawCheck(pen, texts, title, check, { x, y, width, height }) {
  const { theme } = pen;
  const all = [0, ...check.first, ...check.random, ...check.last];
  const across = new Axis(0, check.first.length, x + 40, x + width - 96);
  const down = new Axis(Math.min(...all), Math.max(...all, 0.1), y + height - 14, y + 24);
  pen.note(title, x, y + 10, { size: 12, most: width });
  for (const tick of down.ticks(2)) {
    pen.line(across.from, down.place(tick), across.to, down.place(tick), { colour: theme.line, width: 1 });
    pen.note(signed(tick, 1), across.from - 6, down.place(tick), { size: 11, align: "right" });
  }
  const lines = /** @type {[string, number[], string, number[]][]} */ ([
    [texts.check_first, check.first, theme.text, []],
    [texts.check_random, check.random, theme.muted, [4, 3]],
    [texts.check_last, check.last, theme.kinds.encoder, []],
  ]);
  for (const [, values, colour, dash] of lines) {
    const points = [0, ...values].map((value, count) => [across.place(count), down.place(value)]);
    pen.trace(points, { colour, width: 2, dash });
  }
  const ends = lines.map(([name, values, colour]) => ({ name, colour, y: down.place(values[values.length - 1]) }));
  writeEnds(pen, ends, across.to + 6, 90);
}

/**
 * The names of curves beside their ends, none on another.
 * @param {Pen} pen
 * @param {{ name: string, colour: string, y: number }[]} ends
 * @param {number} x
 * @param {number} most Width of a name.
 */
export function writeEnds(pen, ends, x, most) {
  let last = -Infinity;
  for (const { name, colour, y } of [...ends].sort((one, other) => one.y - other.y)) {
    last = Math.max(y, last + 15);
    pen.write(name, x, last, { size: 11, colour, most });
  }
}
