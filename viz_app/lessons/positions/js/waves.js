// Waves that stand still: six pairs of columns over the positions, a cut through them, and the vector that it reads off.

import { divergingPixel } from "../../../components/common/draw/diverging.js";
import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { choice, playhead, tenths } from "../../stage/js/describe.js";
import { Grid } from "../../stage/js/grid.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { encoding, pairs, periodText } from "./encoding.js";
import { FOOT, TokenAxis } from "./tokenaxis.js";

const HEAD = 20; // over the vector: what its two columns are
const POINTS = 480; // of a curve

/** @typedef {ReturnType<Waves["places"]>} Places */

/** @extends {Scene<import("./numbers").Values>} */
export class Waves extends Scene {
  size = { least: 380, most: 620 };

  grid = new Grid();
  shown = pairs(this.lesson.values.d_model);

  get playhead() {
    const max = this.lesson.values.positions - 1;
    return playhead({ name: "at", label: this.texts.position, max, rate: 1.6, show: tenths });
  }

  get controls() {
    return [choice("part", this.texts.columns, { sin: "sin", cos: "cos" })];
  }

  /** @type {Scene["lit"]} */
  lit({ part }) {
    return part;
  }

  /**
   * Place the parts of the picture.
   * @param {{ width: number, height: number }} given
   */
  places({ width, height }) {
    const small = isNarrow(width);
    const cell = small ? 13 : 22; // of the vector
    const strip = width - 2 * cell - 2;
    const [left, right] = small ? [40, strip - 74] : [104, strip - 118];
    const { tokens, positions } = this.lesson.values;
    const axis = new TokenAxis(tokens, positions, left, right);
    const lane = (height - FOOT - HEAD) / this.shown.length;
    return { small, cell, strip, left, right, axis, lane, bottom: height - FOOT };
  }

  /** @type {Scene["draw"]} */
  draw(pen, { at, part }) {
    const { theme } = pen;
    const places = this.places(pen);
    const across = places.axis.page(at);
    const x = across.place(at);
    this.drawVector(pen, places, at);
    this.shown.forEach((pair, index) => this.drawLane(pen, places, across, pair, index, at, part));
    pen.line(x, HEAD - 8, x, places.bottom + 4, { colour: theme.text, width: 1.5 });
    this.shown.forEach((pair, index) => {
      const y = this.lane(places, index).place(this.value(at, pair, part));
      pen.dot(x, y, 5.5, theme.kinds.decoder, theme.background);
    });
    places.axis.draw(pen, at, places.bottom + 6, { [Math.round(at)]: theme.text });
  }

  /**
   * @param {Places} places
   * @param {number} index
   */
  lane({ lane }, index) {
    return new Axis(-1, 1, HEAD + (index + 0.9) * lane, HEAD + (index + 0.1) * lane);
  }

  /**
   * @param {number} at
   * @param {number} pair
   * @param {string} part
   */
  value(at, pair, part) {
    return encoding(at, 2 * pair + (part === "cos" ? 1 : 0), this.lesson.values.d_model);
  }

  /**
   * @param {Pen} pen
   * @param {Places} places
   * @param {Axis} across
   * @param {number} pair
   * @param {number} index
   * @param {number} at
   * @param {string} part
   */
  drawLane(pen, places, across, pair, index, at, part) {
    const { context, theme } = pen;
    const { d_model } = this.lesson.values;
    const { left, right, small, strip, cell } = places;
    const axis = this.lane(places, index);
    const middle = axis.place(0);
    pen.line(left, middle, right, middle, { colour: theme.line, width: 1 });
    const points = Array.from({ length: POINTS + 1 }, (_, point) => {
      const position = across.low + (point * (across.high - across.low)) / POINTS;
      return [across.place(position), axis.place(this.value(position, pair, part))];
    });
    pen.trace(points, { colour: theme.kinds.encoder, width: 2 });
    const column = String(2 * pair + (part === "cos" ? 1 : 0));
    pen.write(column, left - 12, middle - (small ? 0 : 8), { weight: 600, align: "right" });
    const length = fillText(this.texts.period, { length: periodText(pair, d_model) });
    if (!small) pen.note(length, left - 12, middle + 9, { align: "right", most: left - 14 });
    const value = signed(this.value(at, pair, part));
    pen.write(value, right + (small ? 44 : 56), middle, { size: small ? 13 : 14, weight: 600, align: "right" });
    const row = HEAD + ((pair + 0.5) / (d_model / 2)) * (places.bottom - HEAD);
    const [from, to] = [right + (small ? 48 : 62), strip - 3];
    context.beginPath();
    context.moveTo(from, middle);
    context.bezierCurveTo((from + to) / 2, middle, (from + to) / 2, row, to, row);
    context.strokeStyle = theme.mark;
    context.lineWidth = 1;
    context.stroke();
    const height = Math.max(4, (places.bottom - HEAD) / (d_model / 2));
    pen.frame(strip + (part === "cos" ? cell : 0), row - height / 2, cell, height, theme.text, 1.25);
  }

  /**
   * PE(pos): a row for each pair, sine left and cosine right.
   * @param {Pen} pen
   * @param {Places} places
   * @param {number} at
   */
  drawVector(pen, { strip, cell, bottom, small }, at) {
    const { context, theme } = pen;
    const { d_model } = this.lesson.values;
    this.grid.paint(`${theme.key} ${at}`, d_model / 2, 2, (pair, odd) =>
      divergingPixel(theme, encoding(at, 2 * pair + odd, d_model)),
    );
    this.grid.draw(context, strip, HEAD, 2 * cell, bottom - HEAD);
    pen.frame(strip, HEAD, 2 * cell, bottom - HEAD, theme.line);
    const right = strip + 2 * cell;
    if (small)
      pen.note("sin  cos", right, HEAD - 9, { size: 10, align: "right" }); // wider than the strip
    else
      ["sin", "cos"].forEach((name, odd) => pen.note(name, strip + (odd + 0.5) * cell, HEAD - 9, { align: "center" }));
    pen.write(`PE(${Math.round(at * 10) / 10})`, right, bottom + 16, { weight: 600, align: "right" });
    pen.note(fillText(this.texts.numbers, { count: d_model }), right, bottom + 34, { align: "right" });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { at }) {
    return { at: this.places(pen).axis.dragged(x, at) };
  }

  /** @type {Scene["say"]} */
  say({ at }) {
    const { tokens } = this.lesson.values;
    const position = Math.round(at);
    const token = tokens[position] && tokenText(tokens[position]);
    return fillText(token ? this.texts.waves_say : this.texts.waves_say_beyond, { position, token });
  }

  /** @type {Scene["table"]} */
  table({ part }) {
    const { d_model, positions } = this.lesson.values;
    const columns = this.shown.map((pair) => 2 * pair + (part === "cos" ? 1 : 0));
    const rows = Array.from({ length: positions }, (_, position) => [
      position,
      ...columns.map((column) => encoding(position, column, d_model)),
    ]);
    return { columns: [this.texts.position, ...columns.map((column) => `${this.texts.column} ${column}`)], rows };
  }
}
