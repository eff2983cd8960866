// A learned table beside the sinusoids: how alike any two positions are, as cosine. The learned table ends, and beyond the
// longest sentence of its training its rows are what chance drew.

import { divergingPixel } from "../../../components/common/draw/diverging.js";
import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, signed } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { choice, playhead, rounded } from "../../stage/js/describe.js";
import { Grid } from "../../stage/js/grid.js";
import { Scene } from "../../stage/js/scene.js";

const HEAD = 24;
const GAP = 34;

/** A table of positions under its name.
 * @typedef {[string, NdArray]} Table */

/** @extends {Scene<import("./numbers").Values>} */
export class Learned extends Scene {
  size = { narrow: 520, least: 400, most: 680 };

  grids = [new Grid(), new Grid()];

  get learned() {
    return this.lesson.values.learned;
  }

  get playhead() {
    if (!this.learned) return null;
    const max = this.learned.positions - 1;
    return playhead({ name: "at", label: this.texts.position_p, max, rate: 5, start: 8, show: rounded });
  }

  get controls() {
    const { table_of, side_source, side_target } = this.texts;
    return this.learned ? [choice("side", table_of, { source: side_source, target: side_target })] : [];
  }

  /** @param {Settings} settings */
  tables({ side }) {
    const { alike } = this.lesson.arrays;
    /** @type {[Table, Table]} */
    const both = [
      ["sinusoid", alike.part(0)],
      [`learned_${side}`, alike.part(side === "source" ? 1 : 2)],
    ];
    return both;
  }

  missing() {
    return this.learned ? null : this.texts.no_learned;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height } = pen;
    const left = 34;
    const curve = Math.max(94, height * 0.24);
    const size = Math.floor(Math.min((width - left - GAP) / 2 - 4, height - HEAD - 46 - curve));
    const row = Math.round(settings.at);
    const tables = this.tables(settings);
    const start = Math.max(left, (width - 2 * size - GAP) / 2);
    tables.forEach((table, index) => this.drawTable(pen, table, index, start + index * (size + GAP), size, row));
    const top = HEAD + size + 46;
    return this.drawRows(pen, tables, { x: left, y: top, width: width - left, height: height - top }, row);
  }

  /**
   * @param {Pen} pen
   * @param {Table} named
   * @param {number} index
   * @param {number} x
   * @param {number} size
   * @param {number} row
   */
  drawTable(pen, [name, table], index, x, size, row) {
    const { context, theme } = pen;
    const { positions, trained } = this.learned;
    const grid = this.grids[index];
    grid.paint(`${theme.key} ${name}`, positions, positions, (one, other) =>
      divergingPixel(theme, table.at(one, other)),
    );
    grid.draw(context, x, HEAD, size, size);
    pen.frame(x, HEAD, size, size, theme.line);
    pen.write(this.texts[name], x + size / 2, 9, { weight: 600, align: "center", most: size + GAP - 8 });
    const axis = new Axis(-0.5, positions - 0.5, x, x + size);
    const down = new Axis(-0.5, positions - 0.5, HEAD, HEAD + size);
    const ticks = [0, 16, 32, 48].filter((tick) => tick < positions);
    pen.axis(axis, "bottom", HEAD + size + 1, { ticks });
    if (!index) pen.axis(down, "left", x, { ticks });
    if (index) {
      const [across, deep] = [axis.place(trained - 0.5), down.place(trained - 0.5)];
      pen.line(across, HEAD, across, HEAD + size, { colour: theme.text, dash: [4, 4] });
      pen.line(x, deep, x + size, deep, { colour: theme.text, dash: [4, 4] });
    }
    const height = size / positions;
    pen.frame(x - 1, HEAD + row * height - 1, size + 2, height + 2, this.colour(theme, index), 2);
  }

  /**
   * @param {Theme} theme
   * @param {number} index
   */
  colour({ kinds }, index) {
    return index ? kinds.decoder : kinds.encoder;
  }

  /**
   * The row of position p in both tables.
   * @param {Pen} pen
   * @param {Table[]} tables
   * @param {Box} box
   * @param {number} row
   */
  drawRows(pen, tables, box, row) {
    const { theme } = pen;
    const { positions, trained } = this.learned;
    const x = Array.from({ length: positions }, (_, other) => other);
    const chart = new Chart(pen, box, {
      series: tables.map(([, table], index) => ({
        x,
        y: x.map((other) => table.at(row, other)),
        look: { colour: this.colour(theme, index) },
      })),
      x: { title: "" },
      y: { title: fillText(this.texts.alike, { p: row }), ends: [-1, 1], show: (tick) => signed(tick, 0) },
    });
    const { across, up } = chart;
    const end = across.place(trained - 0.5);
    pen.fill(end, up.to, across.to - end, up.from - up.to, theme.line, 0.5);
    chart.draw();
    const style = { align: "right", most: across.to - end };
    pen.note(fillText(this.texts.untrained, { count: trained }), across.to, up.to - 16, style);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width, height }) {
    const across = new Axis(0, this.learned.positions - 1, 34, width - 12);
    return y > height - Math.max(94, height * 0.24) ? { at: across.value(x) } : null;
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    return this.learned && at >= this.learned.trained ? "limit" : null;
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const p = Math.round(settings.at);
    const next = Math.min(p + 1, this.learned.positions - 1);
    const [fixed, learned] = this.tables(settings).map(([, table]) => signed(table.at(p, next)));
    return fillText(this.texts.learned_say, { p, next, fixed, learned });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const tables = this.tables(settings);
    const row = Math.round(settings.at);
    const rows = Array.from({ length: this.learned.positions }, (_, other) => [
      other,
      ...tables.map(([, table]) => table.at(row, other)),
    ]);
    return { columns: [this.texts.position, ...tables.map(([name]) => this.texts[name])], rows };
  }
}
