// Three tokens with four numbers each: every number can be changed, every step of the formula is shown.

import { fillText } from "../../../components/common/dom.js";
import { ease } from "../../../components/common/format.js";
import { Scene } from "../../stage/js/scene.js";
import { additive, attend, LIMIT, pack, shown, softmax, unpack } from "./attend.js";
import { stations } from "./stations.js";

const NAMES = ["q", "k", "v"];

export class Steps extends Scene {
  get tokens() {
    return this.lesson.values.three;
  }

  get width() {
    return this.lesson.values.example.q[0].length;
  }

  get playhead() {
    return {
      name: "step",
      label: this.texts.step,
      min: 0,
      max: 4,
      step: 1,
      rate: 0.45,
      start: 0,
      /** @param {number} value */
      show: (value) => this.texts[`step_${Math.ceil(value - 1e-6)}`],
    };
  }

  get controls() {
    return [
      {
        name: "query",
        kind: "choice",
        label: this.texts.query,
        options: this.tokens.map((token, index) => [`q${index}`, token]),
        start: "q1",
      },
    ];
  }

  /** The numbers of Q, K and V, which have fields instead of controls. */
  get kept() {
    return NAMES.map((name) => ({ name, start: pack(this.lesson.values.example[name]) }));
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < 560 ? 646 : Math.max(330, Math.min(room, 0.4 * width));
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
   * Where each number can be typed.
   * @type {Scene["fields"]}
   */
  fields(width, height, settings) {
    const place = stations(width, height, this.tokens.length, this.width);
    return this.matrices(settings).flatMap((matrix, which) =>
      matrix.flatMap((numbers, row) =>
        numbers.map((value, column) => {
          const { x, y } = place.cell(NAMES[which], row, column);
          const label = `${NAMES[which].toUpperCase()} ${this.tokens[row]} ${column + 1}`;
          return {
            key: `${which} ${row} ${column}`,
            x: x + 1,
            y: y + 2,
            width: place.cellWidth - 2,
            height: place.cellHeight - 4,
            size: place.size - 1,
            value: shown(value),
            label,
          };
        }),
      ),
    );
  }

  /**
   * @param {any} key
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
    const found = attend(queries[row], keys, values);
    this.drawMatrices(pen, place, [queries, keys, values], row, settings.step, found);
    this.drawColumns(pen, place, found, settings.step, queries[row], keys);
    this.drawOutput(pen, place, found, settings.step);
    this.drawAdditive(pen, place, queries[row], keys);
  }

  /**
   * @param {Pen} pen
   * @param {any} place
   * @param {any[]} matrices
   * @param {number} row
   * @param {number} step
   * @param {{ weights: any }} given
   */
  drawMatrices(pen, place, matrices, row, step, { weights }) {
    const { context, theme } = pen;
    const number = { colour: theme.text, font: theme.font, size: place.size - 1, align: "center" };
    matrices.forEach((matrix, which) => {
      const name = NAMES[which];
      const head = place.cell(name, 0, 0);
      const middle = head.x + (this.width * place.cellWidth) / 2;
      pen.write(name.toUpperCase(), middle, head.y - 12, {
        size: 14,
        weight: 650,
        align: "center",
      });
      matrix.forEach((numbers, index) => {
        const { x, y } = place.cell(name, index, 0);
        const used = name === "q" ? index === row : step > 0;
        const strength = name === "v" && step > 3 ? 0.12 + 0.88 * weights[index] : used ? 0.5 : 0.12;
        context.globalAlpha = strength;
        pen.fill(
          x,
          y + place.cellHeight - 3,
          this.width * place.cellWidth,
          3,
          theme.kinds[{ q: "decoder", k: "encoder", v: "cross" }[name]],
        );
        context.globalAlpha = 1;
        numbers.forEach((value, column) =>
          pen.write(
            shown(value),
            place.cell(name, index, column).x + place.cellWidth / 2,
            y + place.cellHeight / 2,
            number,
          ),
        );
        if (name === "q" || place.stacked)
          pen.write(this.tokens[index], place.label(name), y + place.cellHeight / 2, {
            colour: index === row || name !== "q" ? theme.text : theme.muted,
            font: theme.code,
            size: 13,
            weight: index === row && name === "q" ? 700 : 400,
            align: "right",
            most: 58,
          });
      });
    });
    const { x, y } = place.cell("q", row, 0);
    pen.frame(x - 2, y - 1, this.width * place.cellWidth + 4, place.cellHeight + 2, theme.kinds.decoder, 2);
  }

  /**
   * Products, scores and weights, a row for each key.
   * @param {Pen} pen
   * @param {any} place
   * @param {{ products: any, scores: any, weights: any }} given
   * @param {number} step
   * @param {number} query
   * @param {any[]} keys
   */
  drawColumns(pen, place, { products, scores, weights }, step, query, keys) {
    const { context, theme } = pen;
    const { texts } = this;
    const heads = [
      ["dot", "q\u00b7k"],
      ["scaled", `\u00f7 \u221a${this.width}`],
      ["weight", texts.softmax],
    ];
    heads.forEach(([column, text]) =>
      pen.write(text, place.column(column), place.columnTop - 12, {
        colour: theme.muted,
        size: 13,
        align: "center",
      }),
    );
    keys.forEach((key, index) => {
      const y = place.row(index);
      const done = Math.min(1, step) * this.width; // how many products are added
      if (step > 0) {
        const sum = key.reduce((total, value, i) => total + Math.max(0, Math.min(1, done - i)) * value * query[i], 0);
        pen.write(shown(step < 1 ? sum : products[index], 2), place.column("dot"), y, {
          size: place.size,
          weight: 600,
          align: "center",
        });
      }
      if (step > 1)
        this.fade(context, ease(step - 1), () =>
          pen.write(shown(scores[index], 2), place.column("scaled"), y, {
            size: place.size,
            weight: 600,
            align: "center",
          }),
        );
      if (step > 2) {
        const grown = ease(step - 2) * weights[index];
        pen.fill(
          place.column("weight") - place.barWidth / 2,
          y + 0.42 * place.size,
          place.barWidth * grown,
          6,
          theme.kinds.decoder,
        );
        this.fade(context, ease(step - 2), () =>
          pen.write(shown(weights[index], 2), place.column("weight"), y - 0.3 * place.size, {
            size: place.size,
            weight: 600,
            align: "center",
          }),
        );
      }
    });
    if (step > 0 && step < 1) this.mark(pen, place, Math.floor(step * this.width));
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} alpha
   * @param {() => void} paint
   */
  fade(context, alpha, paint) {
    context.globalAlpha = alpha;
    paint();
    context.globalAlpha = 1;
  }

  /**
   * The column of K that is multiplied just now.
   * @param {Pen} pen
   * @param {any} place
   * @param {number} column
   */
  mark(pen, place, column) {
    const { theme } = pen;
    const { x, y } = place.cell("k", 0, Math.min(column, this.width - 1));
    pen.frame(x - 1, y - 2, place.cellWidth + 2, this.tokens.length * place.cellHeight + 4, theme.kinds.encoder, 2);
  }

  /**
   * The weighted sum of the values.
   * @param {Pen} pen
   * @param {any} place
   * @param {{ output: any[] }} given
   * @param {number} step
   */
  drawOutput(pen, place, { output }, step) {
    const { context, theme } = pen;
    const { x, y } = place.output;
    pen.line(x, y - 6, x + this.width * place.cellWidth, y - 6, { colour: theme.line, width: 1 });
    pen.write(this.texts.output, x - 10, y + place.cellHeight / 2, {
      colour: theme.muted,
      size: 13,
      align: "right",
      most: place.stacked ? 66 : 190,
    });
    if (step <= 3) return;
    this.fade(context, ease(step - 3), () =>
      output.forEach((value, column) =>
        pen.write(shown(value, 2), x + (column + 0.5) * place.cellWidth, y + place.cellHeight / 2, {
          size: Math.min(place.size, place.cellWidth * 0.37),
          weight: 650,
          align: "center",
        }),
      ),
    );
  }

  /**
   * The same query and keys as additive attention scores them, with a v of ones over the root of the width.
   * @param {Pen} pen
   * @param {any} place
   * @param {any} query
   * @param {any} keys
   */
  drawAdditive(pen, place, query, keys) {
    const { theme, width } = pen;
    const vector = query.map(() => 1 / Math.sqrt(query.length));
    const scores = additive(query, keys, vector);
    const weights = softmax(scores);
    const values = this.tokens
      .map((token, k) => `${token} ${shown(scores[k], 2)} \u2192 ${shown(weights[k], 2)}`)
      .join("    ");
    const style = { font: theme.font, most: width - place.foot.x };
    pen.write(this.texts.additive_line, place.foot.x, place.foot.y, { ...style, colour: theme.muted, size: 13 });
    pen.write(values, place.foot.x, place.foot.y + 22, {
      ...style,
      colour: theme.kinds.cross,
      size: 14,
      weight: 600,
    });
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
    const { weights } = attend(queries[row], keys, values);
    const most = weights.indexOf(Math.max(...weights));
    return fillText(this.texts.steps_say, {
      token: this.tokens[row],
      key: this.tokens[most],
      weight: shown(weights[most], 2),
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
