// The chapter "Near and far": the bar codes of 64 positions side by side, and how alike each of them is to the one under the
// cut. Instead of the sinusoids it can show a table that a small model has learned; that ends where its training ended.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, signed } from "../../../components/common/text/format.js";
import { isNarrow } from "../../stage/js/layout.js";
import { BarCodes } from "./barcodes.js";
import { barColumn, dotProduct, encoding, rootMeanSquare, vector } from "./encoding.js";
import { NEAR } from "./story.js";
import { NUMBERS, positionAxis } from "./tokenaxis.js";
import { View } from "./view.js";

const HEAD = 22;
const GAP = 34;
const APART = 5; // positions from the cut to the two that are compared
const FINE = 4; // points of the curve for a position
const LOW = -0.3; // cosine
const BRIGHT = 3; // standard deviations of the learned numbers that have the full colour

export class NearFar extends View {
  sines = Array.from({ length: FINE * (NEAR - 1) + 1 }, (_, index) => vector(index / FINE, this.width));
  learned = Array.from(
    { length: this.lesson.values.trained && NEAR },
    (_, row) => this.lesson.arrays.table.part(row).data,
  );

  /** @param {number} width */
  axis(width) {
    return positionAxis(width, NEAR);
  }

  /**
   * The vectors of a table and how many it has for a position; the position under the cut, and its vector.
   * @param {Settings} settings
   * @returns {{ vectors: ArrayLike<number>[], fine: number, cut: number, current: ArrayLike<number> }}
   */
  compared({ at, table }) {
    const cut = this.story.cut(at);
    const row = Math.round(cut); // a learned table has nothing between its rows
    if (table === "learned") return { vectors: this.learned, fine: 1, cut: row, current: this.learned[row] };
    return { vectors: this.sines, fine: FINE, cut, current: vector(cut, this.width) };
  }

  /**
   * @param {Pen} pen
   * @param {Settings} settings
   */
  draw(pen, settings) {
    const { theme, height, width } = pen;
    const { table } = settings;
    const axis = this.axis(width);
    const { vectors, fine, cut, current } = this.compared(settings);
    const bars = { y: HEAD, height: Math.round((height - HEAD - GAP - NUMBERS) * 0.5) };
    const up = new Axis(LOW, 1, height - NUMBERS - 6, bars.y + bars.height + GAP);
    this.drawBars(pen, axis, bars, table);
    pen.write(this.texts[table], axis.from, 9, { weight: 600, most: axis.to - axis.from });
    pen.write(this.texts.alike, axis.from, up.to - 12, { weight: 600, most: axis.to - axis.from });
    pen.axis(up, "left", axis.from, { ticks: [0, 0.5, 1], grid: axis.to - axis.from });
    pen.axis(axis, "bottom", up.from, { ticks: axis.ticks(isNarrow(width) ? 4 : 8).filter((tick) => tick >= 0) });
    if (table === "learned") this.drawEnd(pen, axis, bars.y, up);
    const alike = vectors.map((each) => cosine(current, each));
    const place = (/** @type {number} */ value) => up.place(Math.max(LOW, value));
    const points = alike.map((value, index) => [axis.place(index / fine), place(value)]);
    pen.trace(points, { colour: theme.kinds.encoder, width: 2.5 });
    this.bars.mark(pen, axis, bars, cut, theme.kinds.decoder);
    const x = axis.place(cut);
    pen.line(x, bars.y + bars.height, x, up.from, { colour: theme.kinds.decoder, width: 1.5 });
    pen.dot(x, up.place(1), 5.5, theme.kinds.decoder, theme.background);
    pen.write(`p = ${Math.round(cut)}`, width - 4, bars.y + 10, { weight: 600, align: "right" });
    for (const side of [-1, 1]) {
      const other = Math.round(cut) + side * APART;
      if (other < 0 || other >= NEAR) continue;
      this.bars.mark(pen, axis, bars, other, theme.kinds.cross);
      this.drawNumber(pen, axis.place(other), place(alike[other * fine]), alike[other * fine], side);
    }
  }

  /**
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {{ y: number, height: number }} place
   * @param {string} table
   */
  drawBars(pen, axis, place, table) {
    const learned = table === "learned";
    const { vectors } = this.compared({ at: 0, table });
    const rows = BarCodes.rows(place.height, vectors[0].length);
    const full = learned ? BRIGHT * rootMeanSquare(vectors.flatMap((each) => Array.from(each))) : 1;
    this.bars.draw(pen, axis, place, {
      key: table,
      count: NEAR,
      rows,
      value: learned
        ? (row, position) => vectors[position][Math.floor((row * vectors[0].length) / rows)] / full
        : (row, position) => encoding(position, barColumn(row, rows, this.width), this.width),
    });
    if (!learned) this.bars.names(pen, axis.from - 10, place);
  }

  /**
   * Mark where the training of the learned table ended.
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {number} top
   * @param {Axis} up
   */
  drawEnd(pen, axis, top, up) {
    const { theme } = pen;
    const { trained } = this.lesson.values;
    const end = axis.place(trained - 0.5);
    pen.fill(end, up.to, axis.to - end, up.from - up.to, theme.line, 0.5);
    pen.line(end, top - 4, end, up.from, { colour: theme.text, dash: [4, 4] });
    const style = { align: "right", most: axis.to - end };
    pen.note(fillText(this.texts.untrained, { count: trained }), axis.to, top - 12, style);
  }

  /**
   * A point on the curve with its number.
   * @param {Pen} pen
   * @param {number} x
   * @param {number} y
   * @param {number} value
   * @param {number} side Of the cut, -1 or 1.
   */
  drawNumber(pen, x, y, value, side) {
    const { theme } = pen;
    const { cross } = theme.kinds;
    pen.dot(x, y, 4.5, cross, theme.background);
    const style = { weight: 600, align: side < 0 ? "right" : "left", colour: cross };
    const wide = pen.measure(signed(value), style) + 4;
    pen.fill(x + side * 7 - (side < 0 ? wide : 0), y - 17, wide, 17, theme.background, 0.8);
    pen.write(signed(value), x + side * 9, y - 8, style);
  }

  /** @param {Settings} settings */
  say({ at, table }) {
    const p = Math.round(this.story.cut(at));
    if (table === "sines")
      return fillText(this.texts.near_say, { k: APART, value: signed(dotProduct(0, APART, this.width), 1) });
    const next = Math.min(p + 1, NEAR - 1);
    const fixed = signed(cosine(vector(p, this.width), vector(next, this.width)));
    return fillText(this.texts.learned_say, {
      p,
      next,
      fixed,
      learned: signed(cosine(this.learned[p], this.learned[next])),
    });
  }

  /** @param {Settings} settings */
  table({ at, table }) {
    const p = Math.round(this.story.cut(at));
    const { vectors, fine, current } = this.compared({ at, table });
    const rows = Array.from({ length: NEAR }, (_, position) => [
      position,
      dotProduct(p, position, this.width),
      cosine(current, vectors[position * fine]),
    ]);
    const { position, cosine: name } = this.texts;
    return { columns: [position, `PE(${p}) \u00b7 PE`, `${this.texts[table]}: ${name}`], rows };
  }
}

/**
 * @param {ArrayLike<number>} one
 * @param {ArrayLike<number>} other
 */
function cosine(one, other) {
  const dot = (/** @type {ArrayLike<number>} */ a, /** @type {ArrayLike<number>} */ b) => {
    let sum = 0;
    for (let index = 0; index < a.length; index++) sum += a[index] * b[index];
    return sum;
  };
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
}
