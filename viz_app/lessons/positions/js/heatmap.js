// All positions by all columns as colours, with a row for each cut; beside it, on the same positions, the dot product of the
// cut's row with every other row: its curve keeps its shape while it slides along.

import { divergingPixel } from "../../../components/common/diverging.js";
import { fillText } from "../../../components/common/dom.js";
import { signed } from "../../../components/common/format.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { frame, Grid } from "../../stage/js/grid.js";
import { Scene } from "../../stage/js/scene.js";
import { dotProduct, encoding } from "./encoding.js";
import { word } from "./tokenaxis.js";

const LEAST = 48; // rows
const HEAD = 22;
const FOOT = 40;

export class Heatmap extends Scene {
  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    this.grid = new Grid();
    const { positions, d_model } = lesson.values;
    this.rows = Math.max(LEAST, positions + 8);
    this.low = Math.min(0, ...Array.from({ length: this.rows }, (_, k) => dotProduct(0, k, d_model)));
  }

  get playhead() {
    return {
      name: "at",
      label: this.texts.position_p,
      min: 0,
      max: this.rows - 1,
      step: 1,
      rate: 3,
      start: 12,
      /** @param {number} value */
      show: (value) => value.toFixed(value % 1 ? 1 : 0),
    };
  }

  get controls() {
    const { texts } = this;
    const orders = [
      ["apart", texts.columns_apart],
      ["mixed", texts.columns_mixed],
    ];
    return [
      { name: "order", kind: "choice", label: texts.columns, options: orders, start: "apart" },
      { name: "k", kind: "range", label: "k", min: -20, max: 20, step: 1, start: 5, show: (value) => signed(value, 0) },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(380, Math.min(640, room));
  }

  lit() {
    return "distance";
  }

  /** @param {{ width: number, height: number }} given */
  places({ width, height }) {
    const small = width < 520;
    const left = small ? 34 : 118;
    const { d_model } = this.lesson.values;
    const room = (width - left) * (small ? 0.52 : 0.6);
    const wide = room > d_model ? Math.floor(room / d_model) * d_model : room; // whole pixels, so that no column looks wider
    const curve = left + wide + (small ? 16 : 34);
    return {
      small,
      left,
      wide,
      rows: new Axis(0, this.rows - 1, HEAD, height - FOOT),
      product: { from: curve, to: width - 14 },
    };
  }

  /** @type {Scene["draw"]} */
  draw(pen, { at, k, order }) {
    const { context, theme, width } = pen;
    const { d_model, tokens } = this.lesson.values;
    const { small, left, wide, rows, product } = this.places(pen);
    const across = new Axis(this.low, d_model / 2, product.from, product.to);
    const half_d = d_model / 2;
    const column =
      order === "mixed" ? (index) => index : (index) => (index < half_d ? 2 * index : 2 * (index - half_d) + 1);
    this.grid.paint(`${theme.key} ${order}`, this.rows, d_model, (row, index) =>
      divergingPixel(theme, encoding(row, column(index), d_model)),
    );
    const half = (rows.place(1) - rows.place(0)) / 2;
    this.grid.draw(context, left, rows.from - half, wide, rows.to - rows.from + 2 * half);
    frame(context, left, rows.from - half, wide, rows.to - rows.from + 2 * half, theme.line);
    const quiet = { colour: theme.muted, font: theme.font, size: 12 };
    this.drawColumns(pen, order, left, wide, rows.to + half + 2);
    write(context, small ? "PE" : this.texts.table_name, left + wide / 2, 7, {
      ...quiet,
      colour: theme.text,
      size: 13,
      weight: 600,
      align: "center",
      most: wide,
    });
    const heading = { ...quiet, colour: theme.text, size: 13, weight: 600, align: "center" };
    write(context, "PE(p) \u00b7 PE(p+k)", (product.from + product.to) / 2, 7, heading);
    drawAxis(context, across, "bottom", rows.to + half + 2, {
      theme,
      ticks: small ? [0, d_model / 2] : across.ticks(4),
      grid: rows.to - rows.from + 2 * half,
    });
    const points = Array.from({ length: 4 * (this.rows - 1) + 1 }, (_, index) => [
      across.place(dotProduct(at, index / 4, d_model)),
      rows.place(index / 4),
    ]);
    trace(context, points, { colour: theme.kinds.encoder, width: 2.5 });
    const other = at + k;
    const inside = other >= 0 && other <= this.rows - 1;
    this.drawCut(pen, rows, left, wide, across, at, theme.kinds.decoder, `p = ${Math.round(at)}`, tokens);
    if (inside)
      this.drawCut(pen, rows, left, wide, across, other, theme.kinds.cross, `p+k = ${Math.round(other)}`, tokens, at);
    if (!inside) return;
    const value = dotProduct(at, other, d_model);
    const place = across.place(value);
    const onLeft = place > (product.from + product.to) / 2;
    write(context, signed(value, 1), place + (onLeft ? -10 : 10), rows.place(other) + (k < 0 ? -10 : 11), {
      colour: theme.text,
      font: theme.font,
      size: 14,
      weight: 600,
      align: onLeft ? "right" : "left",
      most: width,
    });
  }

  /**
   * What the columns are: in the paper's order, or all sines before all cosines.
   * @param {Pen} pen
   * @param {any} order
   * @param {number} left
   * @param {number} wide
   * @param {number} y
   */
  drawColumns({ context, theme }, order, left, wide, y) {
    const { d_model } = this.lesson.values;
    const style = { colour: theme.muted, font: theme.font, size: 12, align: "center" };
    if (order === "mixed") {
      drawAxis(context, new Axis(0, d_model, left, left + wide), "bottom", y, {
        theme,
        ticks: [0, d_model / 2, d_model],
      });
      write(context, this.texts.column, left + wide / 2, y + 30, style);
      return;
    }
    ["sin", "cos"].forEach((name, odd) => {
      const middle = left + (0.25 + 0.5 * odd) * wide;
      write(context, name, middle, y + 12, { ...style, colour: theme.text, size: 13, weight: 600 });
      if (wide > 300) write(context, `${odd}, ${odd + 2}, \u2026, ${d_model - 2 + odd}`, middle, y + 30, style);
    });
    trace(
      context,
      [
        [left + wide / 2, HEAD - 4],
        [left + wide / 2, y + 4],
      ],
      { colour: theme.text, width: 1 },
    );
  }

  /**
   * One position: its row in the table, its token, and its point on the curve.
   * @param {Pen} pen
   * @param {Axis} rows
   * @param {number} left
   * @param {number} wide
   * @param {Axis} across
   * @param {number} position
   * @param {string} colour
   * @param {string} name
   * @param {string[]} tokens
   * @param {any} [beside]
   */
  drawCut({ context, theme }, rows, left, wide, across, position, colour, name, tokens, beside = null) {
    const { d_model } = this.lesson.values;
    const y = rows.place(position);
    const half = Math.max(2.5, (rows.place(1) - rows.place(0)) / 2);
    frame(context, left - 1, y - half, wide + 2, 2 * half, colour, 2);
    trace(
      context,
      [
        [left + wide, y],
        [across.to, y],
      ],
      { colour, width: 1, dash: [2, 3] },
    );
    const at = beside ?? position;
    dot(context, across.place(dotProduct(at, position, d_model)), y, 5.5, colour, theme.background);
    const near = beside !== null && Math.abs(rows.place(beside) - y) < 28;
    const shift = near ? (28 - Math.abs(rows.place(beside) - y)) * (position >= beside ? 1 : -1) : 0;
    const style = { font: theme.font, size: 13, weight: 600, align: "right" };
    const token = tokens[Math.round(position)];
    write(context, left > 60 ? name : name.split(" ")[0], left - 8, y + shift - (token && left > 60 ? 7 : 0), {
      ...style,
      colour,
    });
    if (token && left > 60)
      write(context, word(token), left - 8, y + shift + 8, {
        ...style,
        font: theme.code,
        size: 12,
        colour: theme.text,
        most: left - 10,
      });
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
