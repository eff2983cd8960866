// What the width of a head does to its scores: their variance, how even the weights are, and what gradient is left.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, raised } from "../../../components/common/text/format.js";
import { playhead } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";

/** @type {("unscaled" | "scaled" | "additive")[]} */
const WAYS = ["unscaled", "scaled", "additive"];
const NARROW = 560;

/** @extends {Scene<import("./numbers").Values>} */
export class Scale extends Scene {
  get widths() {
    return this.lesson.values.widths;
  }

  get playhead() {
    const { widths } = this;
    return playhead({
      name: "width",
      label: "d_k",
      max: widths.length - 1,
      rate: 1,
      start: 4,
      show: (value) => String(widths[Math.round(value)]),
    });
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 600 : Math.max(360, Math.min(room, 560));
  }

  lit() {
    return "scale";
  }

  /** @param {Theme} theme */
  colours(theme) {
    return { unscaled: theme.kinds.decoder, scaled: theme.kinds.encoder, additive: theme.kinds.cross };
  }

  /** @type {Scene["draw"]} */
  draw(pen, { width: chosen }) {
    const { width, height } = pen;
    const at = Math.round(chosen);
    const below = width < NARROW;
    const high = below ? (height - 150) / 3 : height - 150;
    const wide = below ? width : width / 3;
    ["variance", "entropy", "gradient"].forEach((name, index) => {
      const [x, y] = below ? [0, index * high] : [index * wide, 0];
      this.drawPlot(pen, { left: x + 46, right: x + wide - 18, top: y + 28, bottom: y + high - 34 }, name, chosen, at);
    });
    this.drawRows(pen, height - 138, at);
  }

  /**
   * @param {Pen} pen
   * @param {{ left: number, right: number, top: number, bottom: number }} box
   * @param {string} name
   * @param {number} chosen
   * @param {number} at
   */
  drawPlot(pen, box, name, chosen, at) {
    const { theme } = pen;
    const { texts, widths, lesson } = this;
    const log = name !== "entropy";
    const values = lesson.arrays[name];
    const all = Array.from(values.data).filter((value) => value > 0);
    const low = log ? 10 ** Math.floor(Math.log10(Math.max(1e-6, Math.min(...all)))) : 0;
    const top = log ? 10 ** Math.ceil(Math.log10(Math.max(...all))) : 1;
    const across = new Axis(0, widths.length - 1, box.left, box.right);
    const axis = new Axis(low, top, box.bottom, box.top, { log });
    pen.write(texts[name], box.left, box.top - 16, { weight: 600, most: box.right - box.left + 14 });
    const ticks = log ? axis.ticks().filter((_, index, each) => each.length < 5 || index % 2 === 0) : [0, 0.5, 1];
    /** @param {number} tick */
    const show = (tick) => (log ? power(tick) : tick.toFixed(1));
    pen.axis(axis, "left", box.left, { ticks, grid: box.right - box.left, show });
    const even = widths.map((_, index) => index).filter((index) => index % 2 === 0);
    pen.axis(across, "bottom", box.bottom, { ticks: even, show: (index) => String(widths[index]) });
    const x = across.place(chosen);
    pen.line(x, box.top, x, box.bottom, { colour: theme.muted, width: 1, dash: [4, 4] });
    WAYS.forEach((way, row) => {
      const colour = this.colours(theme)[way];
      const points = widths.map((_, index) => [across.place(index), axis.place(Math.max(low, values.at(row, index)))]);
      pen.trace(points, { colour, width: 2, dash: way === "additive" ? [6, 4] : [] });
      pen.dot(points[at][0], points[at][1], 4.5, colour, theme.background);
    });
  }

  /**
   * One query's weights over eight keys, in the three ways.
   * @param {Pen} pen
   * @param {number} top
   * @param {number} at
   */
  drawRows(pen, top, at) {
    const { theme, width } = pen;
    const narrow = width < NARROW;
    const rows = this.lesson.arrays.weights; // (3, widths, keys)
    const keys = rows.shape[2];
    const wide = width / 3;
    WAYS.forEach((way, row) => {
      const left = row * wide + (narrow ? 4 : 46);
      const right = (row + 1) * wide - (narrow ? 6 : 18);
      const step = (right - left) / keys;
      const base = top + 108;
      const colour = this.colours(theme)[way];
      pen.write(this.texts[way], left, top + 12, { colour, size: narrow ? 12 : 14, weight: 650, most: wide - 12 });
      for (let key = 0; key < keys; key++) {
        const high = 76 * rows.at(row, at, key);
        pen.fill(left + key * step + 1, base - high, step - 3, high, colour);
      }
      pen.line(left, base, right, base, { colour: theme.line, width: 1 });
    });
    pen.note(this.texts.one_row, narrow ? 4 : 46, top + 124, { most: width - 50 });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width }) {
    const wide = width < NARROW ? width : width / 3;
    const across = new Axis(0, this.widths.length - 1, 46, wide - 18);
    return { width: Math.round(across.value(x % wide)) };
  }

  /** @type {Scene["say"]} */
  say({ width }) {
    const at = Math.round(width);
    const { variance, entropy } = this.lesson.arrays;
    return fillText(this.texts.scale_say, {
      width: this.widths[at],
      unscaled: variance.at(0, at).toFixed(1),
      scaled: variance.at(1, at).toFixed(2),
      even: entropy.at(0, at).toFixed(2),
      kept: entropy.at(1, at).toFixed(2),
    });
  }

  table() {
    const { texts, widths } = this;
    const { variance, entropy, gradient } = this.lesson.arrays;
    const rows = WAYS.flatMap((way, row) =>
      widths.map((width, at) => [texts[way], width, variance.at(row, at), entropy.at(row, at), gradient.at(row, at)]),
    );
    return { columns: ["", "d_k", texts.variance, texts.entropy, texts.gradient], rows };
  }
}

/**
 * 0.001 -> 10^-3, as text.
 * @param {number} value
 */
function power(value) {
  const exponent = Math.round(Math.log10(value));
  if (exponent === 0) return "1";
  return `10${raised(exponent)}`;
}
