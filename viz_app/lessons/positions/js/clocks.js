// Six pairs as clock hands at two positions, k apart: each hand turns, the angle between the two does not. Below, the
// matrix that turns PE(p) into PE(p + k), and the dot product of both.

import { divergingPixel } from "../../../components/common/draw/diverging.js";
import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, signed, tiny } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { playhead, slider, tenths } from "../../stage/js/describe.js";
import { Grid } from "../../stage/js/grid.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { angle, block, dotProduct, encoding, mapError, pairs, period, periodText } from "./encoding.js";

const MAX_STEPS = 12; // of k

/** @extends {Scene<import("./numbers").Values>} */
export class Clocks extends Scene {
  size = { narrow: 640, least: 400, most: 640 };
  term = "angle";

  shown = pairs(this.lesson.values.d_model);
  grids = { matrix: new Grid(), from: new Grid(), to: new Grid() };

  get playhead() {
    const max = this.lesson.values.positions - 1;
    return playhead({ name: "at", label: this.texts.position_p, max, rate: 0.8, show: tenths });
  }

  get controls() {
    return [slider({ name: "k", label: "k", min: 1, max: MAX_STEPS, start: 2 })];
  }

  /** @type {Scene["draw"]} */
  draw(pen, { at, k }) {
    const { width, height } = pen;
    const small = isNarrow(width);
    const [columns, rows] = small ? [3, 2] : [6, 1];
    const top = (small ? 290 : Math.min(270, height * 0.47)) + 20; // below the clocks
    const cell = { width: width / columns, height: (top - 20) / rows };
    this.drawHeads(pen, at, k);
    this.shown.forEach((pair, index) => {
      const [x, y] = [(index % columns) * cell.width, 22 + Math.floor(index / columns) * cell.height];
      this.drawClock(pen, { x, y, width: cell.width, height: cell.height - (small ? 11 : 22) }, pair, at, k);
    });
    if (small) {
      this.drawMap(pen, { x: 0, y: top, width, height: 182 }, at, k);
      this.drawProduct(pen, { x: 0, y: top + 196, width, height: height - top - 196 }, at, k);
      return;
    }
    const side = { x: 0, y: top, width: Math.min(width * 0.5, height - top + 90), height: height - top };
    this.drawMap(pen, side, at, k);
    this.drawProduct(pen, { ...side, x: side.width + 34, width: width - side.width - 34 }, at, k);
  }

  /** @param {Theme} theme */
  colours({ kinds }) {
    return { from: kinds.decoder, to: kinds.cross };
  }

  /**
   * Write the key of the hands: the two positions with their tokens.
   * @param {Pen} pen
   * @param {number} at
   * @param {number} k
   */
  drawHeads(pen, at, k) {
    const { theme, width } = pen;
    const { from, to } = this.colours(theme);
    /** @param {number} position */
    const name = (position) => {
      const token = this.lesson.values.tokens[Math.round(position)];
      return `${Math.round(position * 10) / 10}${token ? `  ${tokenText(token)}` : ""}`;
    };
    const style = { size: 14, weight: 600 };
    pen.dot(6, 9, 5, from);
    pen.write(`p = ${name(at)}`, 17, 9, { ...style, most: width / 2 - 24 });
    const second = Math.min(width / 2, 220);
    pen.dot(second + 6, 9, 5, to);
    pen.write(`p + k = ${name(at + k)}`, second + 17, 9, { ...style, most: width - second - 20 });
  }

