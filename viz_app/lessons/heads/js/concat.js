// Concatenation and W^O: what each head of a layer adds to one position, and that the parts make up the whole.

import { context2d } from "../../../components/common/canvas.js";
import { fillText } from "../../../components/common/dom.js";
import { write } from "../../../components/common/plot.js";
import { plain } from "../../stage/js/map.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { named } from "./roles.js";

const NARROW = 620;
const TOP = 62;
const POSITIVE = { light: "#c45a00", dark: "#ff9a4d" };
const NEGATIVE = { light: "#6a3fa8", dark: "#b58cf2" };

export class Concat extends Scene {
  /** @type {Map<string, HTMLCanvasElement>} */
  bands = new Map();

  get playhead() {
    const { tokens } = this;
    return {
      name: "at",
      label: this.texts.position,
      min: 0,
      max: tokens.length - 1,
      step: 1,
      rate: 0.8,
      start: 0,
      /** @param {number} value */
      show: (value) => plain(tokens[Math.round(value)]),
    };
  }

  get controls() {
    const { texts, lesson } = this;
    const kinds = ["encoder", "decoder", "cross"].map((kind) => [kind, texts[kind]]);
    const layers = lesson.values.roles.encoder.length;
    return [
      { name: "kind", kind: "choice", label: texts.kind, options: kinds, start: "cross", server: true },
      { name: "layer", kind: "range", label: texts.layer, min: 1, max: layers, step: 1, start: layers, server: true },
    ];
  }

  /** The queries of the layer that is shown. */
  get tokens() {
    const { axes, parts } = this.lesson.values;
    return { encoder: axes.source, decoder: axes.inputs, cross: axes.outputs }[parts.kind];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 460 : Math.max(390, Math.min(room, 580));
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    return at % 1 > 0.5 ? "output" : "concat";
  }

