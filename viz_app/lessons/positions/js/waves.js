// Waves that stand still: six pairs of columns over the positions, a cut through them, and the vector that it reads off.

import { divergingPixel } from "../../../components/common/diverging.js";
import { fillText } from "../../../components/common/dom.js";
import { signed } from "../../../components/common/format.js";
import { Axis, dot, trace, write } from "../../../components/common/plot.js";
import { frame, Grid } from "../../stage/js/grid.js";
import { Scene } from "../../stage/js/scene.js";
import { encoding, pairs, period } from "./encoding.js";
import { many } from "./numerals.js";
import { FOOT, TokenAxis, word } from "./tokenaxis.js";

const HEAD = 20; // over the vector: what its two columns are
const POINTS = 480; // of a curve

export class Waves extends Scene {
  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    this.grid = new Grid();
    this.shown = pairs(lesson.values.d_model);
  }

  get playhead() {
    const { positions } = this.lesson.values;
    return {
      name: "at",
      label: this.texts.position,
      min: 0,
      max: positions - 1,
      step: 1,
      rate: 1.6,
      start: 0,
      /** @param {number} value */
      show: (value) => value.toFixed(value % 1 ? 1 : 0),
    };
  }

  get controls() {
    return [
      {
        name: "part",
        kind: "choice",
        label: this.texts.columns,
        options: [
          ["sin", "sin"],
          ["cos", "cos"],
        ],
        start: "sin",
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(380, Math.min(620, room));
  }

  /** @type {Scene["lit"]} */
  lit({ part }) {
    return part;
  }

  /**
   * Where everything stands.
   * @param {{ width: number, height: number }} given
   */
  places({ width, height }) {
    const small = width < 520;
    const cell = small ? 13 : 22; // of the vector
    const strip = width - 2 * cell - 2;
    const [left, right] = small ? [40, strip - 74] : [104, strip - 118];
    const { tokens, positions } = this.lesson.values;
    return {
      small,
      cell,
      strip,
      left,
      right,
      axis: new TokenAxis(tokens, positions, left, right),
      lane: (height - FOOT - HEAD) / this.shown.length,
      bottom: height - FOOT,
    };
  }

  /** @type {Scene["draw"]} */
  draw(pen, { at, part }) {
    const { context, theme } = pen;
    const places = this.places(pen);
    const across = places.axis.page(at);
    const x = across.place(at);
    this.drawVector(pen, places, at);
    this.shown.forEach((pair, index) => this.drawLane(pen, places, across, pair, index, at, part));
    trace(
      context,
      [
        [x, HEAD - 8],
        [x, places.bottom + 4],
      ],
      { colour: theme.text, width: 1.5 },
    );
    this.shown.forEach((pair, index) =>
      dot(
        context,
        x,
        this.lane(places, index).place(this.value(at, pair, part)),
        5.5,
        theme.kinds.decoder,
        theme.background,
      ),
    );
    places.axis.draw(pen, at, places.bottom + 6, { [Math.round(at)]: theme.text });
  }

  /**
   * @param {{ lane: number }} given
   * @param {number} index
   */
  lane({ lane }, index) {
    return new Axis(-1, 1, HEAD + (index + 0.9) * lane, HEAD + (index + 0.1) * lane);
  }

  /**
   * @param {number} at
   * @param {number} pair
   * @param {any} part
   */
  value(at, pair, part) {
    return encoding(at, 2 * pair + (part === "cos" ? 1 : 0), this.lesson.values.d_model);
  }

  /**
   * @param {Pen} pen
   * @param {any} places
   * @param {Axis} across
   * @param {number} pair
   * @param {number} index
   * @param {number} at
   * @param {any} part
   */
  drawLane({ context, theme }, places, across, pair, index, at, part) {
    const { d_model } = this.lesson.values;
    const { left, right, small, strip, cell } = places;
    const axis = this.lane(places, index);
    const middle = axis.place(0);
    trace(
      context,
      [
        [left, middle],
        [right, middle],
      ],
      { colour: theme.line, width: 1 },
    );
    const points = Array.from({ length: POINTS + 1 }, (_, point) => {
      const position = across.low + (point * (across.high - across.low)) / POINTS;
      return [across.place(position), axis.place(this.value(position, pair, part))];
    });
    trace(context, points, { colour: theme.kinds.encoder, width: 2 });
    const quiet = { colour: theme.muted, font: theme.font, size: 12, align: "right" };
    const column = String(2 * pair + (part === "cos" ? 1 : 0));
    write(context, column, left - 12, middle - (small ? 0 : 8), {
      ...quiet,
      colour: theme.text,
      size: 13,
      weight: 600,
    });
    if (!small)
      write(context, fillText(this.texts.period, { length: many(period(pair, d_model)) }), left - 12, middle + 9, {
        ...quiet,
        most: left - 14,
      });
    const value = this.value(at, pair, part);
    write(context, signed(value), right + (small ? 44 : 56), middle, {
      colour: theme.text,
      font: theme.font,
      size: small ? 13 : 14,
      weight: 600,
      align: "right",
    });
    const row = HEAD + ((pair + 0.5) / (d_model / 2)) * (places.bottom - HEAD);
    const [from, to] = [right + (small ? 48 : 62), strip - 3];
    context.beginPath();
    context.moveTo(from, middle);
    context.bezierCurveTo((from + to) / 2, middle, (from + to) / 2, row, to, row);
    context.strokeStyle = theme.mark;
    context.lineWidth = 1;
    context.stroke();
    const height = Math.max(4, (places.bottom - HEAD) / (d_model / 2));
    frame(context, strip + (part === "cos" ? cell : 0), row - height / 2, cell, height, theme.text, 1.25);
  }

  /**
   * PE(pos): a row for each pair, sine left and cosine right.
   * @param {Pen} pen
   * @param {{ strip: any, cell: number, bottom: number, small: any }} given
   * @param {number} at
   */
  drawVector({ context, theme }, { strip, cell, bottom, small }, at) {
    const { d_model } = this.lesson.values;
    this.grid.paint(`${theme.key} ${at}`, d_model / 2, 2, (pair, odd) =>
      divergingPixel(theme, encoding(at, 2 * pair + odd, d_model)),
    );
    this.grid.draw(context, strip, HEAD, 2 * cell, bottom - HEAD);
    frame(context, strip, HEAD, 2 * cell, bottom - HEAD, theme.line);
    const style = { colour: theme.muted, font: theme.font, size: small ? 10 : 12, align: "center" };
    if (small)
      write(context, "sin  cos", strip + 2 * cell, HEAD - 9, { ...style, align: "right" }); // wider than the strip
    else ["sin", "cos"].forEach((name, column) => write(context, name, strip + (column + 0.5) * cell, HEAD - 9, style));
    const name = { colour: theme.text, font: theme.font, size: 13, weight: 600, align: "right" };
    write(context, `PE(${Math.round(at * 10) / 10})`, strip + 2 * cell, bottom + 16, name);
    write(context, fillText(this.texts.numbers, { count: d_model }), strip + 2 * cell, bottom + 34, {
      ...name,
      colour: theme.muted,
      size: 12,
      weight: 400,
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { at }) {
    return { at: this.places(pen).axis.dragged(x, at) };
  }

  /** @type {Scene["say"]} */
  say({ at }) {
    const { tokens } = this.lesson.values;
    const position = Math.round(at);
    const token = tokens[position] && word(tokens[position]);
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
