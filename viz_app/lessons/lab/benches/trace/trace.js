// Trace: which tokens carry each generated token, by every method beside each other.

import { divergingPixel } from "../../../../components/common/draw/diverging.js";
import { fillText } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";
import { choice } from "../../../stage/js/describe.js";
import { Grid } from "../../../stage/js/grid.js";
import { NARROW } from "../../../stage/js/headgrid.js";
import { Bench } from "../../js/bench.js";
import { drawCheck } from "../../js/check.js";
import { after, largest } from "../../js/order.js";
import { traceText, worth } from "./tracetext.js";

/**
 * Numbers of `bench.py`. `agreement`: of each method with leave-one-out.
 * `apart`: methods whose source and target have no common whole.
 * `measured`: from many sentences, by method: alignment error and agreement; how many were linked by hand, and read.
 * `others`: by step other tokens that were probable: id and token.
 * `contrast`: why the first token rather than the second one, at this row; by these methods.
 * @typedef {{
 *   methods: string[];
 *   signed: string[];
 *   apart: string[];
 *   tokens: string[];
 *   source: string[];
 *   agreement: (number | null)[];
 *   measured: { errors: (number | null)[]; taus: (number | null)[]; linked: number; read: number };
 *   gap: number | null;
 *   check: import("../../js/numbers").Check | null;
 *   others: [number, string][][];
 *   contrast: { row: number; tokens: [string, string]; methods: string[] } | null;
 * }} Numbers
 */

const HEAD = 74; // above the cells: names of the columns
const SHARE = 46; // right of them: the share of the source
const TILE = 48; // below a small map: its name, and what it is worth on this sentence and on a corpus
const CHECK = 120;

/** @extends {Bench<Numbers>} */
export class Trace extends Bench {
  /** @type {Map<string, Grid>} */
  grids = new Map();

  name = "trace";
  term = "share";
  size = { narrow: 860, least: 460, most: 600 };

  get controls() {
    const { texts } = this;
    return [
      choice("side", texts.side, { source: texts.side_source, target: texts.side_target }),
      { name: "slow", kind: "switch", label: texts.method_integrated_gradients, start: false, server: true },
      { name: "check", kind: "switch", label: texts.check, start: false, server: true },
      { name: "contrast", kind: "button", label: texts.contrast },
      { name: "method", kind: "held", start: "alti", server: true },
      { name: "rather", kind: "held", start: -1, server: true },
      { name: "row", kind: "held", start: 0 },
    ];
  }

  /** @param {string} method */
  title(method) {
    return this.texts[`method_${method.replaceAll("-", "_")}`];
  }

  /**
   * The method that is shown large, its number, and the row that is read.
   * @param {Settings} settings
   */
  shown({ method, row }) {
    const { methods, tokens } = this.own;
    const number = Math.max(0, methods.indexOf(method));
    return { method: methods[number], number, row: Math.max(0, Math.min(tokens.length - 1, Math.round(row))) };
  }

  /**
   * Names of the columns.
   * @param {string} side
   */
  columns(side) {
    const { source, tokens } = this.own;
    return side === "source" ? source : ["<s>", ...tokens.slice(0, -1)];
  }

  /**
   * A row over its own largest value, signs kept.
   * @param {number} number
   * @param {string} side
   * @param {number} row
   */
  scaled(number, side, row) {
    const { data } = this.contrastOf(number, side, row) ?? this.lesson.arrays[side].part(number, row);
    const most = Math.max(1e-12, ...Array.from(data, Math.abs));
    return Array.from(data, (value) => value / most);
  }

  /**
   * The values of a contrast in place of a row; null where nobody asks for one, or the method cannot tell.
   * @param {number} number
   * @param {string} side
   * @param {number} row
   */
  contrastOf(number, side, row) {
    const { methods, contrast } = this.own;
    if (!contrast || contrast.row !== row) return null;
    const at = contrast.methods.indexOf(methods[number]);
    return at < 0 ? null : this.lesson.arrays[`contrast_${side}`].part(at);
  }

  /** The two tokens of the contrast in words, or "". */
  get contrastTitle() {
    const { contrast } = this.own;
    if (!contrast) return "";
    const [first, second] = contrast.tokens.map(tokenText);
    return fillText(this.texts.rather, { first, second });
  }

