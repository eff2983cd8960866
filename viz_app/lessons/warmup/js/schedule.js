// What the scenes of the schedule share: the plot, the two branches and their minimum, texts on plates.

import { Axis, drawAxis, trace, write } from "../../../components/common/plot.js";
import { falling, peak, rate, rising, thousands } from "./rate.js";

export const STEPS = 20000; // shown
const LEFT = 40;
const RIGHT = 24;
const TOP = 30;
const FOOT = 40;
const POINTS = 400;

/**
 * Both axes of a schedule whose highest rate is `top`.
 * @param {number} width
 * @param {number} height
 * @param {number} top
 */
export function axes(width, height, top) {
  return { across: new Axis(0, STEPS, LEFT, width - RIGHT), up: new Axis(0, top, height - FOOT, TOP) };
}

/**
 * @param {Pen} pen
 * @param {{ across: Axis, up: Axis }} given
 * @param {Texts} texts
 */
export function drawAxes({ context, width, height, theme }, { across, up }, texts) {
  const plot = { theme, grid: across.to - across.from };
  drawAxis(context, up, "left", LEFT, {
    ...plot,
    ticks: up.ticks(height > 360 ? 6 : 4),
    show: (value) => String(Number((value * 1e4).toPrecision(3))),
  });
  drawAxis(context, across, "bottom", height - FOOT, {
    theme,
    ticks: across.ticks(width > 560 ? 8 : 4),
    show: thousands,
  });
  const style = { colour: theme.muted, font: theme.font, size: 12 };
  write(context, texts.rate_axis, 0, 9, style);
  write(context, texts.step_axis, width - RIGHT, height - 6, { ...style, align: "right" });
}

/**
 * Runs `draw` where nothing leaves the plot.
 * @param {CanvasRenderingContext2D} context
 * @param {{ across: Axis, up: Axis }} given
 * @param {() => void} draw
 */
export function inside(context, { across, up }, draw) {
  context.save();
  context.beginPath();
  context.rect(across.from, up.to - 12, across.to - across.from + 4, up.from - up.to + 13);
  context.clip();
  draw();
  context.restore();
}

/**
 * A curve of the schedule: `each(step)`, from step 1 on.
 * @param {CanvasRenderingContext2D} context
 * @param {{ across: Axis, up: Axis }} given
 * @param {any} each
 * @param {{ colour: string, dash: number[], width: number } | { colour: string, dash: number[] }} style
 */
export function curve(context, { across, up }, each, style) {
  const points = [];
  for (let place = 0; place <= POINTS; place++) {
    const step = Math.max(1, (STEPS * place) / POINTS);
    points.push([across.place(step), up.place(each(step))]);
  }
  trace(context, points, style);
}

/**
 * The minimum up to a step, with its corner exactly at the warm-up.
 * @param {CanvasRenderingContext2D} context
 * @param {{ across: Axis, up: Axis }} given
 * @param {number} width
 * @param {number} warmup
 * @param {{ colour: string, width: number }} style
 * @param {number} [last]
 */
export function minimum(context, { across, up }, width, warmup, style, last = STEPS) {
  const points = [[across.place(0), up.place(0)]];
  for (let place = 0; place <= POINTS; place++) {
    const step = warmup + ((last - warmup) * place) / POINTS;
    points.push([across.place(step), up.place(rate(step, width, warmup))]);
  }
  trace(context, points, style);
}

/**
 * Both branches, dashed.
 * @param {Pen} pen
 * @param {{ across: Axis, up: Axis }} plot
 * @param {number} width
 * @param {number} warmup
 */
export function branches({ context, theme }, plot, width, warmup) {
  inside(context, plot, () => {
    curve(context, plot, (step) => rising(step, width, warmup), {
      colour: theme.kinds.encoder,
      dash: [6, 5],
      width: 1.75,
    });
    curve(context, plot, (step) => falling(step, width), { colour: theme.kinds.decoder, dash: [6, 5], width: 1.75 });
  });
}

/**
 * The names of both branches beside them, as far as there is room, and away from a step where something else stands.
 * @param {Pen} pen
 * @param {{ across: Axis, up: Axis }} given
 * @param {number} width
 * @param {number} warmup
 * @param {number} step
 */
export function branchNames({ context, theme, width: room }, { across, up }, width, warmup, step) {
  if (room < 520) return;
  const high = warmup * 1.18;
  const along = STEPS * (step > STEPS * 0.55 && step < STEPS * 0.95 ? 0.4 : 0.78);
  power(
    context,
    "step \u00b7 warmup_steps",
    "\u22121.5",
    across.place(high) + 14,
    up.place(rising(high, width, warmup)),
    { colour: theme.kinds.encoder, font: theme.font },
  );
  power(context, "step", "\u22120.5", across.place(along), up.place(falling(along, width)) - 20, {
    colour: theme.kinds.decoder,
    font: theme.font,
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} base
 * @param {string} exponent
 * @param {number} x
 * @param {number} y
 * @param {{ colour: string, font: string }} style
 */
function power(context, base, exponent, x, y, style) {
  write(context, base, x, y, { ...style, size: 14, weight: 600 });
  context.font = `600 14px ${style.font}`;
  write(context, exponent, x + context.measureText(base).width + 1, y - 6, { ...style, size: 10, weight: 600 });
}

/**
 * The place of the peak in pixels.
 * @param {{ across: Axis, up: Axis }} given
 * @param {number} width
 * @param {number} warmup
 */
export function peakPlace({ across, up }, width, warmup) {
  return { x: across.place(warmup), y: up.place(peak(width, warmup)) };
}

/**
 * Lines of text on a plate beside a point, kept inside the picture; `side`: 1 right of the point, -1 left.
 * @param {Pen} pen
 * @param {string[]} lines
 * @param {number} x
 * @param {number} y
 * @param {{ colour: string, side?: number }} style
 */
export function plate({ context, width, theme }, lines, x, y, { colour, side = 1 }) {
  context.save();
  context.font = `600 14px ${theme.font}`;
  const wide = Math.max(...lines.map((line) => context.measureText(line).width)) + 20;
  const high = lines.length * 20 + 10;
  const turned = side > 0 ? x + 14 + wide > width : x - 14 - wide < 0;
  const right = turned ? side < 0 : side > 0;
  const left = Math.max(0, Math.min(width - wide, right ? x + 14 : x - 14 - wide));
  const top = Math.max(0, y - high / 2);
  context.globalAlpha = 0.92;
  context.fillStyle = theme.background;
  context.beginPath();
  context.roundRect(left, top, wide, high, 6);
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.stroke();
  lines.forEach((line, index) =>
    write(context, line, left + 10, top + 15 + 20 * index, {
      colour: index ? theme.text : colour,
      font: theme.font,
      size: 14,
      weight: index ? 400 : 600,
    }),
  );
  context.restore();
}
