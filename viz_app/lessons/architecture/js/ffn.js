// The feed-forward network, token by token: what goes in, which inner values are on, what comes out; in any order.

import { fillText } from "../../../components/common/dom.js";
import { ease, tiny } from "../../../components/common/format.js";
import { write } from "../../../components/common/plot.js";
import { frame } from "../../stage/js/grid.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { box, faint, NARROW, pixelOf, plain, share, Tensors, value } from "./parts.js";

const ACROSS = 16; // numbers of a patch beside each other
const LEAST = 34; // pixels for a token

export class FeedForward extends Scene {
  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    this.tensors = new Tensors();
  }

  get playhead() {
    const { encoder, decoder } = this.lesson.values.tokens;
    const last = Math.max(encoder.length, decoder.length) - 1;
    return {
      name: "at",
      label: this.texts.place,
      min: 0,
      max: last,
      step: 1,
      rate: 0.7,
      start: 0,
      /** @param {number} at */
      show: (at) => String(Math.round(at) + 1),
    };
  }

  get controls() {
    const { texts, lesson } = this;
    const stacks = ["encoder", "decoder"].map((side) => [side, texts[side]]);
    return [
      { name: "stack", kind: "choice", label: texts.stack, options: stacks, start: "encoder" },
      {
        name: "layer",
        kind: "range",
        label: texts.layer,
        min: 1,
        max: lesson.values.model.num_layers,
        step: 1,
        start: 1,
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 430 : Math.max(430, Math.min(room, 560));
  }

  /**
   * Numbers of the network and of the stations around it.
   * @param {Settings} settings
   */
  network({ stack, layer }) {
    const { stations, model } = this.lesson.values;
    const station = stations.findIndex(
      (each) => each.side === stack && each.name === "feed_forward" && each.layer === layer - 1,
    );
    return { number: layer - 1 + (stack === "decoder" ? model.num_layers : 0), before: station - 1, station };
  }

  /**
   * How large everything is drawn, and how many tokens fit.
   * @param {{ width: number, height: number }} given
   * @param {number} count
   */
  places({ width, height }, count) {
    const narrow = width < NARROW;
    const label = narrow ? 10 : 118;
    const fit = Math.max(2, Math.min(count, Math.floor((width - label) / LEAST)));
    const column = Math.min(96, (width - label) / fit);
    const { d_model: d, d_ff: inner } = this.lesson.values.model;
    const [ends, middle] = [d, inner].map((size) => Math.ceil(size / ACROSS));
    const top = 26; // shares
    const gap = 40;
    const cell = Math.min(
      ((narrow ? 2.6 : 1.7) * (column - 10)) / ACROSS,
      (height - top - 2 * gap - (narrow ? 84 : 62)) / (2 * ends + middle),
    ); // its height
    const wide = Math.min(column - 10, 1.6 * ACROSS * cell);
    const low = top + 2 * gap + (2 * ends + middle) * cell; // the lower edge of what goes in
    return {
      label,
      fit,
      column,
      cell,
      wide,
      out: top,
      hidden: top + ends * cell + gap,
      input: low - ends * cell,
      low,
      ends,
      middle,
      gap,
      left: label,
    };
  }

  /**
   * Where each token stands while the first one is carried to a place: a number for each of the tokens.
   * @param {number} count
   * @param {number} at
   */
  slots(count, at) {
    const place = Math.min(at, count - 1);
    const [whole, part] = [Math.floor(place + 1e-6), ease(place - Math.floor(place + 1e-6))];
    return Array.from({ length: count }, (_, token) => {
      if (token === 0) return whole + part;
      if (token <= whole) return token - 1;
      return token === whole + 1 ? token - part : token;
    });
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, theme } = pen;
    const tokens = this.lesson.values.tokens[settings.stack];
    const place = this.places(pen, tokens.length);
    const network = this.network(settings);
    const shown = tokens.slice(0, place.fit);
    this.drawNetwork(pen, place, shown.length);
    const slots = this.slots(shown.length, settings.at);
    // The one that moves is drawn last, over the others.
    const order = shown.map((_, index) => index).reverse();
    for (const token of order)
      this.drawToken(pen, place, network, token, shown[token], slots[token], theme.kinds[settings.stack]);
    const checked = fillText(this.texts.order_checked, { error: tiny(this.lesson.values.order_error) });
    const style = { colour: theme.muted, font: theme.font, size: 12 };
    if (pen.width < NARROW) wrapped(context, checked, 0, pen.height - 26, pen.width, style);
    else write(context, checked, place.left, pen.height - 10, { ...style, most: pen.width - place.left });
  }

  /**
   * One and the same matrices for every token.
   * @param {Pen} pen
   * @param {any} place
   * @param {number} count
   */
  drawNetwork(pen, place, count) {
    const { context, theme } = pen;
    const { texts } = this;
    const { d_model: d, d_ff: inner } = this.lesson.values.model;
    const width = place.column * count - 4;
    const line = { fill: faint(theme.muted, 0.12), line: theme.line, size: 12.5, bold: 600 };
    const tall = 20;
    /** @param {any} upper */
    const at = (upper) => upper - place.gap / 2 - tall / 2 - 1;
    box(
      pen,
      { x: place.left, y: at(place.input), width, height: tall },
      [pen.width < NARROW ? "max(0, xW\u2081 + b\u2081)" : `${texts.same_for_all}: max(0, xW\u2081 + b\u2081)`],
      line,
    );
    box(
      pen,
      { x: place.left, y: at(place.hidden), width, height: tall },
      [pen.width < NARROW ? "\u00b7 W\u2082 + b\u2082" : `${texts.same_for_all}: \u2026 W\u2082 + b\u2082`],
      line,
    );
    if (pen.width < NARROW) return;
    const style = { font: theme.font, align: "right", most: place.label - 14 };
    const rows = [
      [place.out, place.ends, texts.comes_out, d],
      [place.hidden, place.middle, texts.inner_values, inner],
      [place.input, place.ends, texts.goes_in, d],
    ];
    for (const [y, cells, text, size] of rows) {
      const middle = y + (cells * place.cell) / 2;
      write(context, String(size), place.left - 14, middle - 8, {
        ...style,
        colour: theme.text,
        size: 16,
        weight: 650,
      });
      write(context, text, place.left - 14, middle + 10, { ...style, colour: theme.muted, size: 12 });
    }
    write(context, texts.share_on, place.left - 14, 12, { ...style, colour: theme.muted, size: 12 });
  }

  /**
   * @param {Pen} pen
   * @param {any} place
   * @param {any} network
   * @param {any} token
   * @param {string} name
   * @param {number} slot
   * @param {string} colour
   */
  drawToken({ context, theme }, place, network, token, name, slot, colour) {
    const { arrays } = this.lesson;
    const x = place.left + slot * place.column;
    const middle = x + (place.column - 4) / 2;
    const left = middle - place.wide / 2;
    const carried = token === 0;
    /**
     * @param {string} key
     * @param {any} station
     * @param {any} rows
     * @param {number} y
     */
    const patch = (key, station, rows, y) => {
      const { data } = arrays.tensors.part(station, token);
      const grid = this.tensors.grid(`${key} ${station} ${token}`, theme, rows, ACROSS, (row, column) =>
        pixelOf(theme, value(data[row * ACROSS + column] ?? 128)),
      );
      this.patch(context, theme, grid, left, y, place, rows, carried ? colour : theme.line);
    };
    patch("in", network.before, place.ends, place.input);
    patch("out", network.station, place.ends, place.out);
    const { data } = arrays.inner.part(network.number, token);
    const inner = this.tensors.grid(
      `inner ${network.number} ${token}`,
      theme,
      place.middle,
      ACROSS,
      (row, column) => theme.pixels[Math.round(255 * Math.sqrt((data[row * ACROSS + column] ?? 0) / 255))],
    );
    this.patch(context, theme, inner, left, place.hidden, place, place.middle, carried ? colour : theme.line);
    const active = arrays.active.at(network.number, token);
    write(context, share(active), middle, 12, {
      colour: theme.text,
      font: theme.font,
      size: place.column > 40 ? 13 : 11,
      weight: 650,
      align: "center",
    });
    const style = { colour: carried ? colour : theme.text, font: theme.code, size: 12.5, weight: carried ? 700 : 400 };
    if (place.column > 52)
      write(context, plain(name), middle, place.low + 18, { ...style, align: "center", most: place.column - 4 });
    else
      write(context, plain(name), middle + 4, place.low + 10, {
        ...style,
        size: 12,
        align: "right",
        turn: -Math.PI / 3.4,
        most: 46,
      });
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   * @param {any} grid
   * @param {number} x
   * @param {number} y
   * @param {any} place
   * @param {any} rows
   * @param {any} line
   */
  patch(context, theme, grid, x, y, place, rows, line) {
    context.fillStyle = theme.background;
    context.fillRect(x, y, place.wide, rows * place.cell);
    grid.draw(context, x, y, place.wide, rows * place.cell);
    frame(context, x - 0.5, y - 0.5, place.wide + 1, rows * place.cell + 1, line, line === theme.line ? 1 : 2);
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    return at % 1 > 0.5 ? "outer" : "inner";
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { stack }) {
    const count = this.lesson.values.tokens[stack].length;
    const place = this.places(pen, count);
    const slot = Math.floor((x - place.left) / place.column);
    return slot >= 0 && slot < place.fit ? { at: slot } : null;
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { texts, lesson } = this;
    const tokens = lesson.values.tokens[settings.stack];
    const { number } = this.network(settings);
    const shares = tokens.map((_, token) => lesson.arrays.active.at(number, token));
    const place = Math.min(Math.round(settings.at), tokens.length - 1) + 1;
    const said = fillText(texts.ffn_say, {
      token: plain(tokens[0]),
      place,
      share: share(shares[0]),
      least: share(Math.min(...shares)),
      most: share(Math.max(...shares)),
      inner: lesson.values.model.d_ff,
    });
    return tokens.length < lesson.values.lengths[settings.stack] ? `${said} ${texts.cut}` : said;
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { texts, lesson } = this;
    const { number } = this.network(settings);
    const { d_ff: inner } = lesson.values.model;
    const rows = lesson.values.tokens[settings.stack].map((token, index) => {
      const active = lesson.arrays.active.at(number, index);
      return [plain(token), Math.round(active * inner), active];
    });
    return { columns: [texts.token, texts.values_on, texts.share_on], rows };
  }
}
