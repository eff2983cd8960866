// Three tokens with four numbers each: every number can be changed, every step of the formula is shown.

import { ease, fillText, signed } from "../../../components/common/text/format.js";
import { choice, playhead } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { additive, attend, LIMIT, pack, softmax, unpack } from "./attend.js";
import { stations } from "./stations.js";

/**
 * @typedef {ReturnType<typeof stations>} Place
 * @typedef {ReturnType<typeof attend>} Attended
 */

/** @type {(keyof import("./numbers").Values["example"])[]} */
const NAMES = ["q", "k", "v"];

/** @extends {Scene<import("./numbers").Values>} */
export class Steps extends Scene {
  size = { narrow: 646, least: 330, share: 0.4 };

  get tokens() {
    return this.lesson.values.three;
  }

  get width() {
    return this.lesson.values.example.q[0].length;
  }

  get playhead() {
    return playhead({
      name: "step",
      label: this.texts.step,
      max: 4,
      rate: 0.45,
      show: (value) => this.texts[`step_${Math.ceil(value - 1e-6)}`],
    });
  }

  get controls() {
    const tokens = Object.fromEntries(this.tokens.map((token, index) => [`q${index}`, token]));
    return [choice("query", this.texts.query, tokens, { start: "q1" })];
  }

  /** The numbers of Q, K and V, which have fields instead of controls. */
  get kept() {
    return NAMES.map((name) => ({ name, start: pack(this.lesson.values.example[name]) }));
  }

  /** @type {Scene["lit"]} */
  lit({ step }) {
    return [null, "dot", "scale", "softmax", "values"][Math.min(4, Math.ceil(step - 1e-6))];
  }

  /**
   * Q, K and V as they stand.
   * @param {Settings} settings
   */
  matrices(settings) {
    return NAMES.map((name) => unpack(settings[name], this.width) ?? this.lesson.values.example[name]);
  }

  /** @param {Settings} settings */
  row(settings) {
    return Math.max(0, ["q0", "q1", "q2"].indexOf(settings.query));
  }

  /**
   * Place the fields of the numbers.
   * @type {Scene["fields"]}
   */
  fields(width, height, settings) {
    const place = stations(width, height, this.tokens.length, this.width);
    return this.matrices(settings).flatMap((matrix, which) =>
      matrix.flatMap((numbers, row) =>
        numbers.map((value, column) => {
          const { x, y } = place.cell(NAMES[which], row, column);
          const box = { x: x + 1, y: y + 2, width: place.cellWidth - 2, height: place.cellHeight - 4 };
          const label = `${NAMES[which].toUpperCase()} ${this.tokens[row]} ${column + 1}`;
          return { key: `${which} ${row} ${column}`, ...box, size: place.size - 1, value: signed(value, 1), label };
        }),
      ),
    );
  }

  /**
   * @param {string} key
   * @param {number} number
   * @param {Settings} settings
   */
  entered(key, number, settings) {
    const [which, row, column] = key.split(" ").map(Number);
    const matrix = this.matrices(settings)[which].map((numbers) => [...numbers]);
    if (Number.isFinite(number)) matrix[row][column] = Math.max(-LIMIT, Math.min(LIMIT, Math.round(10 * number) / 10));
    return { [NAMES[which]]: pack(matrix) };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const place = stations(pen.width, pen.height, this.tokens.length, this.width);
    const [queries, keys, values] = this.matrices(settings);
    const row = this.row(settings);
    const attended = attend(queries[row], keys, values);
    this.drawMatrices(pen, place, [queries, keys, values], row, settings.step, attended);
    this.drawColumns(pen, place, attended, settings.step, queries[row], keys);
    this.drawOutput(pen, place, attended, settings.step);
    if (settings.step > 3) this.fade(pen, settings.step - 3, () => this.drawAdditive(pen, place, queries[row], keys));
  }

  /**
   * @param {Pen} pen
   * @param {Place} place
   * @param {number[][][]} matrices
   * @param {number} row
   * @param {number} step
   * @param {Attended} attended
   */
  drawMatrices(pen, place, matrices, row, step, { weights }) {
    const { theme } = pen;
    const wide = this.width * place.cellWidth;
    const colours = { q: theme.kinds.decoder, k: theme.kinds.encoder, v: theme.kinds.cross };
    matrices.forEach((matrix, which) => {
      const name = NAMES[which];
      const head = place.cell(name, 0, 0);
      pen.write(name.toUpperCase(), head.x + wide / 2, head.y - 12, { size: 14, weight: 650, align: "center" });
      matrix.forEach((numbers, index) => {
        const { x, y } = place.cell(name, index, 0);
        const middle = y + place.cellHeight / 2;
        const used = name === "q" ? index === row : step > 0;
        const strength = name === "v" && step > 3 ? 0.12 + 0.88 * weights[index] : used ? 0.5 : 0.12;
        pen.fill(x, y + place.cellHeight - 3, wide, 3, colours[name], strength);
        numbers.forEach((value, column) => {
          const style = { size: place.size - 1, align: "center" };
          pen.write(signed(value, 1), x + (column + 0.5) * place.cellWidth, middle, style);
        });
        if (name !== "q" && !place.stacked) return;
        const here = index === row;
        const colour = here || name !== "q" ? theme.text : theme.muted;
        const style = { colour, font: theme.code, weight: here && name === "q" ? 700 : 400, most: 58 };
        pen.write(this.tokens[index], place.label, middle, { ...style, align: "right" });
      });
    });
    const { x, y } = place.cell("q", row, 0);
    pen.frame(x - 2, y - 1, this.width * place.cellWidth + 4, place.cellHeight + 2, theme.kinds.decoder, 2);
  }

