// All positions by all columns as colours, with a row for each cut; beside it, on the same positions, the dot product of the
// cut's row with every other row: its curve keeps its shape while it slides along.

import { divergingPixel } from "../../../components/common/draw/diverging.js";
import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { choice, playhead, slider, tenths } from "../../stage/js/describe.js";
import { Grid } from "../../stage/js/grid.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { dotProduct, encoding } from "./encoding.js";

const MIN = 48; // rows
const HEAD = 22;
const FOOT = 40;

/** @extends {Scene<import("./numbers").Values>} */
export class Heatmap extends Scene {
  size = { least: 380, most: 640 };
  term = "distance";

  grid = new Grid();
  rows = Math.max(MIN, this.lesson.values.positions + 8);
  low = Math.min(0, ...Array.from({ length: this.rows }, (_, k) => dotProduct(0, k, this.lesson.values.d_model)));

  get playhead() {
    const max = this.rows - 1;
    return playhead({ name: "at", label: this.texts.position_p, max, rate: 3, start: 12, show: tenths });
  }

  get controls() {
    const { columns, columns_apart, columns_mixed } = this.texts;
    return [
      choice("order", columns, { apart: columns_apart, mixed: columns_mixed }),
      slider({ name: "k", label: "k", min: -20, max: 20, start: 5, show: (value) => signed(value, 0) }),
    ];
  }

  /** @param {{ width: number, height: number }} given */
  places({ width, height }) {
    const small = isNarrow(width);
    const left = small ? 34 : 118;
    const { d_model } = this.lesson.values;
    const room = (width - left) * (small ? 0.52 : 0.6);
    const wide = room > d_model ? Math.floor(room / d_model) * d_model : room; // whole pixels, so that no column looks wider
    const curve = left + wide + (small ? 16 : 34);
    const rows = new Axis(0, this.rows - 1, HEAD, height - FOOT);
    return { small, left, wide, rows, across: new Axis(this.low, d_model / 2, curve, width - 14) };
  }

  /** @type {Scene["draw"]} */
  draw(pen, { at, k, order }) {
    const { context, theme, width } = pen;
    const { d_model } = this.lesson.values;
    const places = this.places(pen);
    const { small, left, wide, rows, across } = places;
    /** @param {number} index */
    const apart = (index) => (index < d_model / 2 ? 2 * index : 2 * index - d_model + 1);
    const column = order === "mixed" ? (/** @type {number} */ index) => index : apart;
    this.grid.paint(`${theme.key} ${order}`, this.rows, d_model, (row, index) =>
      divergingPixel(theme, encoding(row, column(index), d_model)),
    );
    const half = (rows.place(1) - rows.place(0)) / 2;
    const tall = rows.to - rows.from + 2 * half;
    this.grid.draw(context, left, rows.from - half, wide, tall);
    pen.frame(left, rows.from - half, wide, tall, theme.line);
    this.drawColumns(pen, order, left, wide, rows.to + half + 2);
    const heading = { weight: 600, align: "center" };
    pen.write(small ? "PE" : this.texts.table_name, left + wide / 2, 7, { ...heading, most: wide });
    pen.write("PE(p) \u00b7 PE(p+k)", (across.from + across.to) / 2, 7, heading);
    const ticks = small ? [0, d_model / 2] : across.ticks(4);
    pen.axis(across, "bottom", rows.to + half + 2, { ticks, grid: tall });
    const points = Array.from({ length: 4 * (this.rows - 1) + 1 }, (_, index) => [
      across.place(dotProduct(at, index / 4, d_model)),
      rows.place(index / 4),
    ]);
    pen.trace(points, { colour: theme.kinds.encoder, width: 2.5 });
    const other = at + k;
    this.drawCut(pen, places, at, theme.kinds.decoder, `p = ${Math.round(at)}`);
    if (other < 0 || other > this.rows - 1) return;
    this.drawCut(pen, places, other, theme.kinds.cross, `p+k = ${Math.round(other)}`, at);
    const value = dotProduct(at, other, d_model);
    const place = across.place(value);
    const onLeft = place > (across.from + across.to) / 2;
    const style = { size: 14, weight: 600, align: onLeft ? "right" : "left", most: width };
    pen.write(signed(value, 1), place + (onLeft ? -10 : 10), rows.place(other) + (k < 0 ? -10 : 11), style);
  }

  /**
   * Write the key of the columns: in the paper's order, or all sines before all cosines.
   * @param {Pen} pen
   * @param {string} order
   * @param {number} left
   * @param {number} wide
   * @param {number} y
   */
  drawColumns(pen, order, left, wide, y) {
    const { theme } = pen;
    const { d_model } = this.lesson.values;
    const style = { align: "center" };
    if (order === "mixed") {
      pen.axis(new Axis(0, d_model, left, left + wide), "bottom", y, { ticks: [0, d_model / 2, d_model] });
      pen.note(this.texts.column, left + wide / 2, y + 30, style);
      return;
    }
    ["sin", "cos"].forEach((name, odd) => {
      const middle = left + (0.25 + 0.5 * odd) * wide;
      pen.write(name, middle, y + 12, { ...style, weight: 600 });
      if (wide > 300) pen.note(`${odd}, ${odd + 2}, \u2026, ${d_model - 2 + odd}`, middle, y + 30, style);
    });
    pen.line(left + wide / 2, HEAD - 4, left + wide / 2, y + 4, { colour: theme.text, width: 1 });
  }

  /**
   * One position: its row in the table, its token, and its point on the curve.
   * @param {Pen} pen
   * @param {ReturnType<Heatmap["places"]>} places
   * @param {number} position
   * @param {string} colour
   * @param {string} name
   * @param {number | null} [beside]
   */
  drawCut(pen, { left, wide, rows, across }, position, colour, name, beside = null) {
    const { theme } = pen;
    const { d_model, tokens } = this.lesson.values;
    const y = rows.place(position);
    const half = Math.max(2.5, (rows.place(1) - rows.place(0)) / 2);
    pen.frame(left - 1, y - half, wide + 2, 2 * half, colour, 2);
    pen.line(left + wide, y, across.to, y, { colour, width: 1, dash: [2, 3] });
    const at = beside ?? position;
    pen.dot(across.place(dotProduct(at, position, d_model)), y, 5.5, colour, theme.background);
    const room = beside === null ? Infinity : Math.abs(rows.place(beside) - y);
    const shift = Math.max(0, 28 - room) * (position >= at ? 1 : -1);
    const style = { weight: 600, align: "right" };
    const roomy = left > 60;
    const token = roomy && tokens[Math.round(position)];
    pen.write(roomy ? name : name.split(" ")[0], left - 8, y + shift - (token ? 7 : 0), { ...style, colour });
    if (token)
      pen.write(tokenText(token), left - 8, y + shift + 8, { ...style, font: theme.code, size: 12, most: left - 10 });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    return { at: this.places(pen).rows.value(y) };
  }

  /** @type {Scene["say"]} */
  say({ at, k }) {
    const { d_model } = this.lesson.values;
    return fillText(this.texts.heatmap_say, { k: signed(k, 0), value: signed(dotProduct(at, at + k, d_model), 1) });
  }

  table() {
    const { d_model } = this.lesson.values;
    return {
      columns: ["k", "PE(p) \u00b7 PE(p+k)"],
      rows: Array.from({ length: this.rows }, (_, k) => [k, dotProduct(0, k, d_model)]),
    };
  }
}
