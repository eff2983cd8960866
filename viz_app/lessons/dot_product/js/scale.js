// Effect of the width of a head on its scores: variance, entropy of the weights, and gradient.

import { fillText } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { playhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

/** @type {("unscaled" | "scaled" | "additive")[]} */
const WAYS = ["unscaled", "scaled", "additive"];

/** @extends {Scene<import("./numbers").Values>} */
export class Scale extends Scene {
  size = { narrow: 600, least: 360, most: 560 };
  term = "scale";

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

  /** @param {Theme} theme */
  colours(theme) {
    return { unscaled: theme.kinds.decoder, scaled: theme.kinds.encoder, additive: theme.kinds.cross };
  }

  /**
   * A chart of each number against the width of a head.
   * @param {Pen} pen
   * @param {number} chosen
   */
  charts(pen, chosen) {
    const { width, height } = pen;
    const narrow = isNarrow(width);
    const high = (height - 150) / (narrow ? 3 : 1);
    const wide = narrow ? width : width / 3;
    const colours = this.colours(pen.theme);
    const x = this.widths.map((_, index) => index);
    return ["variance", "entropy", "gradient"].map((name, index) => {
      const log = name !== "entropy";
      const values = this.lesson.arrays[name];
      const all = Array.from(values.data).filter((value) => value > 0);
      const low = log ? 10 ** Math.floor(Math.log10(Math.max(1e-6, Math.min(...all)))) : 0;
      const top = log ? 10 ** Math.ceil(Math.log10(Math.max(...all))) : 1;
      const box = { x: narrow ? 0 : index * wide, y: narrow ? index * high : 0, width: wide - 8, height: high };
      return new Chart(pen, box, {
        series: WAYS.map((way, row) => ({
          x,
          y: x.map((at) => Math.max(low, values.at(row, at))),
          label: this.texts[way],
          dashed: way === "additive",
          look: { colour: colours[way] },
        })),
        x: { title: "", ticks: x.filter((at) => at % 2 === 0).map((at) => [at, String(this.widths[at])]) },
        y: { title: this.texts[name], log, ends: [low, top] },
        key: false,
        cut: chosen,
        left: 30,
      });
    });
  }

  /** @type {Scene["draw"]} */
  draw(pen, { width: chosen }) {
    for (const chart of this.charts(pen, chosen)) chart.draw();
    this.drawRows(pen, pen.height - 138, Math.round(chosen));
  }

  /**
   * One query's weights over eight keys, in the three ways.
   * @param {Pen} pen
   * @param {number} top
   * @param {number} at
   */
  drawRows(pen, top, at) {
    const { theme, width } = pen;
    const narrow = isNarrow(width);
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
  grab(x, y, pen, { width }) {
    const { box, across } = this.charts(pen, width).findLast((chart) => chart.box.x <= x) ?? this.charts(pen, width)[0];
    return x < box.x ? null : { width: Math.round(across.value(x)) };
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