  /**
   * Products, scores and weights, a row for each key.
   * @param {Pen} pen
   * @param {Place} place
   * @param {Attended} attended
   * @param {number} step
   * @param {number[]} query
   * @param {number[][]} keys
   */
  drawColumns(pen, place, { products, scores, weights }, step, query, keys) {
    const { theme } = pen;
    const heads = { dot: "q\u00b7k", scaled: `\u00f7 \u221a${this.width}`, weight: this.texts.softmax };
    for (const [column, text] of Object.entries(heads))
      pen.note(text, place.column(column), place.columns.y - 12, { size: 13, align: "center" });
    const style = { size: place.size, weight: 600, align: "center" };
    keys.forEach((key, index) => {
      const y = place.row(index);
      const done = Math.min(1, step) * this.width; // how many products are added
      if (step > 0) {
        const sum = key.reduce((total, value, i) => total + Math.max(0, Math.min(1, done - i)) * value * query[i], 0);
        pen.write(signed(step < 1 ? sum : products[index]), place.column("dot"), y, style);
      }
      if (step > 1) this.fade(pen, step - 1, () => pen.write(signed(scores[index]), place.column("scaled"), y, style));
      if (step > 2) {
        const x = place.column("weight");
        const grown = place.barWidth * ease(step - 2) * weights[index];
        pen.fill(x - place.barWidth / 2, y + 0.42 * place.size, grown, 6, theme.kinds.decoder);
        this.fade(pen, step - 2, () => pen.write(signed(weights[index]), x, y - 0.3 * place.size, style));
      }
    });
    if (step > 0 && step < 1) this.mark(pen, place, Math.floor(step * this.width));
  }

  /**
   * @param {Pen} pen
   * @param {number} share Of the way from nothing to all of it.
   * @param {() => void} paint
   */
  fade({ context }, share, paint) {
    context.globalAlpha = ease(share);
    paint();
    context.globalAlpha = 1;
  }

  /**
   * The column of K that is multiplied just now.
   * @param {Pen} pen
   * @param {Place} place
   * @param {number} column
   */
  mark(pen, place, column) {
    const { encoder } = pen.theme.kinds;
    const { x, y } = place.cell("k", 0, Math.min(column, this.width - 1));
    pen.frame(x - 1, y - 2, place.cellWidth + 2, this.tokens.length * place.cellHeight + 4, encoder, 2);
  }

  /**
   * The weighted sum of the values.
   * @param {Pen} pen
   * @param {Place} place
   * @param {Attended} attended
   * @param {number} step
   */
  drawOutput(pen, place, { output }, step) {
    const { x, y } = place.output;
    const middle = y + place.cellHeight / 2;
    pen.line(x, y - 6, x + this.width * place.cellWidth, y - 6, { colour: pen.theme.line, width: 1 });
    pen.note(this.texts.output, x - 10, middle, { size: 13, align: "right", most: place.stacked ? 66 : 190 });
    if (step <= 3) return;
    const style = { size: Math.min(place.size, place.cellWidth * 0.37), weight: 650, align: "center" };
    this.fade(pen, step - 3, () =>
      output.forEach((value, column) => pen.write(signed(value), x + (column + 0.5) * place.cellWidth, middle, style)),
    );
  }

  /**
   * Score query and keys by additive attention, with a v of ones over the root of the width.
   * @param {Pen} pen
   * @param {Place} place
   * @param {number[]} query
   * @param {number[][]} keys
   */
  drawAdditive(pen, place, query, keys) {
    const { theme, width } = pen;
    const vector = query.map(() => 1 / Math.sqrt(query.length));
    const scores = additive(query, keys, vector);
    const weights = softmax(scores);
    const { x, y } = place.foot;
    const values = this.tokens.map((token, k) => `${token} ${signed(scores[k])} \u2192 ${signed(weights[k])}`);
    pen.note(this.texts.additive_line, x, y, { size: 13, most: width - x });
    const style = { colour: theme.kinds.cross, size: 14, weight: 600, most: width - x };
    pen.write(values.join("    "), x, y + 22, style);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width, height }) {
    const row = stations(width, height, this.tokens.length, this.width).tokenAt(x, y);
    return row === null ? null : { query: `q${row}` };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const [queries, keys, values] = this.matrices(settings);
    const row = this.row(settings);
    if (settings.step <= 2) return fillText(this.texts.steps_start, { token: this.tokens[row] });
    const { weights } = attend(queries[row], keys, values);
    const most = weights.indexOf(Math.max(...weights));
    return fillText(this.texts.steps_say, {
      token: this.tokens[row],
      key: this.tokens[most],
      weight: signed(weights[most]),
    });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const [queries, keys, values] = this.matrices(settings);
    const rows = queries.flatMap((query, row) => {
      const { products, scores, weights } = attend(query, keys, values);
      return keys.map((_, k) => [this.tokens[row], this.tokens[k], products[k], scores[k], weights[k]]);
    });
    return {
      columns: [this.texts.query, this.texts.key, "q\u00b7k", `q\u00b7k / \u221a${this.width}`, this.texts.softmax],
      rows,
    };
  }
}