  /** @param {number} at */
  numbers(at) {
    const { arrays } = this.lesson;
    const position = Math.min(Math.round(at), arrays.output.shape[0] - 1);
    const heads = Array.from({ length: arrays.parts.shape[0] }, (_, head) => ({
      found: arrays.head_outputs.part(head, position).data,
      part: arrays.parts.part(head, position).data,
    }));
    const output = arrays.output.part(position).data;
    return { position, heads, output, norms: heads.map(({ part }) => norm(part)), whole: norm(output) };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height, theme } = pen;
    const { kind, layer } = this.lesson.answers;
    const waiting = settings.kind !== kind || settings.layer !== layer + 1;
    const { position, heads, output, norms, whole } = this.numbers(settings.at);
    const narrow = width < NARROW;
    const row = (height - TOP - 46) / (heads.length + 1.4);
    const columns = this.columns(width, narrow);
    context.globalAlpha = waiting ? 0.35 : 1;
    this.drawTokens(pen, position);
    /**
     * @param {string} text
     * @param {number} x
     * @param {number} most
     */
    const title = (text, x, most) =>
      write(context, text, x, TOP - 12, { colour: theme.muted, font: theme.font, size: 12, most });
    title(narrow ? "head" : this.texts.found, columns.found[0], columns.found[1]);
    title("W\u1d3c", columns.matrix[0], columns.matrix[1]);
    title(narrow ? "" : this.texts.adds, columns.part[0], columns.part[1]);
    title(this.texts.length, columns.bar[0], columns.bar[1]);
    const largest = Math.max(whole, ...norms);
    heads.forEach(({ found, part }, head) => {
      const y = TOP + head * row;
      write(context, named(layer, head), columns.found[0] - 8, y + row / 2 - 2, {
        colour: theme.text,
        font: theme.font,
        size: 13,
        align: "right",
      });
      strip(context, theme, found, columns.found, y, row - 5);
      this.drawMatrix(pen, head, heads.length, columns.matrix, y, row - 5);
      strip(context, theme, part, columns.part, y, row - 5);
      this.drawBar(pen, norms[head], largest, columns.bar, y, row - 5, theme.kinds[kind]);
    });
    const y = TOP + (heads.length + 0.3) * row;
    write(context, "\u03a3", columns.part[0] - 14, y + row / 2, {
      colour: theme.text,
      font: theme.font,
      size: 17,
      weight: 600,
      align: "center",
    });
    strip(context, theme, output, columns.part, y, row - 2);
    this.drawBar(pen, whole, largest, columns.bar, y, row - 2, theme.text);
    const checked = fillText(this.texts.checked, {
      error: this.lesson.values.parts.error.toExponential(0).replace("-", "\u2212"),
    });
    wrapped(context, checked, 0, height - (narrow ? 32 : 14), width, {
      colour: theme.muted,
      font: theme.font,
      size: 12,
    });
    context.globalAlpha = 1;
  }

  /**
   * @param {number} width
   * @param {boolean} narrow
   */
  columns(width, narrow) {
    const left = 34;
    const rest = width - left;
    const [found, matrix, part] = narrow ? [0.2, 0.14, 0.32] : [0.16, 0.15, 0.4];
    const gap = narrow ? 12 : 26;
    const first = [left, rest * found];
    const second = [first[0] + first[1] + gap, rest * matrix];
    const third = [second[0] + second[1] + gap, rest * part];
    const fourth = third[0] + third[1] + 14;
    return { found: first, matrix: second, part: third, bar: [fourth, width - fourth] };
  }

  /**
   * @param {Pen} pen
   * @param {number} position
   */
  drawTokens({ context, width, theme }, position) {
    const { tokens } = this;
    context.font = `13px ${theme.code}`;
    const widths = tokens.map((token) => context.measureText(plain(token)).width + 12);
    const before = widths.slice(0, position).reduce((sum, each) => sum + each, 0);
    const total = widths.reduce((sum, each) => sum + each, 0);
    let x = total <= width ? 0 : Math.min(0, Math.max(width - total, width / 2 - before - widths[position] / 2));
    tokens.forEach((token, index) => {
      const here = index === position;
      if (here) {
        context.fillStyle = theme.line;
        context.fillRect(x, 4, widths[index] - 2, 22);
      }
      write(context, plain(token), x + 5, 15, {
        colour: here ? theme.text : theme.muted,
        font: theme.code,
        size: 13,
        weight: here ? 700 : 400,
      });
      x += widths[index];
    });
  }

  /**
   * The rows of W^O that belong to a head.
   * @param {Pen} pen
   * @param {number} head
   * @param {number} count
   * @param {number[]} pair
   * @param {number} y
   * @param {number} height
   */
  drawMatrix({ context, theme }, head, count, [x, width], y, height) {
    const key = `${head}.${theme.dark}`;
    const drawn = this.bands.get(key) ?? band(this.lesson.arrays.matrix, head, count, theme);
    this.bands.set(key, drawn);
    context.imageSmoothingEnabled = true;
    context.drawImage(drawn, x, y, width, height);
  }

  /**
   * @param {Pen} pen
   * @param {number} value
   * @param {number} largest
   * @param {number[]} pair
   * @param {number} y
   * @param {number} height
   * @param {string} colour
   */
  drawBar({ context, theme }, value, largest, [x, width], y, height, colour) {
    const room = width - 44;
    context.fillStyle = colour;
    context.fillRect(x, y + height * 0.2, Math.max(1, (room * value) / largest), height * 0.6);
    write(context, value.toFixed(2), x + (room * value) / largest + 6, y + height / 2, {
      colour: theme.text,
      font: theme.font,
      size: 13,
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { context, width, theme }, { at }) {
    if (y > 34) return null;
    const { tokens } = this;
    context.font = `13px ${theme.code}`;
    const widths = tokens.map((token) => context.measureText(plain(token)).width + 12);
    const position = Math.round(at);
    const before = widths.slice(0, position).reduce((sum, each) => sum + each, 0);
    const total = widths.reduce((sum, each) => sum + each, 0);
    let left = total <= width ? 0 : Math.min(0, Math.max(width - total, width / 2 - before - widths[position] / 2));
    const found = widths.findIndex((each) => {
      left += each;
      return x < left;
    });
    return found < 0 ? null : { at: found };
  }

  /** @type {Scene["say"]} */
  say({ at }) {
    const { position, norms } = this.numbers(at);
    const most = norms.indexOf(Math.max(...norms));
    return fillText(this.texts.concat_say, {
      token: plain(this.tokens[position]),
      head: named(this.lesson.answers.layer, most),
      norm: norms[most].toFixed(2),
    });
  }

  /** @type {Scene["table"]} */
  table({ at }) {
    const { norms, whole, heads } = this.numbers(at);
    const { texts } = this;
    const rows = norms.map((each, head) => [named(this.lesson.answers.layer, head), norm(heads[head].found), each]);
    return { columns: [texts.head, texts.length_found, texts.length], rows: [...rows, ["\u03a3", "", whole]] };
  }
}

/** @param {Float32Array} values */
function norm(values) {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
}

/** @param {Theme} theme */
function colours(theme) {
  const name = theme.dark ? "dark" : "light";
  return [POSITIVE[name], NEGATIVE[name]];
}

/**
 * Numbers as cells: one colour for positive, one for negative, stronger for larger.
 * @param {CanvasRenderingContext2D} context
 * @param {Theme} theme
 * @param {Float32Array} values
 * @param {number[]} pair
 * @param {number} y
 * @param {number} height
 */
function strip(context, theme, values, [x, width], y, height) {
  const [positive, negative] = colours(theme);
  const most = Math.max(1e-9, ...values.map(Math.abs));
  const cell = width / values.length;
  context.save();
  const alpha = context.globalAlpha;
  values.forEach((value, index) => {
    context.globalAlpha = alpha * Math.min(1, Math.abs(value) / most);
    context.fillStyle = value > 0 ? positive : negative;
    context.fillRect(x + index * cell, y, cell > 4 ? cell - 1 : cell, height);
  });
  context.restore();
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
}

/**
 * @param {NdArray} matrix
 * @param {number} head
 * @param {number} count
 * @param {Theme} theme
 */
function band(matrix, head, count, theme) {
  const [rows, columns] = [matrix.shape[0] / count, matrix.shape[1]];
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = context2d(canvas);
  const image = context.createImageData(columns, rows);
  const [positive, negative] = colours(theme).map((colour) =>
    [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16)),
  );
  for (let i = 0; i < rows * columns; i++) {
    const value = matrix.data[head * rows * columns + i];
    image.data.set([...(value > 0 ? positive : negative), Math.min(255, Math.abs(value) * 900)], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
