// One side of Table 3: a lane for each model, its value as a point, its difference to base as a line.

import { axisTicks } from "./measures.js";

/** @typedef {import("./measures.js").Line} Line */
/** @typedef {import("./measures.js").Measure} Measure */
/** @typedef {import("./measures.js").Value} Value */

export const TOP = 56;
const FOOT = 46;
const NARROW = 620;
const MAX_LANE = 60;

/**
 * Where everything stands: lanes from the top, the paper's panel on the left, ours on the right.
 * @param {Pen} pen
 * @param {number} count How many lanes.
 */
export function arrange({ width, height }, count) {
  const narrow = width < NARROW;
  const numbers = narrow ? 0 : Math.min(106, width * 0.14);
  const words = narrow ? 0 : 66;
  const left = narrow ? 106 : 140;
  const gap = narrow ? 16 : 30;
  const each = (width - left - 2 * numbers - words - gap - 12) / 2;
  const lane = Math.min(MAX_LANE, (height - TOP - FOOT) / count);
  return { narrow, numbers, left, each, lane, second: left + each + numbers + gap, foot: TOP + lane * count };
}

export class Panel {
  /**
   * @param {Pen} pen
   * @param {Texts} texts
   * @param {ReturnType<typeof arrange>} plan
   * @param {{ axis: Axis, measure: Measure, read: Measure["ours"], colours: { base: string, other: string } }} side
   *   `read`: the value of a line on this side; `colours`: of the point of base, and of the others.
   */
  constructor(pen, texts, plan, { axis, measure, read, colours }) {
    this.pen = pen;
    this.texts = texts;
    this.plan = plan;
    this.axis = axis;
    this.measure = measure;
    this.read = read;
    this.colours = colours;
    this.style = { size: Math.min(14, Math.max(10, plan.lane * 0.62)), align: "right" };
  }

  /** @param {Line[]} lines Base first. */
  draw(lines) {
    const { pen, axis, plan, measure, texts } = this;
    const { narrow, foot, each, lane } = plan;
    pen.axis(axis, "bottom", foot + 6, { ticks: axisTicks(axis, narrow ? 3 : 5) });
    const title = measure.better ? `${measure.unit} \u00b7 ${texts.better} \u2192` : texts.millions;
    pen.note(title, (axis.from + axis.to) / 2, foot + 38, { align: "center", most: each + 16 });
    const base = this.read(lines[0]);
    const x = base && axis.place(base.mean);
    if (x) pen.line(x, TOP - 8, x, foot + 4, { colour: this.colours.base, dash: [4, 4] });
    lines.forEach((line, index) => this.lane(line, base, TOP + (index + 0.5) * lane));
  }

  /**
   * @param {Line} line
   * @param {Value | null | undefined} base
   * @param {number} y
   */
  lane(line, base, y) {
    const { pen, axis, plan, colours } = this;
    const { background, muted } = pen.theme;
    const value = this.read(line);
    if (!value) return pen.note("\u2013", axis.to + plan.numbers * 0.42, y, this.style);
    const colour = line.row === "base" ? colours.base : colours.other;
    const at = axis.place(value.mean);
    if (value.band) this.band(value.band, y);
    if (base) pen.line(axis.place(base.mean), y, at, y, { colour, width: plan.lane < 30 ? 2 : 3 });
    if (value.seeds && value.seeds.length > 1) for (const seed of value.seeds) pen.dot(axis.place(seed), y, 2, muted);
    const radius = Math.min(6, Math.max(3.5, plan.lane * 0.2));
    // Empty where luck alone may have done it.
    if (value.verdict === "noise") pen.dot(at, y, radius, background, colour);
    else pen.dot(at, y, radius, colour, background);
    if (plan.narrow) this.numberBelow(value, y + 16);
    else this.numbers(value, line.row === "base" ? null : base, y);
  }

  /**
   * What luck alone may do, behind a lane.
   * @param {[number, number]} band
   * @param {number} y
   */
  band(band, y) {
    const { pen, plan } = this;
    const [one, other] = band.map((end) => this.axis.place(end));
    const [left, top] = [Math.min(one, other), y - plan.lane * 0.36];
    const alpha = pen.theme.dark ? 0.3 : 0.16;
    pen.fill(left, top, Math.abs(other - one), plan.lane * 0.72, this.colours.base, alpha);
  }

  /**
   * The value under its point, where there is room, with space of its own on the line of base.
   * @param {Value} value
   * @param {number} y
   */
  numberBelow({ mean }, y) {
    const { pen, axis, plan, measure } = this;
    if (plan.lane < 38) return;
    const x = Math.max(axis.from + 10, Math.min(axis.to - 6, axis.place(mean)));
    const text = measure.show(mean);
    const wide = text.length * 7;
    pen.fill(x - wide / 2 - 1, y - 7, wide + 2, 14, pen.theme.background, 0.8);
    pen.write(text, x, y, { size: 12, align: "center" });
  }

  /**
   * The value, its difference to base and how this compares with the paper.
   * @param {Value} value
   * @param {Value | null | undefined} base
   * @param {number} y
   */
  numbers({ mean, verdict }, base, y) {
    const { pen, axis, plan, measure, style } = this;
    const second = axis.to + plan.numbers;
    pen.write(measure.show(mean), axis.to + plan.numbers * 0.46, y, { ...style, weight: 650 });
    if (base) pen.note(withSign(mean - base.mean, measure), second, y, style);
    const size = Math.min(12.5, style.size);
    if (verdict) pen.note(this.texts[`verdict_${verdict}`], second + 10, y, { size, most: 66 });
  }
}

/**
 * @param {number} difference
 * @param {Measure} measure
 */
function withSign(difference, { show }) {
  const text = show(Math.abs(difference));
  if (Number(text) === 0) return text;
  return `${difference < 0 ? "\u2212" : "+"}${text}`;
}