  /** @type {Scene["press"]} Another token that was probable, and after the last one none. */
  press(_name, settings) {
    const { own } = this;
    const { row, method } = this.shown(settings);
    const ids = own.others[row].map(([id]) => id);
    const rather = ids[ids.indexOf(settings.rather) + 1] ?? -1;
    const able = ["gradient", "grad-x-input", "integrated-gradients", "leave-one-out", "flow"].includes(method);
    return able ? { row, rather } : { row, rather, method: "leave-one-out" };
  }

  /**
   * The share of the source in what carries a token; null where source and target have no common whole.
   * @param {number} number
   * @param {number} row
   */
  share(number, row) {
    const { methods, apart } = this.own;
    if (apart.includes(methods[number]) || this.contrastOf(number, "source", row)) return null;
    const [source, target] = ["source", "target"].map((side) =>
      this.lesson.arrays[side].part(number, row).data.reduce((sum, value) => sum + Math.abs(value), 0),
    );
    return source + target ? source / (source + target) : null;
  }

  /** @param {{ width: number, height: number }} picture */
  places({ width, height }) {
    const narrow = width < NARROW;
    const count = this.own.methods.length;
    const check = this.own.check ? CHECK : 0;
    const tall = Math.min(420, HEAD + 16 + 30 * this.own.tokens.length);
    const large = narrow ? { x: 0, y: 0, width, height: tall } : { x: 0, y: 0, width: width * 0.58, height };
    const side = narrow
      ? { x: 0, y: tall + 16, width, height: height - tall - 16 - check }
      : { x: width * 0.62, y: 0, width: width * 0.38, height: height - check };
    const rows = Math.ceil(count / 3);
    const [wide, high] = [(side.width - 16) / 3, Math.min(150, side.height / rows)];
    return { large, side, wide, high, check: { x: side.x, y: side.y + side.height, width: side.width, height: check } };
  }

  /**
   * Where the cells of a map stand.
   * @param {Box} box
   * @param {number} rows
   * @param {number} columns
   */
  cells(box, rows, columns) {
    const left = box.x + Math.min(96, box.width * 0.24);
    const width = box.x + box.width - SHARE - left;
    const cell = Math.min(46, width / columns);
    const row = Math.min(30, (box.y + box.height - box.y - HEAD - 16) / rows);
    return { left, top: box.y + HEAD, cell, row, width: cell * columns, height: row * rows };
  }

  /** @type {Bench<Numbers>["picture"]} */
  picture(pen, settings) {
    const { own, texts } = this;
    const { theme } = pen;
    const { large, side, wide, high, check } = this.places(pen);
    const { number, row } = this.shown(settings);
    this.drawLarge(pen, number, settings.side, row, large);
    own.methods.forEach((method, each) => {
      const [x, y] = [side.x + (each % 3) * (wide + 8), side.y + Math.floor(each / 3) * high];
      this.paint(pen, each, settings.side, { x, y: y + 2, width: wide, height: high - TILE - 6 });
      const chosen = each === number;
      pen.frame(x, y + 2, wide, high - TILE - 6, chosen ? theme.text : theme.line, chosen ? 2.5 : 1);
      const able = !own.contrast || own.contrast.methods.includes(method);
      const name = { size: 12, weight: chosen ? 700 : 500, most: wide, colour: able ? theme.text : theme.muted };
      pen.write(this.title(method), x, y + high - TILE + 8, name);
      for (const [at, line] of worth(this, each).entries())
        pen.note(line, x, y + high - TILE + 23 + 14 * at, { size: 11, most: wide });
    });
    if (own.check) drawCheck(pen, texts, texts.check_title, own.check, check);
    if (!own.methods.length) pen.message(texts.computing);
  }

  /**
   * Paints a map as cells of colour.
   * @param {Pen} pen
   * @param {number} number
   * @param {string} side
   * @param {Box} box
   */
  paint({ context, theme }, number, side, { x, y, width, height }) {
    const { methods, signed: both } = this.own;
    const [rows, columns] = this.lesson.arrays[side].shape.slice(1);
    const grid = this.grids.get(methods[number]) ?? new Grid();
    this.grids.set(methods[number], grid);
    const scaled = Array.from({ length: rows }, (_, row) => this.scaled(number, side, row));
    const signs = both.includes(methods[number]);
    const asked = this.own.contrast ? JSON.stringify(this.own.contrast) : "";
    grid.paint(`${this.lesson.id} ${theme.key} ${side} ${asked}`, rows, columns, (row, column) => {
      const value = scaled[row][column];
      return signs ? divergingPixel(theme, value, "sqrt") : theme.pixels[Math.round(255 * Math.abs(value))];
    });
    grid.draw(context, x, y, width, height);
  }

