// What the width of a head does to its scores: their variance, how even the weights are, and what gradient is left.

import { fillText } from "../../../components/common/dom.js";
import { raised } from "../../../components/common/format.js";
import { Axis } from "../../../components/common/plot.js";
import { bar } from "../../stage/js/bars.js";
import { Scene } from "../../stage/js/scene.js";

const WAYS = ["unscaled", "scaled", "additive"];
const NARROW = 560;

export class Scale extends Scene {
  get widths() {
    return this.lesson.values.widths;
  }

  get playhead() {
    const { widths } = this;
    return {
      name: "width",
      label: "d_k",
      min: 0,
      max: widths.length - 1,
      step: 1,
      rate: 1,
      start: 4,
      /** @param {number} value */
      show: (value) => String(widths[Math.round(value)]),
    };
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
    /** @type {[string, boolean][]} */
    const plots = [
      ["variance", true],
      ["entropy", false],
      ["gradient", true],
    ];
    const high = below ? (height - 150) / 3 : height - 150;
    const wide = below ? width : width / 3;
    plots.forEach(([name, log], index) => {
      const box = {
        left: (below ? 0 : index * wide) + 46,
        right: (below ? 0 : index * wide) + wide - 18,
        top: (below ? index * high : 0) + 28,
        bottom: (below ? index * high : 0) + high - 34,
      };
      this.drawPlot(pen, box, name, log, chosen, at);
    });
    this.drawRows(pen, height - 138, at);
  }

  /**
   * @param {Pen} pen
   * @param {{ left: number, right: number, top: number, bottom: number }} box
   * @param {any} name
   * @param {boolean} log
   * @param {any} chosen
   * @param {number} at
   */
  drawPlot(pen, box, name, log, chosen, at) {
    const { theme } = pen;
    const { texts, widths, lesson } = this;
    const values = lesson.arrays[name];
    const all = Array.from(values.data).filter((value) => value > 0);
    const low = log ? 10 ** Math.floor(Math.log10(Math.max(1e-6, Math.min(...all)))) : 0;
    const top = log ? 10 ** Math.ceil(Math.log10(Math.max(...all))) : 1;
    const across = new Axis(0, widths.length - 1, box.left, box.right);
    const axis = new Axis(low, top, box.bottom, box.top, { log });
    pen.write(texts[name], box.left, box.top - 16, {
      size: 13,
      weight: 600,
      most: box.right - box.left + 14,
    });
    const ticks = log ? axis.ticks().filter((_, index, each) => each.length < 5 || index % 2 === 0) : [0, 0.5, 1];
    pen.axis(axis, "left", box.left, {
      ticks,
      grid: box.right - box.left,
      show: (tick) => (log ? power(tick) : tick.toFixed(1)),
    });
    pen.axis(across, "bottom", box.bottom, {
      ticks: widths.map((_, index) => index).filter((index) => index % 2 === 0),
      show: (index) => String(widths[index]),
    });
    pen.line(across.place(chosen), box.top, across.place(chosen), box.bottom, {
      colour: theme.muted,
      width: 1,
      dash: [4, 4],
    });
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
    const { context, theme, width } = pen;
    const rows = this.lesson.arrays.weights; // (3, widths, keys)
    const keys = rows.shape[2];
    const wide = width / 3;
    WAYS.forEach((way, row) => {
      const left = row * wide + (width < NARROW ? 4 : 46);
      const right = (row + 1) * wide - (width < NARROW ? 6 : 18);
      const step = (right - left) / keys;
      const base = top + 108;
      pen.write(this.texts[way], left, top + 12, {
        colour: this.colours(theme)[way],
        size: width < NARROW ? 12 : 14,
        weight: 650,
        most: wide - 12,
      });
      for (let key = 0; key < keys; key++)
        bar(context, left + key * step + 1, base, step - 3, 76 * rows.at(row, at, key), this.colours(theme)[way]);
      pen.line(left, base, right, base, { colour: theme.line, width: 1 });
    });
    pen.note(this.texts.one_row, width < NARROW ? 4 : 46, top + 124, {
      most: width - 50,
    });
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
