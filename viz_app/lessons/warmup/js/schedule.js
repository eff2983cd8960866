// Shared parts of the schedule scenes: the plot with both branches and their minimum, texts on plates.

import { Axis } from "../../../components/common/draw/plot.js";
import { formatCount } from "../../../components/common/text/format.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { falling, peak, rate, rising } from "./rate.js";

export const STEPS = 20000; // shown
const LEFT = 40;
const RIGHT = 24;
const TOP = 30;
const FOOT = 40;
const POINTS = 400;
const DASH = [6, 5];

/** @extends {Scene<import("./numbers").Values>} */
export class ScheduleScene extends Scene {
  size = { least: 300, share: 0.62 };

  get paper() {
    return this.lesson.values.paper;
  }
}

/** The learning rate over the steps, drawn with a pen. */
export class Plot {
  /**
   * @param {Pen} pen
   * @param {number} top The highest rate.
   */
  constructor(pen, top) {
    this.pen = pen;
    this.across = new Axis(0, STEPS, LEFT, pen.width - RIGHT);
    this.up = new Axis(0, top, pen.height - FOOT, TOP);
  }

  /** @param {Texts} texts */
  axes(texts) {
    const { pen, across, up } = this;
    const { width, height } = pen;
    pen.axis(up, "left", LEFT, {
      grid: across.to - across.from,
      ticks: up.ticks(height > 360 ? 6 : 4),
      show: (value) => String(Number((value * 1e4).toPrecision(3))),
    });
    pen.axis(across, "bottom", height - FOOT, { ticks: across.ticks(!isNarrow(width) ? 8 : 4), show: formatCount });
    pen.note(texts.rate_axis, 0, 9);
    pen.note(texts.step_axis, width - RIGHT, height - 6, { align: "right" });
  }

  /**
   * Runs `draw` where nothing leaves the plot.
   * @param {() => void} draw
   */
  inside(draw) {
    const { across, up } = this;
    const { context } = this.pen;
    context.save();
    context.beginPath();
    context.rect(across.from, up.to - 12, across.to - across.from + 4, up.from - up.to + 13);
    context.clip();
    draw();
    context.restore();
  }

  /**
   * A curve over all steps from 1 on.
   * @param {(step: number) => number} rateAt
   * @param {LineStyle} style
   */
  curve(rateAt, style) {
    const points = Array.from({ length: POINTS + 1 }, (_, index) => {
      const step = Math.max(1, (STEPS * index) / POINTS);
      return [this.across.place(step), this.up.place(rateAt(step))];
    });
    this.inside(() => this.pen.trace(points, { dash: DASH, ...style }));
  }

  /**
   * The minimum of both branches up to a step, with its corner exactly at the warm-up.
   * @param {number} width
   * @param {number} warmup
   * @param {LineStyle} style
   * @param {number} [last]
   */
  minimum(width, warmup, style, last = STEPS) {
    const { across, up } = this;
    const falling = Array.from({ length: POINTS + 1 }, (_, index) => {
      const step = warmup + ((last - warmup) * index) / POINTS;
      return [across.place(step), up.place(rate(step, width, warmup))];
    });
    this.pen.trace([[across.place(0), up.place(0)], ...falling], style);
  }

  /**
   * Both branches, dashed.
   * @param {number} width
   * @param {number} warmup
   */
  branches(width, warmup) {
    const { encoder, decoder } = this.pen.theme.kinds;
    this.curve((step) => rising(step, width, warmup), { colour: encoder, width: 1.75 });
    this.curve((step) => falling(step, width), { colour: decoder, width: 1.75 });
  }

  /**
   * The names of both branches beside them, as far as there is room, and away from a step where something else stands.
   * @param {number} width
   * @param {number} warmup
   * @param {number} step
   */
  branchNames(width, warmup, step) {
    const { pen, across, up } = this;
    const { encoder, decoder } = pen.theme.kinds;
    if (isNarrow(pen.width)) return;
    const high = warmup * 1.18;
    const along = STEPS * (step > STEPS * 0.55 && step < STEPS * 0.95 ? 0.4 : 0.78);
    const [x, y] = [across.place(high) + 14, up.place(rising(high, width, warmup))];
    power(pen, "step \u00b7 warmup_steps", "\u22121.5", x, y, encoder);
    power(pen, "step", "\u22120.5", across.place(along), up.place(falling(along, width)) - 20, decoder);
  }

  /**
   * The place of the peak in pixels.
   * @param {number} width
   * @param {number} warmup
   */
  peak(width, warmup) {
    return { x: this.across.place(warmup), y: this.up.place(peak(width, warmup)) };
  }

  /**
   * Lines of text on a plate right of a point, or left of it where there is no room.
   * @param {string[]} lines
   * @param {number} x
   * @param {number} y
   * @param {string} colour
   */
  plate(lines, x, y, colour) {
    const { pen } = this;
    const { width, theme } = pen;
    const wide = Math.max(...lines.map((line) => pen.measure(line, { size: 14, weight: 600 }))) + 20;
    const high = lines.length * 20 + 10;
    const left = Math.max(0, Math.min(width - wide, x + 14 + wide > width ? x - 14 - wide : x + 14));
    const top = Math.max(0, y - high / 2);
    pen.box(left, top, wide, high, { fill: theme.background, alpha: 0.92, line: colour });
    lines.forEach((line, index) => {
      const style = index ? { size: 14 } : { colour, size: 14, weight: 600 };
      pen.write(line, left + 10, top + 15 + 20 * index, style);
    });
  }
}

/**
 * @param {Pen} pen
 * @param {string} base
 * @param {string} exponent
 * @param {number} x
 * @param {number} y
 * @param {string} colour
 */
function power(pen, base, exponent, x, y, colour) {
  const style = { colour, size: 14, weight: 600 };
  pen.write(base, x, y, style);
  pen.write(exponent, x + pen.measure(base, style) + 1, y - 6, { ...style, size: 10 });
}
