// The chapter "Near and far": the bar codes of 64 positions side by side, and how alike each of them is to the one under the
// cut. Instead of the sinusoids it can show a table that a small model has learned; that ends where its training ended.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, signed } from "../../../components/common/text/format.js";
import { isNarrow } from "../../stage/js/layout.js";
import { BarCodes } from "./barcodes.js";
import { barColumn, dotProduct, encoding, vector } from "./encoding.js";
import { NEAR } from "./story.js";
import { NUMBERS, positionAxis } from "./tokenaxis.js";

const HEAD = 22;
const GAP = 34;
const APART = 5; // positions from the cut to the two that are compared
const FINE = 4; // points of the curve for a position
const LOW = -0.3; // cosine
const BRIGHT = 3; // standard deviations of the learned numbers that have the full colour

export class NearFar {
  bars = new BarCodes();

  /**
   * @param {LessonData<import("./numbers").Values>} lesson
   * @param {Texts} texts
   * @param {import("./story.js").Story} story
   */
  constructor(lesson, texts, story) {
    this.lesson = lesson;
    this.texts = texts;
    this.story = story;
    const { d_model, trained } = lesson.values;
    const rows = Array.from({ length: NEAR }, (_, position) => position);
    /** @type {{ sines: ArrayLike<number>[], learned?: ArrayLike<number>[] } & Record<string, ArrayLike<number>[]>} */
    this.tables = { sines: rows.map((position) => vector(position, d_model)) };
    if (trained) this.tables.learned = rows.map((position) => lesson.arrays.table.part(position).data);
  }

  /** @param {number} width */
  axis(width) {
    return positionAxis(width, NEAR);
  }

  /**
   * Cosine of the position under the cut, which may lie between two, and another one.
   * @param {Settings} settings
   * @param {number} position
   */
  alike({ at, table }, position) {
    const cut = this.story.cut(at);
    const { d_model } = this.lesson.values;
    if (table === "sines") return dotProduct(cut, position, d_model) / (d_model / 2);
    return cosine(this.tables[table][Math.round(cut)], this.tables[table][position]);
  }

  /**
   * @param {Pen} pen
   * @param {Settings} settings
   */
  draw(pen, settings) {
    const { theme, height, width } = pen;
    const { table } = settings;
    const axis = this.axis(width);
    const cut = this.story.cut(settings.at);
    const at = table === "sines" ? cut : Math.round(cut);
    const bars = { y: HEAD, height: Math.round((height - HEAD - GAP - NUMBERS) * 0.5) };
    const up = new Axis(LOW, 1, height - NUMBERS - 6, bars.y + bars.height + GAP);
    this.drawBars(pen, axis, bars, table);
    pen.write(this.texts[table], axis.from, 9, { weight: 600, most: axis.to - axis.from });
    pen.write(this.texts.alike, axis.from, up.to - 12, { weight: 600, most: axis.to - axis.from });
    pen.axis(up, "left", axis.from, { ticks: [0, 0.5, 1], grid: axis.to - axis.from });
    pen.axis(axis, "bottom", up.from, { ticks: axis.ticks(isNarrow(width) ? 4 : 8).filter((tick) => tick >= 0) });
    if (table === "learned") this.drawEnd(pen, axis, bars.y, up);
    const fine = table === "sines" ? FINE : 1; // a table has nothing between its rows
    const points = Array.from({ length: fine * (NEAR - 1) + 1 }, (_, index) => [
      axis.place(index / fine),
      up.place(Math.max(LOW, this.alike(settings, index / fine))),
    ]);
    pen.trace(points, { colour: theme.kinds.encoder, width: 2.5 });
    this.bars.mark(pen, axis, bars, at, theme.kinds.decoder);
    const x = axis.place(at);
    pen.line(x, bars.y + bars.height, x, up.from, { colour: theme.kinds.decoder, width: 1.5 });
    pen.dot(x, up.place(1), 5.5, theme.kinds.decoder, theme.background);
    pen.write(`p = ${Math.round(at)}`, width - 4, bars.y + 10, { weight: 600, align: "right" });
    for (const side of [-1, 1]) this.drawOther(pen, axis, bars, up, settings, Math.round(cut) + side * APART, side);
  }

  /**
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {{ y: number, height: number }} place
   * @param {string} table
   */
  drawBars(pen, axis, place, table) {
    const { d_model } = this.lesson.values;
    const learned = table === "learned";
    const vectors = this.tables[table];
    const rows = BarCodes.rows(place.height, vectors[0].length);
    const full = learned ? BRIGHT * deviation(vectors) : 1;
    this.bars.draw(pen, axis, place, {
      key: table,
      count: NEAR,
      rows,
      value: learned
        ? (row, position) => vectors[position][Math.floor((row * vectors[0].length) / rows)] / full
        : (row, position) => encoding(position, barColumn(row, rows, d_model), d_model),
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
   * A position so far from the cut: its bar code, and its point on the curve with the number.
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {{ y: number, height: number }} bars
   * @param {Axis} up
   * @param {Settings} settings
   * @param {number} position
   * @param {number} side
   */
  drawOther(pen, axis, bars, up, settings, position, side) {
    const { theme } = pen;
    if (position < 0 || position >= NEAR) return;
    const { cross } = theme.kinds;
    const value = this.alike(settings, position);
    this.bars.mark(pen, axis, bars, position, cross);
    const [x, y] = [axis.place(position), up.place(value)];
    pen.dot(x, y, 4.5, cross, theme.background);
    const align = side < 0 ? "right" : "left";
    const text = signed(value);
    const wide = pen.measure(text, { weight: 600 }) + 4;
    pen.fill(x + side * 7 - (side < 0 ? wide : 0), y - 17, wide, 17, theme.background, 0.8);
    pen.write(text, x + side * 9, y - 8, { weight: 600, align, colour: cross });
  }

  /** @param {Settings} settings */
  say({ at, table }) {
    const { d_model } = this.lesson.values;
    const p = Math.round(this.story.cut(at));
    const next = Math.min(p + 1, NEAR - 1);
    if (table === "sines")
      return fillText(this.texts.near_say, { k: APART, value: signed(dotProduct(0, APART, d_model), 1) });
    const [fixed, learned] = ["sines", "learned"].map((name) =>
      signed(cosine(this.tables[name][p], this.tables[name][next])),
    );
    return fillText(this.texts.learned_say, { p, next, fixed, learned });
  }

  /** @param {Settings} settings */
  table(settings) {
    const p = Math.round(this.story.cut(settings.at));
    const names = Object.keys(this.tables);
    const rows = this.tables.sines.map((other, position) => [
      position,
      dotProduct(p, position, this.lesson.values.d_model),
      ...names.map((name) => cosine(this.tables[name][p], this.tables[name][position])),
    ]);
    const columns = names.map((name) => `${this.texts[name]}: ${this.texts.cosine}`);
    return { columns: [this.texts.position, `PE(${p}) \u00b7 PE`, ...columns], rows };
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

/** @param {ArrayLike<number>[]} vectors */
function deviation(vectors) {
  const all = vectors.flatMap((each) => Array.from(each));
  return Math.hypot(...all) / Math.sqrt(all.length);
}
