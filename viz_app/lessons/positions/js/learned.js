// A learned table beside the sinusoids: how alike any two positions are, as cosine. The learned table ends, and beyond the
// longest sentence of its training its rows are what chance drew.

import { divergingPixel } from "../../../components/common/diverging.js";
import { fillText } from "../../../components/common/dom.js";
import { signed } from "../../../components/common/format.js";
import { Axis, drawAxis, trace, write } from "../../../components/common/plot.js";
import { frame, Grid } from "../../stage/js/grid.js";
import { Scene } from "../../stage/js/scene.js";

const HEAD = 24;
const GAP = 34;

export class Learned extends Scene {
  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    this.grids = [new Grid(), new Grid()];
  }

  get learned() {
    return this.lesson.values.learned;
  }

  get playhead() {
    if (!this.learned) return null;
    return {
      name: "at",
      label: this.texts.position_p,
      min: 0,
      max: this.learned.positions - 1,
      step: 1,
      rate: 5,
      start: 8,
      /** @param {number} value */
      show: (value) => String(Math.round(value)),
    };
  }

  get controls() {
    if (!this.learned) return [];
    const { texts } = this;
    return [
      {
        name: "side",
        kind: "choice",
        label: texts.table_of,
        options: [
          ["source", texts.side_source],
          ["target", texts.side_target],
        ],
        start: "source",
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < 520 ? 520 : Math.max(400, Math.min(680, room));
  }

  /** @type {Scene["draw"]} */
  draw(pen, { at, side }) {
    const { context, width, height, theme } = pen;
    if (!this.learned) {
      write(context, this.texts.no_learned, width / 2, height / 2, {
        colour: theme.muted,
        font: theme.font,
        size: 15,
        align: "center",
        most: width - 20,
      });
      return;
    }
    const { alike } = this.lesson.arrays;
    const left = 34;
    const curve = Math.max(94, height * 0.24);
    const size = Math.floor(Math.min((width - left - GAP) / 2 - 4, height - HEAD - 46 - curve));
    const row = Math.round(at);
    /** @type {[string, NdArray][]} */
    const tables = [
      ["sinusoid", alike.part(0)],
      [`learned_${side}`, alike.part(side === "source" ? 1 : 2)],
    ];
    const start = Math.max(left, (width - 2 * size - GAP) / 2);
    tables.forEach(([name, table], index) =>
      this.drawTable(pen, name, table, index, start + index * (size + GAP), size, row),
    );
    this.drawRows(
      pen,
      tables,
      { x: left, y: HEAD + size + 46, width: width - left, height: height - HEAD - size - 46 },
      row,
    );
  }

  /**
   * @param {Pen} pen
   * @param {any} name
   * @param {NdArray} table
   * @param {number} index
   * @param {number} x
   * @param {number} size
   * @param {number} row
   */
  drawTable({ context, theme }, name, table, index, x, size, row) {
    const { positions, trained } = this.learned;
    const grid = this.grids[index];
    grid.paint(`${theme.key} ${name}`, positions, positions, (one, other) =>
      divergingPixel(theme, table.at(one, other)),
    );
    grid.draw(context, x, HEAD, size, size);
    frame(context, x, HEAD, size, size, theme.line);
    write(context, this.texts[name], x + size / 2, 9, {
      colour: theme.text,
      font: theme.font,
      size: 13,
      weight: 600,
      align: "center",
      most: size + GAP - 8,
    });
    const axis = new Axis(-0.5, positions - 0.5, x, x + size);
    const down = new Axis(-0.5, positions - 0.5, HEAD, HEAD + size);
    const ticks = [0, 16, 32, 48].filter((tick) => tick < positions);
    drawAxis(context, axis, "bottom", HEAD + size + 1, { theme, ticks });
    if (!index) drawAxis(context, down, "left", x, { theme, ticks });
    if (index) {
      const [across, deep] = [axis.place(trained - 0.5), down.place(trained - 0.5)];
      trace(
        context,
        [
          [across, HEAD],
          [across, HEAD + size],
        ],
        { colour: theme.text, dash: [4, 4] },
      );
      trace(
        context,
        [
          [x, deep],
          [x + size, deep],
        ],
        { colour: theme.text, dash: [4, 4] },
      );
    }
    const height = size / positions;
    frame(context, x - 1, HEAD + row * height - 1, size + 2, height + 2, this.colour(theme, index), 2);
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
   * @param {[string, NdArray][]} tables
   * @param {{ x: number, y: number, width: number, height: number }} given
   * @param {number} row
   */
  drawRows({ context, theme }, tables, { x, y, width, height }, row) {
    const { positions, trained } = this.learned;
    const across = new Axis(0, positions - 1, x, x + width - 12);
    const up = new Axis(-1, 1, y + height - 22, y + 18);
    drawAxis(context, across, "bottom", up.from + 2, { theme, ticks: across.ticks(8) });
    drawAxis(context, up, "left", x, { theme, ticks: [-1, 0, 1], show: (tick) => signed(tick, 0), grid: width - 12 });
    const end = across.place(trained - 0.5);
    context.globalAlpha = 0.5;
    context.fillStyle = theme.line;
    context.fillRect(end, up.to, across.to - end, up.from - up.to);
    context.globalAlpha = 1;
    write(context, fillText(this.texts.untrained, { count: trained }), end + 6, up.to - 8, {
      colour: theme.muted,
      font: theme.font,
      size: 12,
      most: across.to - end,
    });
    write(context, fillText(this.texts.alike, { p: row }), x, up.to - 8, {
      colour: theme.text,
      font: theme.font,
      size: 13,
      weight: 600,
      most: end - x - 4,
    });
    tables.forEach(([, table], index) => {
      const points = Array.from({ length: positions }, (_, other) => [
        across.place(other),
        up.place(table.at(row, other)),
      ]);
      trace(context, points, { colour: this.colour(theme, index), width: 2 });
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width, height }) {
    if (!this.learned) return null;
    const across = new Axis(0, this.learned.positions - 1, 34, width - 12);
    return y > height - Math.max(94, height * 0.24) ? { at: across.value(x) } : null;
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    return this.learned && at >= this.learned.trained ? "limit" : null;
  }

  /** @type {Scene["say"]} */
  say({ at, side }) {
    if (!this.learned) return this.texts.no_learned;
    const row = Math.round(at);
    const { alike } = this.lesson.arrays;
    const neighbour = Math.min(row + 1, this.learned.positions - 1);
    const table = side === "source" ? 1 : 2;
    return fillText(this.texts.learned_say, {
      p: row,
      next: neighbour,
      fixed: signed(alike.at(0, row, neighbour)),
      learned: signed(alike.at(table, row, neighbour)),
    });
  }

  /** @type {Scene["table"]} */
  table({ at, side }) {
    if (!this.learned) return null;
    const { alike } = this.lesson.arrays;
    const row = Math.round(at);
    const table = side === "source" ? 1 : 2;
    const rows = Array.from({ length: this.learned.positions }, (_, other) => [
      other,
      alike.at(0, row, other),
      alike.at(table, row, other),
    ]);
    return { columns: [this.texts.position, this.texts.sinusoid, this.texts[`learned_${side}`]], rows };
  }
}