  /**
   * One method with all names; right of it the share of the source.
   * @param {Pen} pen
   * @param {number} number
   * @param {string} side
   * @param {number} row
   * @param {Box} box
   */
  drawLarge(pen, number, side, row, box) {
    const { own, texts } = this;
    const { theme } = pen;
    const columns = this.columns(side);
    const place = this.cells(box, own.tokens.length, columns.length);
    const { left, top, cell, width, height } = place;
    this.paint(pen, number, side, { x: left, y: top, width, height });
    pen.frame(left - 0.5, top - 0.5, width + 1, height + 1, theme.line);
    const most = largest(this.scaled(number, side, row).map(Math.abs));
    const size = Math.max(8, Math.min(13, cell - 1, place.row));
    columns.forEach((token, at) => {
      const style = { font: theme.code, size, weight: at === most ? 700 : 400, turn: -Math.PI / 3.2 };
      pen.write(tokenText(token), left + (at + 0.5) * cell, top - 6, { ...style, most: HEAD - 10 });
    });
    own.tokens.forEach((token, at) => {
      const y = top + (at + 0.5) * place.row;
      const style = { font: theme.code, size, weight: at === row ? 700 : 400, align: "right" };
      pen.write(tokenText(token), left - 7, y, { ...style, most: left - box.x - 10 });
      const share = this.share(number, at);
      if (share === null) return;
      const bar = (SHARE - 12) * share;
      pen.fill(left + width + 8, y - place.row * 0.3, bar, place.row * 0.6, theme.kinds.encoder);
      pen.fill(
        left + width + 8 + bar,
        y - place.row * 0.3,
        SHARE - 12 - bar,
        place.row * 0.6,
        theme.kinds.decoder,
        0.5,
      );
    });
    pen.frame(left - 1, top + row * place.row, width + 2, place.row, theme.text, 2);
    if (this.contrastOf(number, side, row))
      pen.note(this.contrastTitle, left, top + height + 14, { size: 13, weight: 650, colour: theme.text, most: width });
    const heading = { size: 11, align: "right" };
    if (this.share(number, 0) !== null) pen.note(texts.share_short, left + width + SHARE, top - 8, heading);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    const { own } = this;
    if (!pen.first) return null;
    const { large, side, wide, high } = this.places(pen);
    const [column, line] = [Math.floor((x - side.x) / (wide + 8)), Math.floor((y - side.y) / high)];
    const method = column >= 0 && column < 3 && line >= 0 ? own.methods[3 * line + column] : undefined;
    if (method) return { method };
    const { top, row } = this.cells(large, own.tokens.length, this.columns(settings.side).length);
    const at = Math.floor((y - top) / row);
    return x <= large.x + large.width && at >= 0 && at < own.tokens.length ? { row: at, rather: -1 } : null;
  }

  /** @type {Scene["hit"]} "attention", a method. */
  hit(name, pen) {
    const { side, wide, high } = this.places(pen);
    const at = this.own.methods.indexOf(name);
    return { x: side.x + (at % 3) * (wide + 8) + wide / 2, y: side.y + (Math.floor(at / 3) + 0.5) * high };
  }

  /** @type {Scene["stepped"]} From token to token. */
  stepped(count, settings) {
    const { tokens } = this.own;
    return { row: after([...tokens.keys()], this.shown(settings).row, count), rather: -1 };
  }

  /** @type {Scene["lowered"]} From method to method. */
  lowered(count, settings) {
    const { methods } = this.own;
    return { method: after(methods, this.shown(settings).number, count) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    return traceText(this, settings);
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { own } = this;
    const { row } = this.shown(settings);
    const rows = this.columns(settings.side).map((token, at) => [
      tokenText(token),
      ...own.methods.map((_, number) => this.lesson.arrays[settings.side].at(number, row, at)),
    ]);
    return { columns: [this.texts.token, ...own.methods.map((method) => this.title(method))], rows };
  }
}
