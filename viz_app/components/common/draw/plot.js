// Axes and small drawing helpers that scenes share. All lengths in CSS pixels.

import { typesetParts } from "./typeset.js";

/** A scale from numbers to pixels, linear or logarithmic. */
export class Axis {
  /**
   * @param {number} low The number at `from`.
   * @param {number} high The number at `to`.
   * @param {number} from Pixels.
   * @param {number} to Pixels.
   * @param {{ log?: boolean }} [options]
   */
  constructor(low, high, from, to, { log = false } = {}) {
    this.low = low;
    this.high = high;
    this.from = from;
    this.to = to;
    this.log = log;
  }

  /** @param {number} value */
  place(value) {
    const share = this.log
      ? Math.log(value / this.low) / Math.log(this.high / this.low)
      : (value - this.low) / (this.high - this.low);
    return this.from + share * (this.to - this.from);
  }

  /**
   * Pixels -> number, within the axis.
   * @param {number} place
   */
  value(place) {
    const share = Math.max(0, Math.min(1, (place - this.from) / (this.to - this.from)));
    return this.log ? this.low * (this.high / this.low) ** share : this.low + share * (this.high - this.low);
  }

  /**
   * Round numbers along the axis, about `count` of them.
   * @param {number} [count]
   */
  ticks(count = 5) {
    if (this.log) {
      const ticks = [];
      for (let power = Math.ceil(Math.log10(this.low) - 1e-9); 10 ** power <= this.high * (1 + 1e-9); power++)
        ticks.push(10 ** power);
      return ticks;
    }
    const rough = (this.high - this.low) / count;
    const base = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5].map((factor) => factor * base).find((each) => each >= rough - 1e-12) ?? 10 * base;
    const ticks = [];
    for (let tick = Math.ceil(this.low / step - 1e-9) * step; tick <= this.high + step * 1e-9; tick += step)
      ticks.push(Math.abs(tick) < step * 1e-9 ? 0 : tick);
    return ticks;
  }
}

/**
 * A line through points; a point that is null leaves a gap.
 * @param {CanvasRenderingContext2D} context
 * @param {(number[] | null | undefined | false)[]} points Each [x, y].
 * @param {LineStyle} style
 */
export function trace(context, points, { colour, width = 1.5, dash = [], alpha = 1 }) {
  context.save();
  context.globalAlpha = alpha;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.lineJoin = "round";
  context.setLineDash(dash);
  context.beginPath();
  let open = false;
  for (const point of points) {
    if (point && open) context.lineTo(point[0], point[1]);
    else if (point) context.moveTo(point[0], point[1]);
    open = Boolean(point);
  }
  context.stroke();
  context.restore();
}

/**
 * A straight line.
 * @param {CanvasRenderingContext2D} context
 * @param {number[]} from [x, y].
 * @param {number[]} to
 * @param {LineStyle} style
 */
export function rule(context, from, to, style) {
  trace(context, [from, to], style);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} colour
 * @param {string | null} [ring] The colour of a ring around it.
 */
export function dot(context, x, y, radius, colour, ring = null) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  if (!ring) return;
  context.strokeStyle = ring;
  context.lineWidth = 1.5;
  context.stroke();
}

const SMALLEST = 0.8; // of its size a text gets before it is cut
const SUBSCRIPT = 0.72; // of the size of the letters beside it
const LOWER = 0.26; // of that size a subscript stands lower

/**
 * Text at a point; `align` as of a canvas, `size` in pixels, cut with an ellipsis when wider than `most`. Symbols such as
 * d_k get a subscript, and a text with one is not cut.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {TextStyle} style
 */
export function write(
  context,
  text,
  x,
  y,
  { colour, font, size = 13, weight = 400, align = "left", baseline = "middle", most = Infinity, turn = 0 },
) {
  context.save();
  const parts = typesetParts(text);
  const fonts = [1, SUBSCRIPT].map((share) => (/** @type {number} */ by) => `${weight} ${share * by}px ${font}`);
  const widths = parts.map((part, index) => {
    context.font = fonts[index % 2](size);
    return context.measureText(part).width;
  });
  const width = widths.reduce((sum, each) => sum + each, 0);
  const shrink = width > most ? Math.max(SMALLEST, most / width) : 1;
  context.fillStyle = colour;
  context.textBaseline = /** @type {CanvasTextBaseline} */ (baseline);
  context.translate(x, y);
  if (turn) context.rotate(turn);
  if (parts.length === 1) {
    context.font = fonts[0](size * shrink);
    context.textAlign = /** @type {CanvasTextAlign} */ (align);
    context.fillText(fitted(context, text, most), 0, 0);
  } else {
    let left = align === "center" ? -(width * shrink) / 2 : align === "right" || align === "end" ? -width * shrink : 0;
    parts.forEach((part, index) => {
      context.font = fonts[index % 2](size * shrink);
      context.fillText(part, left, index % 2 ? LOWER * size * shrink : 0);
      left += widths[index] * shrink;
    });
  }
  context.restore();
}

/**
 * The longest start of a text that fits, with an ellipsis.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} most
 */
export function fitted(context, text, most) {
  if (most === Infinity || context.measureText(text).width <= most) return text;
  const letters = [...text];
  while (letters.length && context.measureText(`${letters.join("")}\u2026`).width > most) letters.pop();
  return `${letters.join("")}\u2026`;
}

/**
 * Ticks and labels below or left of a plot.
 * @param {CanvasRenderingContext2D} context
 * @param {Axis} axis
 * @param {"bottom" | "left"} side
 * @param {number} at Pixels: y of an axis below, x of one at the left.
 * @param {{ theme: Theme, ticks?: number[], show?: (tick: number) => string, grid?: number, title?: string }} options
 */
export function drawAxis(
  context,
  axis,
  side,
  at,
  { theme, ticks = axis.ticks(), show = String, grid = 0, title = "" },
) {
  const style = { colour: theme.muted, font: theme.font, size: 12 };
  for (const tick of ticks) {
    const place = axis.place(tick);
    if (grid) {
      const [from, to] =
        side === "bottom"
          ? [
              [place, at],
              [place, at - grid],
            ]
          : [
              [at, place],
              [at + grid, place],
            ];
      rule(context, from, to, { colour: theme.line, width: 1, alpha: 0.7 });
    }
    if (side === "bottom") write(context, show(tick), place, at + 12, { ...style, align: "center" });
    else write(context, show(tick), at - 8, place, { ...style, align: "right" });
  }
  if (!title) return;
  if (side === "bottom") write(context, title, (axis.from + axis.to) / 2, at + 30, { ...style, align: "center" });
  else write(context, title, at - 46, (axis.from + axis.to) / 2, { ...style, align: "center", turn: -Math.PI / 2 });
}
