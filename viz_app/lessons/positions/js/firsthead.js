// The chapter "Head": a head of the first layer. For the query under the cut it shows how much of the score of each key comes
// from positions, from words and from both, and the weights that follow.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, percent, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { isNarrow } from "../../stage/js/layout.js";
import { drawTokens, tokenRow } from "./tokenaxis.js";
import { View } from "./view.js";

const HEAD = 18;
const ZERO = 0.6; // of the height of a lane, from its top
const TALLEST = 0.95; // of the height of a lane, for the largest number
const LEAST = 1e-4; // parts that are smaller everywhere have no lane
const WIDEST = 46; // of a bar
const NAMES = ["part_positions", "part_words", "part_mixed", "part_biases"]; // as in first_layer.py

export class FirstHead extends View {
  lanes = this.parts();
  weights = this.lesson.arrays.weights;
  most = Math.max(...this.lanes.flatMap(([, numbers]) => [...numbers.map(Math.abs)]));

  /** Return the parts of the scores and their sum, each with its name. */
  parts() {
    const { parts } = this.lesson.arrays;
    /** @type {[name: string, numbers: Float32Array][]} */
    const lanes = NAMES.map((name, part) => [name, parts.part(part).data]);
    const sum = lanes[0][1].map((_, cell) => lanes.reduce((total, [, numbers]) => total + numbers[cell], 0));
    /** @type {typeof lanes} */
    return [...lanes.filter(([, numbers]) => numbers.some((each) => Math.abs(each) > LEAST)), ["score", sum]];
  }

  /**
   * The key with the largest weight of a query.
   * @param {number} query
   */
  strongest(query) {
    const row = this.weights.part(query).data;
    return row.indexOf(Math.max(...row));
  }

  /**
   * @param {Pen} pen
   * @param {Settings} settings
   */
  draw(pen, settings) {
    const { theme, width, height } = pen;
    const { tokens } = this;
    const { head } = this.lesson.values;
    const axis = this.axis(width, settings);
    const query = this.token(settings);
    const key = this.strongest(query);
    const row = tokenRow(pen, axis, tokens);
    const tall = (height - HEAD - row.height - 4) / (this.lanes.length + 1);
    pen.write(fillText(this.texts.head_of, { head, token: tokenText(tokens[query]) }), 0, 9, {
      weight: 600,
      most: width,
    });
    const { most } = this;
    const { decoder, encoder } = theme.kinds;
    const bottom = height - row.height - 4;
    pen.fill(axis.place(query - 0.5), HEAD + 4, axis.place(1) - axis.place(0), bottom - HEAD, theme.line, 0.45);
    this.lanes.forEach(([name, numbers], lane) => {
      const zero = HEAD + (lane + ZERO) * tall;
      const up = new Axis(-most, most, zero + TALLEST * tall, zero - TALLEST * tall);
      const colour = name === "part_positions" ? decoder : name === "score" ? theme.text : theme.mark;
      const of = (/** @type {number} */ each) => numbers[query * tokens.length + each];
      this.drawBars(pen, axis, up, this.texts[name], of, colour, signed(of(key), 1));
    });
    const up = new Axis(-1, 1, 2 * bottom - HEAD - this.lanes.length * tall - 12, HEAD + this.lanes.length * tall + 4);
    const weight = (/** @type {number} */ each) => this.weights.at(query, each);
    this.drawBars(pen, axis, up, this.texts.weight, weight, encoder, percent(weight(key)));
    drawTokens(pen, axis, tokens, { y: height - row.height, level: row.level, cut: key });
  }

  /**
   * A bar for each key, the name of the lane at the left, the number of the strongest key at the right.
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {Axis} up
   * @param {string} name
   * @param {(key: number) => number} value
   * @param {string} colour
   * @param {string} number
   */
  drawBars(pen, axis, up, name, value, colour, number) {
    const { theme, width } = pen;
    const zero = up.place(0);
    const wide = Math.min(WIDEST, (axis.place(1) - axis.place(0)) * 0.7);
    this.tokens.forEach((_, key) => {
      const end = up.place(value(key));
      pen.fill(axis.place(key) - wide / 2, Math.min(zero, end), wide, Math.max(1, Math.abs(end - zero)), colour);
    });
    pen.line(axis.from, zero, axis.to, zero, { colour: theme.mark, width: 1 });
    const style = { size: 12.5, weight: 600 };
    if (isNarrow(width)) pen.write(name, 0, zero - 44, { ...style, most: axis.from + 40 });
    else pen.write(name, axis.from - 10, zero, { ...style, align: "right", most: axis.from - 10 });
    pen.write(number, width - 4, zero, { size: 14, weight: 600, align: "right" });
  }

  /** @param {Settings} settings */
  say(settings) {
    const { tokens } = this;
    const { head } = this.lesson.values;
    const query = this.token(settings);
    const key = this.strongest(query);
    const parts = this.lanes.map(
      ([name, numbers]) => `${this.texts[name]} ${signed(numbers[query * tokens.length + key], 1)}`,
    );
    return fillText(this.texts.head_say, {
      head,
      token: tokenText(tokens[query]),
      key: tokenText(tokens[key]),
      weight: percent(this.weights.at(query, key)),
      parts: parts.join(", "),
    });
  }

  /** @param {Settings} settings */
  table(settings) {
    const { tokens } = this;
    const query = this.token(settings);
    const rows = tokens.map((token, key) => [
      tokenText(token),
      ...this.lanes.map(([, numbers]) => numbers[query * tokens.length + key]),
      this.weights.at(query, key),
    ]);
    return { columns: ["", ...this.lanes.map(([name]) => this.texts[name]), this.texts.weight], rows };
  }
}