  /**
   * @param {Pen} pen
   * @param {Box} place
   * @param {number} pair
   * @param {number} at
   * @param {number} k
   */
  drawClock(pen, { x, y, width, height }, pair, at, k) {
    const { context, theme } = pen;
    const { d_model } = this.lesson.values;
    const { from, to } = this.colours(theme);
    const radius = Math.min(width / 2 - 12, (height - 44) / 2, 96);
    const [centre, middle] = [x + width / 2, y + 26 + radius];
    const length = fillText(this.texts.period, { length: periodText(pair, d_model) });
    pen.note(length, centre, y + 12, { align: "center", most: width - 4 });
    context.beginPath();
    context.arc(centre, middle, radius, 0, 2 * Math.PI);
    context.strokeStyle = theme.line;
    context.lineWidth = 1.5;
    context.stroke();
    this.drawAngle(pen, centre, middle, radius, angle(at, pair, d_model), angle(k, pair, d_model));
    const hand = (/** @type {number} */ position, /** @type {string} */ colour) => {
      // Twelve o'clock is angle 0, so that sine runs to the right and cosine up, and hands turn as on a clock.
      const [sine, cosine] = [encoding(position, 2 * pair, d_model), encoding(position, 2 * pair + 1, d_model)];
      pen.line(centre, middle, centre + radius * sine, middle - radius * cosine, { colour, width: 2.5 });
      pen.dot(centre + radius * sine, middle - radius * cosine, 4, colour);
    };
    hand(at + k, to);
    hand(at, from);
    pen.dot(centre, middle, 2.5, theme.text);
    pen.write(degrees(angle(k, pair, d_model)), centre, middle + radius + 16, { weight: 600, align: "center" });
  }

  /**
   * The angle between the hands, as a wedge.
   * @param {Pen} pen
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   * @param {number} start
   * @param {number} turned
   */
  drawAngle(pen, x, y, radius, start, turned) {
    const { context, theme } = pen;
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
   * @param {Box} place
   * @param {number} at
   * @param {number} k
   */
  drawMap(pen, { x, y, width, height }, at, k) {
    const { context, theme } = pen;
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
    pen.frame(x, top, side, side, theme.line);
    for (let pair = 0; pair < count / 2; pair++)
      pen.frame(x + 2 * pair * size, top + 2 * pair * size, 2 * size, 2 * size, theme.mark);
    pen.frame(second, top, thick, side, this.colours(theme).from, 1.5);
    pen.frame(third, top, thick, side, this.colours(theme).to, 1.5);
    pen.write("\u00b7", x + side + 14, top + side / 2, { size: 22, align: "center" });
    pen.write("=", second + thick + 17, top + side / 2, { size: 17, align: "center" });
    const name = { weight: 600, align: "center" };
    pen.write(`M${subscript(k)}`, x + side / 2, y + 9, name);
    pen.write("PE(p)", second + thick / 2, y + 9, name);
    pen.write("PE(p+k)", third + thick / 2 + 4, y + 9, name);
    const check = fillText(this.texts.map_check, { count: d_model, error: tiny(mapError(at, k, d_model)) });
    pen.note(check, x, top + side + 16, { most: width + 26 });
  }

  /**
   * The dot product over p: it depends on k alone.
   * @param {Pen} pen
   * @param {Box} place
   * @param {number} at
   * @param {number} k
   */
  drawProduct(pen, { x, y, width, height }, at, k) {
    const { theme } = pen;
    const { d_model, positions } = this.lesson.values;
    const value = dotProduct(at, at + k, d_model);
    const bottom = y + height - 34;
    const across = new Axis(0, positions - 1, x + 32, x + width - 16);
    const up = new Axis(0, d_model / 2, bottom, y + 42);
    pen.write(`PE(p) \u00b7 PE(p+k) = ${signed(value)}`, x, y + 9, { size: 15, weight: 600 });
    pen.axis(up, "left", x + 32, { ticks: up.ticks(3), grid: width - 48 });
    pen.axis(across, "bottom", bottom, { ticks: across.ticks(6) });
    pen.note("p", (across.from + across.to) / 2, bottom + 28, { size: 13, align: "center" });
    const most = up.place(d_model / 2);
    pen.line(across.from, most, across.to, most, { colour: theme.mark, dash: [4, 4] });
    pen.note("k = 0", across.from + 4, most - 9);
    const points = Array.from({ length: 97 }, (_, index) => {
      const p = (index / 96) * (positions - 1);
      return [across.place(p), up.place(dotProduct(p, p + k, d_model))];
    });
    const colour = theme.kinds.encoder;
    pen.trace(points, { colour, width: 2.5 });
    const above = value > d_model / 4 ? 14 : -12;
    pen.note(`k = ${k}`, across.to, up.place(value) + above, { align: "right", colour, weight: 600 });
    pen.dot(across.place(at), up.place(value), 5.5, theme.kinds.decoder, theme.background);
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
    const hands = [`p = ${at.toFixed(0)} (\u00b0)`, "p + k (\u00b0)", "k (\u00b0)"];
    return { columns: [this.texts.pair, this.texts.period_head, ...hands], rows };
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
