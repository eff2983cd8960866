// Six pairs as clock hands at two positions, k apart: each hand turns, the angle between the two does not. Below, the
// matrix that turns PE(p) into PE(p + k), and the dot product of both.

import { divergingPixel } from "../../../components/common/diverging.js";
import { fillText } from "../../../components/common/dom.js";
import { signed, tiny } from "../../../components/common/format.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { frame, Grid } from "../../stage/js/grid.js";
import { Scene } from "../../stage/js/scene.js";
import { angle, block, dotProduct, encoding, mapError, pairs, period } from "./encoding.js";
import { many } from "./numerals.js";
import { word } from "./tokenaxis.js";

const MOST_STEPS = 12; // of k

export class Clocks extends Scene {
  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    this.shown = pairs(lesson.values.d_model);
    this.grids = { matrix: new Grid(), from: new Grid(), to: new Grid() };
  }

  get playhead() {
    const { positions } = this.lesson.values;
    return {
      name: "at",
      label: this.texts.position_p,
      min: 0,
      max: positions - 1,
      step: 1,
      rate: 0.8,
      start: 0,
      /** @param {number} value */
      show: (value) => value.toFixed(value % 1 ? 1 : 0),
    };
  }

  get controls() {
    return [{ name: "k", kind: "range", label: "k", min: 1, max: MOST_STEPS, step: 1, start: 2 }];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < 520 ? 640 : Math.max(400, Math.min(640, room));
  }

  lit() {
    return "angle";
  }

  /** @type {Scene["draw"]} */
  draw(pen, { at, k }) {
    const { width, height } = pen;
    const small = width < 520;
    const [columns, rows] = small ? [3, 2] : [6, 1];
    const clocks = { x: 0, y: 0, width, height: small ? 290 : Math.min(270, height * 0.47) };
    const cell = { width: clocks.width / columns, height: clocks.height / rows };
    this.drawHeads(pen, at, k);
    this.shown.forEach((pair, index) => {
      const place = {
        x: (index % columns) * cell.width,
        y: 22 + Math.floor(index / columns) * cell.height,
        width: cell.width,
        height: cell.height - (rows === 1 ? 22 : 11),
      };
      this.drawClock(pen, place, pair, at, k);
    });
    const top = clocks.height + 20;
    const side = small
      ? { x: 0, y: top, width, height: 182 }
      : { x: 0, y: top, width: Math.min(width * 0.5, height - top + 90), height: height - top };
    this.drawMap(pen, side, at, k);
    const rest = small
      ? { x: 0, y: top + side.height + 14, width, height: height - top - side.height - 14 }
      : { x: side.width + 34, y: top, width: width - side.width - 34, height: height - top };
    this.drawProduct(pen, rest, at, k);
  }

  /** @param {Theme} theme */
  colours({ kinds }) {
    return { from: kinds.decoder, to: kinds.cross };
  }

  /**
   * Which hand is which: the two positions with their tokens.
   * @param {Pen} pen
   * @param {number} at
   * @param {number} k
   */
  drawHeads({ context, theme, width }, at, k) {
    const { from, to } = this.colours(theme);
    /** @param {number} position */
    const name = (position) => {
      const token = this.lesson.values.tokens[Math.round(position)];
      return `${Math.round(position * 10) / 10}${token ? `  ${word(token)}` : ""}`;
    };
    const style = { font: theme.font, size: 14, weight: 600 };
    dot(context, 6, 9, 5, from);
    write(context, `p = ${name(at)}`, 17, 9, { ...style, colour: theme.text, most: width / 2 - 24 });
    const second = Math.min(width / 2, 220);
    dot(context, second + 6, 9, 5, to);
    write(context, `p + k = ${name(at + k)}`, second + 17, 9, {
      ...style,
      colour: theme.text,
      most: width - second - 20,
    });
  }

  /**
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number, height: number }} given
   * @param {number} pair
   * @param {number} at
   * @param {number} k
   */
  drawClock({ context, theme }, { x, y, width, height }, pair, at, k) {
    const { d_model } = this.lesson.values;
    const { from, to } = this.colours(theme);
    const radius = Math.min(width / 2 - 12, (height - 44) / 2, 96);
    const [centre, middle] = [x + width / 2, y + 26 + radius];
    const quiet = { colour: theme.muted, font: theme.font, size: 12, align: "center" };
    write(context, fillText(this.texts.period, { length: many(period(pair, d_model)) }), centre, y + 12, {
      ...quiet,
      most: width - 4,
    });
    context.beginPath();
    context.arc(centre, middle, radius, 0, 2 * Math.PI);
    context.strokeStyle = theme.line;
    context.lineWidth = 1.5;
    context.stroke();
    this.drawAngle(context, theme, centre, middle, radius, angle(at, pair, d_model), angle(k, pair, d_model));
    for (const [position, colour] of /** @type {[number, string][]} */ ([
      [at + k, to],
      [at, from],
    ])) {
      // Twelve o'clock is angle 0, so that sine runs to the right and cosine up, and hands turn as on a clock.
      const [sine, cosine] = [encoding(position, 2 * pair, d_model), encoding(position, 2 * pair + 1, d_model)];
      trace(
        context,
        [
          [centre, middle],
          [centre + radius * sine, middle - radius * cosine],
        ],
        { colour, width: 2.5 },
      );
      dot(context, centre + radius * sine, middle - radius * cosine, 4, colour);
    }
    dot(context, centre, middle, 2.5, theme.text);
    write(context, degrees(angle(k, pair, d_model)), centre, middle + radius + 16, {
      ...quiet,
      colour: theme.text,
      size: 13,
      weight: 600,
    });
  }

  /**
   * The angle between the hands, as a wedge.
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   * @param {number} start
   * @param {number} turned
   */
  drawAngle(context, theme, x, y, radius, start, turned) {
    const first = start - Math.PI / 2;
    context.save();
    context.globalAlpha = 0.18;
    context.fillStyle = theme.kinds.encoder;
    context.beginPath();
    context.moveTo(x, y);
    context.arc(x, y, radius * 0.62, first, first + (turned % (2 * Math.PI)));
    context.closePath();
    context.fill();
    context.restore();
  }

  /**
   * M_k times PE(p) gives PE(p + k), for the pairs that are shown.
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number, height: number }} given
   * @param {number} at
   * @param {number} k
   */
  drawMap({ context, theme }, { x, y, width, height }, at, k) {
    const { d_model } = this.lesson.values;
    const count = 2 * this.shown.length;
    const size = Math.max(6, Math.min(Math.floor((width - 70) / (count + 2 * 1.6)), Math.floor((height - 46) / count)));
    const thick = 1.6 * size;
    const top = y + 22;
    const { matrix, from, to } = this.grids;
    /** @param {number} index */
    const column = (index) => 2 * this.shown[index >> 1] + (index % 2);
    matrix.paint(`${theme.key} ${k}`, count, count, (row, other) =>
      divergingPixel(theme, row >> 1 === other >> 1 ? block(k, this.shown[row >> 1], d_model)[row % 2][other % 2] : 0),
    );
    from.paint(`${theme.key} ${at}`, count, 1, (row) => divergingPixel(theme, encoding(at, column(row), d_model)));
    to.paint(`${theme.key} ${at} ${k}`, count, 1, (row) =>
      divergingPixel(theme, encoding(at + k, column(row), d_model)),
    );
    const side = count * size;
    const second = x + side + 28;
    const third = second + thick + 34;
    matrix.draw(context, x, top, side, side);
    from.draw(context, second, top, thick, side);
    to.draw(context, third, top, thick, side);
    frame(context, x, top, side, side, theme.line);
    for (let pair = 0; pair < count / 2; pair++)
      frame(context, x + 2 * pair * size, top + 2 * pair * size, 2 * size, 2 * size, theme.mark);
    frame(context, second, top, thick, side, this.colours(theme).from, 1.5);
    frame(context, third, top, thick, side, this.colours(theme).to, 1.5);
    const sign = { colour: theme.text, font: theme.font, size: 17, align: "center" };
    write(context, "\u00b7", x + side + 14, top + side / 2, { ...sign, size: 22 });
    write(context, "=", second + thick + 17, top + side / 2, sign);
    const name = { colour: theme.text, font: theme.font, size: 13, weight: 600, align: "center" };
    write(context, `M${subscript(k)}`, x + side / 2, y + 9, name);
    write(context, "PE(p)", second + thick / 2, y + 9, name);
    write(context, "PE(p+k)", third + thick / 2 + 4, y + 9, name);
    const told = fillText(this.texts.map_check, { count: d_model, error: tiny(mapError(at, k, d_model)) });
    write(context, told, x, top + side + 16, { colour: theme.muted, font: theme.font, size: 12, most: width + 26 });
  }

  /**
   * The dot product over p: it depends on k alone.
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number, height: number }} given
   * @param {number} at
   * @param {number} k
   */
  drawProduct({ context, theme }, { x, y, width, height }, at, k) {
    const { d_model, positions } = this.lesson.values;
    const value = dotProduct(at, at + k, d_model);
    const bottom = y + height - 34;
    const across = new Axis(0, positions - 1, x + 26, x + width - 12);
    const up = new Axis(0, d_model / 2, bottom, y + 42);
    write(context, `PE(p) \u00b7 PE(p+k) = ${signed(value)}`, x, y + 9, {
      colour: theme.text,
      font: theme.font,
      size: 15,
      weight: 600,
    });
    drawAxis(context, up, "left", x + 26, { theme, ticks: up.ticks(3), grid: width - 38 });
    drawAxis(context, across, "bottom", bottom, { theme, ticks: across.ticks(6) });
    write(context, "p", (across.from + across.to) / 2, bottom + 28, {
      colour: theme.muted,
      font: theme.font,
      size: 13,
      align: "center",
    });
    const most = { colour: theme.muted, font: theme.font, size: 12 };
    trace(
      context,
      [
        [across.from, up.place(d_model / 2)],
        [across.to, up.place(d_model / 2)],
      ],
      { colour: theme.mark, dash: [4, 4] },
    );
    write(context, "k = 0", across.from + 4, up.place(d_model / 2) - 9, most);
    const points = Array.from({ length: 97 }, (_, index) => (index / 96) * (positions - 1)).map((p) => [
      across.place(p),
      up.place(dotProduct(p, p + k, d_model)),
    ]);
    trace(context, points, { colour: theme.kinds.encoder, width: 2.5 });
    write(context, `k = ${k}`, across.to, up.place(value) + (value > d_model / 4 ? 14 : -12), {
      ...most,
      align: "right",
      colour: theme.kinds.encoder,
      weight: 600,
    });
    dot(context, across.place(at), up.place(value), 5.5, theme.kinds.decoder, theme.background);
  }

  /** @type {Scene["say"]} */
  say({ at, k }) {
    const { d_model } = this.lesson.values;
    return fillText(this.texts.clocks_say, { k, value: signed(dotProduct(at, at + k, d_model)) });
  }

  /** @type {Scene["table"]} */
  table({ at, k }) {
    const { d_model } = this.lesson.values;
    const rows = this.shown.map((pair) => [
      pair,
      period(pair, d_model),
      ...[at, at + k, k].map((position) => ((angle(position, pair, d_model) * 180) / Math.PI) % 360),
    ]);
    return {
      columns: [
        this.texts.pair,
        this.texts.period_head,
        `p = ${at.toFixed(0)} (\u00b0)`,
        "p + k (\u00b0)",
        "k (\u00b0)",
      ],
      rows,
    };
  }
}

/**
 * Radians -> degrees, with as many places as a slow hand needs.
 * @param {number} radians
 */
function degrees(radians) {
  const turned = ((radians * 180) / Math.PI) % 360;
  return `${turned >= 10 ? turned.toFixed(0) : turned >= 0.1 ? turned.toFixed(1) : turned.toFixed(3)}\u00b0`;
}

/** @param {number} number */
function subscript(number) {
  return [...String(number)].map((digit) => String.fromCharCode(0x2080 + Number(digit))).join("");
}
