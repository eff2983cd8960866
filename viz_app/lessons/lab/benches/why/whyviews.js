// The two pictures of a score: its products dimension by dimension, and its parts by origin of query and key.

import { Axis } from "../../../../components/common/draw/plot.js";
import { signed } from "../../../../components/common/text/format.js";
import { twoSided } from "../../../stage/js/bars.js";
import { drawTones, tone } from "../../js/bench.js";
import { EffectBars } from "../../js/effectbars.js";

const STRIP = 16; // height of a vector drawn as cells
const LEFT = 44; // of the bars, for the numbers of their axis
const LEGEND = 34;
const SLANT = 30; // right of the columns, for the slanted name of the last one
const [WIDE, HIGH] = [40, 17]; // of a cell that has room for its number
const READABLE = 9; // pixels below which a row or column has no label of its own

/**
 * Query and key as cells, and below them the bars of their products.
 * @param {Pen} pen
 * @param {Texts} texts
 * @param {{ of_query: number[], of_key: number[], products: number[], colour: string }} what
 * @param {Box} place
 */
export function drawDimensions(pen, texts, { of_query, of_key, products, colour }, { x, y, width, height }) {
  const across = new Axis(0, products.length, x + LEFT, x + width - 4);
  const cell = across.place(1) - across.place(0);
  const most = Math.max(1e-9, ...of_query.map(Math.abs), ...of_key.map(Math.abs));
  [of_query, of_key].forEach((vector, number) => {
    const top = y + number * (STRIP + 5);
    pen.note(number ? "k" : "q", x + LEFT - 8, top + STRIP / 2, { align: "right", size: 12 });
    vector.forEach((value, at) => {
      pen.fill(across.place(at), top, cell + 0.5, STRIP, tone(pen.theme, value / most));
    });
    pen.frame(across.from, top, across.to - across.from, STRIP, pen.theme.line);
  });
  const bars = { x, y: y + 2 * STRIP + 22, width, height: height - 2 * STRIP - 22 + 34 };
  const tokens = products.map((_, at) => (cell > 14 || at % 4 === 3 || !at ? String(at + 1) : " "));
  new EffectBars(products, bars).draw(pen, { tokens, marked: -1, colour, title: texts.why_products });
}

/** @typedef {import("./whyparts.js").Origin} Origin */

/** The parts of a score by origin, as cells. */
export class PartsMap {
  /**
   * @param {import("./whyparts.js").Matrix} matrix
   * @param {Box} place
   */
  constructor(matrix, { x, y, width, height }) {
    this.matrix = matrix;
    const { rows, columns } = matrix;
    const side = Math.min(96, width * 0.26);
    const head = columns.length > 4 ? 66 : 30;
    this.cell = Math.min(96, (width - side - 16 - (columns.length > 4 ? SLANT : 4)) / columns.length);
    this.row = Math.min(52, (height - head - LEGEND) / rows.length);
    this.left = x + side + 16;
    this.top = y + head;
    this.place = { x, y, width, height };
    this.side = side;
    this.flat = columns.length <= 4;
  }

  /**
   * @param {Pen} pen
   * @param {Texts} texts
   * @param {{ of_query: Origin[], of_key: Origin[], part: [number, number] }} what `part`: the pair that is chosen.
   */
  draw(pen, texts, { of_query, of_key, part }) {
    const { theme } = pen;
    const { matrix, left, top, cell, row } = this;
    const { rows, columns, values, most } = matrix;
    const room = cell >= WIDE && row >= HIGH;
    rows.forEach((origin, at) => {
      columns.forEach((other, to) => {
        const share = values[origin][other] / most;
        const colour = room ? twoSided(theme, 0.45 * share) : tone(theme, share);
        pen.fill(left + to * cell, top + at * row, cell + 0.5, row + 0.5, colour);
        if (room)
          pen.write(signed(values[origin][other], 2), left + (to + 0.5) * cell, top + (at + 0.5) * row, {
            size: Math.min(14, row - 4),
            align: "center",
          });
      });
    });
    pen.frame(left - 0.5, top - 0.5, columns.length * cell + 1, rows.length * row + 1, theme.line);
    this.drawLabels(pen, of_query, of_key, part);
    const [at, to] = [rows.indexOf(part[0]), columns.indexOf(part[1])];
    if (at >= 0 && to >= 0) pen.frame(left + to * cell, top + at * row, cell, row, theme.text, 2.5);
    this.drawTitles(pen, texts, room);
  }

  /**
   * @param {Pen} pen
   * @param {Origin[]} of_query
   * @param {Origin[]} of_key
   * @param {[number, number]} part
   */
  drawLabels(pen, of_query, of_key, part) {
    const { theme } = pen;
    const { matrix, left, top, cell, row, side } = this;
    const size = (/** @type {number} */ room) => Math.max(9, Math.min(13, room - 2));
    matrix.rows.forEach((origin, at) => {
      const { text, side: whose } = of_query[origin];
      const font = whose ? theme.code : theme.font;
      const chosen = origin === part[0];
      if (whose) pen.fill(left - 5, top + at * row, 3, row, theme.kinds[whose]);
      if (row < READABLE && !chosen) return;
      const style = { font, size: size(row), weight: chosen ? 700 : 400, align: "right", most: side - 6 };
      pen.write(text, left - 9, top + (at + 0.5) * row, style);
    });
    matrix.columns.forEach((origin, at) => {
      const { text, side: whose } = of_key[origin];
      const font = whose ? theme.code : theme.font;
      const chosen = origin === part[1];
      if (whose) pen.fill(left + at * cell, top - 5, cell, 3, theme.kinds[whose]);
      if (cell < READABLE && !chosen) return;
      const style = { font, size: size(cell), weight: chosen ? 700 : 400 };
      if (this.flat) pen.write(text, left + (at + 0.5) * cell, top - 14, { ...style, align: "center", most: cell - 4 });
      else pen.write(text, left + (at + 0.5) * cell, top - 9, { ...style, turn: -Math.PI / 3.2, most: 54 });
    });
  }

  /**
   * The names of both axes, and what the colours mean where cells have no numbers.
   * @param {Pen} pen
   * @param {Texts} texts
   * @param {boolean} room
   */
  drawTitles(pen, texts, room) {
    const { matrix, place, left, top, cell, row } = this;
    const [wide, tall] = [matrix.columns.length * cell, matrix.rows.length * row];
    pen.note(texts.why_from_query, place.x + 6, top + tall / 2, { size: 11, align: "center", turn: -Math.PI / 2 });
    pen.note(texts.why_from_key, left, top + tall + 12, { size: 11 });
    if (room) return;
    const [from, y, length] = [left, top + tall + 24, Math.min(120, wide)];
    drawTones(pen, { x: from, y, width: length, height: 8 });
    pen.note(`${signed(-matrix.most, 1)} \u2026 ${signed(matrix.most, 1)}`, from + length + 8, y + 4, { size: 11 });
  }

  /**
   * The middle of a cell.
   * @param {number} at Place of the query's origin.
   * @param {number} to Place of the key's.
   */
  middle(at, to) {
    return { x: this.left + (to + 0.5) * this.cell, y: this.top + (at + 0.5) * this.row };
  }

  /**
   * The pair of origins at a place, or null.
   * @param {number} x
   * @param {number} y
   * @returns {[number, number] | null}
   */
  at(x, y) {
    const { rows, columns } = this.matrix;
    const [to, at] = [Math.floor((x - this.left) / this.cell), Math.floor((y - this.top) / this.row)];
    return at >= 0 && at < rows.length && to >= 0 && to < columns.length ? [rows[at], columns[to]] : null;
  }
}
