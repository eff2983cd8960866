// Concatenation and W^O: what each head of a layer adds to one position, and that the parts make up the whole.

import { paintCells } from "../../../components/common/draw/canvas.js";
import { headAddress } from "../../../components/common/heads/heads.js";
import { fillText, headName, percent, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { choice, playhead, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { picture, tint } from "../../stage/js/map.js";
import { scrolledRow, wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";

const TOP = 62;
const MAP = 32; // side of a head's map
const POSITIVE = { light: "#c45a00", dark: "#ff9a4d" };
const NEGATIVE = { light: "#6a3fa8", dark: "#b58cf2" };

/** Column of the picture: its left edge and its width.
 * @typedef {[number, number]} Column */

/** @extends {Scene<import("./numbers").Values>} */
export class Concat extends Scene {
  size = { narrow: 460, least: 390, most: 580 };

  /** @type {Map<string, HTMLCanvasElement>} */
  bands = new Map();

  get playhead() {
    const { tokens } = this;
    return playhead({
      name: "at",
      label: this.texts.position,
      max: tokens.length - 1,
      rate: 0.8,
      show: (value) => tokenText(tokens[Math.round(value)]),
    });
  }

  get controls() {
    const { kind, layer, encoder, decoder, cross } = this.texts;
    const layers = this.lesson.values.roles.encoder.length;
    return [
      choice("kind", kind, { encoder, decoder, cross }, { start: "cross", server: true }),
      slider({ name: "layer", label: layer, min: 1, max: layers, start: layers, server: true }),
    ];
  }

  /** The queries of the layer that is shown. */
  get tokens() {
    const { axes, parts } = this.lesson.values;
    return parts.kind === "encoder" ? axes.source : parts.kind === "decoder" ? axes.inputs : axes.outputs;
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
      output: arrays.head_outputs.part(head, position).data,
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
    const alike = this.lesson.values.parts.twins?.slice(0, 2) ?? [];
    const narrow = isNarrow(width);
    const row = (height - TOP - 46) / (heads.length + 1.4);
    const columns = this.columns(width, narrow);
    context.globalAlpha = waiting ? 0.35 : 1;
    this.drawTokens(pen, position);
    /**
     * @param {string} text
     * @param {Column} column
     */
    const title = (text, [x, most]) => pen.note(text, x, TOP - 12, { most });
    title(narrow ? "head" : this.texts.head_output, columns.output);
    title("W\u1d3c", columns.matrix);
    title(narrow ? "" : this.texts.adds, columns.part);
    title(this.texts.length, columns.bar);
    const largest = Math.max(whole, ...norms);
    heads.forEach(({ output, part }, head) => {
      const y = TOP + head * row;
      const side = Math.min(row - 5, MAP);
      pen.write(headName(layer, head), columns.output[0] - MAP - 14, y + row / 2 - 2, { align: "right" });
      const x = columns.output[0] - 8 - side;
      picture(this.lesson.arrays[kind].part(layer, head), tint(theme.kinds[kind])).draw(context, x, y, side, side);
      if (alike.includes(head)) pen.frame(x - 0.5, y - 0.5, side + 1, side + 1, theme.text, 1.5);
      strip(pen, output, columns.output, y, row - 5);
      this.drawMatrix(pen, head, heads.length, columns.matrix, y, row - 5);
      strip(pen, part, columns.part, y, row - 5);
      this.drawBar(pen, norms[head], largest, columns.bar, y, row - 5, theme.kinds[kind]);
    });
    const y = TOP + (heads.length + 0.3) * row;
    pen.write("\u03a3", columns.part[0] - 14, y + row / 2, { size: 17, weight: 600, align: "center" });
    strip(pen, output, columns.part, y, row - 2);
    this.drawBar(pen, whole, largest, columns.bar, y, row - 2, theme.text);
    const error = this.lesson.values.parts.error.toExponential(0).replace("-", "\u2212");
    const checked = fillText(this.texts.checked, { error });
    wrapped(pen, checked, 0, height - (narrow ? 32 : 14), width, { colour: theme.muted, size: 12 });
    context.globalAlpha = 1;
  }

  /**
   * @param {number} width
   * @param {boolean} narrow
   */
  columns(width, narrow) {
    const left = 40 + MAP;
    const rest = width - left;
    const [output, matrix, part] = narrow ? [0.2, 0.14, 0.32] : [0.16, 0.15, 0.4];
    const gap = narrow ? 12 : 26;
    /** @type {Column} */
    const first = [left, rest * output];
    /** @type {Column} */
    const second = [first[0] + first[1] + gap, rest * matrix];
    /** @type {Column} */
    const third = [second[0] + second[1] + gap, rest * part];
    const fourth = third[0] + third[1] + 14;
    /** @type {Column} */
    const last = [fourth, width - fourth];
    return { output: first, matrix: second, part: third, bar: last };
  }

  /**
   * @param {Pen} pen
   * @param {number} position
   */
  drawTokens(pen, position) {
    const { width, theme } = pen;
    const { tokens } = this;
    scrolledRow(pen, tokens, position, width, 12).forEach((place, index) => {
      const here = index === position;
      if (here) pen.fill(place.x, 4, place.width - 2, 22, theme.line);
      const style = { colour: here ? theme.text : theme.muted, font: theme.code, weight: here ? 700 : 400 };
      pen.write(tokenText(tokens[index]), place.x + 5, 15, style);
    });
  }

  /**
   * The rows of W^O that belong to a head.
   * @param {Pen} pen
   * @param {number} head
   * @param {number} count
   * @param {Column} column
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
   * @param {Column} column
   * @param {number} y
   * @param {number} height
   * @param {string} colour
   */
  drawBar(pen, value, largest, [x, width], y, height, colour) {
    const long = ((width - 44) * value) / largest;
    pen.fill(x, y + height * 0.2, Math.max(1, long), height * 0.6, colour);
    pen.write(value.toFixed(2), x + long + 6, y + height / 2);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { at }) {
    if (y > 34) return null;
    const places = scrolledRow(pen, this.tokens, Math.round(at), pen.width, 12);
    const column = places.findIndex((place) => x < place.x + place.width);
    return column < 0 ? null : { at: column };
  }

  /** @param {number} head */
  headAddress(head) {
    const { kind, layer } = this.lesson.values.parts;
    return headAddress({ kind, layer, head });
  }

  /** @type {Scene["say"]} */
  say({ at }) {
    const { position, norms } = this.numbers(at);
    const most = norms.indexOf(Math.max(...norms));
    const largest = fillText(this.texts.concat_say, {
      token: tokenText(this.tokens[position]),
      head: this.headAddress(most),
      norm: norms[most].toFixed(2),
    });
    const { twins } = this.lesson.values.parts;
    if (!twins) return largest;
    const [first, second] = twins.map((head) => this.headAddress(head));
    const alike = { first, second, common: percent(twins[2]), cosine: signed(twins[3], 2) };
    return `${largest} ${fillText(this.texts.concat_twins, alike)}`;
  }

  /** @type {Scene["table"]} */
  table({ at }) {
    const { norms, whole, heads } = this.numbers(at);
    const { texts } = this;
    const rows = norms.map((each, head) => [this.headAddress(head), norm(heads[head].output), each]);
    return { columns: [texts.head, texts.length_output, texts.length], rows: [...rows, ["\u03a3", "", whole]] };
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
 * @param {Pen} pen
 * @param {Float32Array} values
 * @param {Column} column
 * @param {number} y
 * @param {number} height
 */
function strip(pen, values, [x, width], y, height) {
  const { theme } = pen;
  const [positive, negative] = colours(theme);
  const most = Math.max(1e-9, ...values.map(Math.abs));
  const cell = width / values.length;
  values.forEach((value, index) => {
    const colour = value > 0 ? positive : negative;
    pen.fill(x + index * cell, y, cell > 4 ? cell - 1 : cell, height, colour, Math.min(1, Math.abs(value) / most));
  });
  pen.frame(x - 0.5, y - 0.5, width + 1, height + 1, theme.line);
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
  const [positive, negative] = colours(theme).map((colour) =>
    [5, 3, 1].reduce((pixel, place) => 256 * pixel + parseInt(colour.slice(place, place + 2), 16), 0),
  );
  paintCells(canvas, rows, columns, (row, column) => {
    const value = matrix.at(head * rows + row, column);
    return (value > 0 ? positive : negative) + 2 ** 24 * Math.round(Math.min(255, Math.abs(value) * 900));
  });
  return canvas;
}
