// The feed-forward network, token by token: what goes in, which inner values are on, what comes out; in any order.

import { ease, fillText, tiny } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { choice, playhead, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { box, faint, pixelOf, share, Tensors, value } from "./parts.js";

const ACROSS = 16; // numbers of a patch beside each other
const MIN = 34; // pixels for a token

/** @typedef {ReturnType<FeedForward["places"]>} Places */

/** @extends {Scene<import("./numbers").Values>} */
export class FeedForward extends Scene {
  size = { narrow: 430, least: 430, most: 560 };

  tensors = new Tensors();

  get playhead() {
    const { encoder, decoder } = this.lesson.values.tokens;
    return playhead({
      name: "at",
      label: this.texts.place,
      max: Math.max(encoder.length, decoder.length) - 1,
      rate: 0.7,
      show: (at) => String(Math.round(at) + 1),
    });
  }

  get controls() {
    const { stack, encoder, decoder, layer } = this.texts;
    const layers = this.lesson.values.model.num_layers;
    return [choice("stack", stack, { encoder, decoder }), slider({ name: "layer", label: layer, min: 1, max: layers })];
  }

  /**
   * @param {Settings} settings
   * @returns {import("./numbers").Side}
   */
  stack({ stack }) {
    return stack;
  }

  /** @param {Settings} settings */
  tokens(settings) {
    return this.lesson.values.tokens[this.stack(settings)];
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
   * Choose the sizes of the drawing, and the number of tokens that fit.
   * @param {{ width: number, height: number }} given
   * @param {number} count
   */
  places({ width, height }, count) {
    const narrow = isNarrow(width);
    const label = narrow ? 10 : 118;
    const fit = Math.max(2, Math.min(count, Math.floor((width - label) / MIN)));
    const column = Math.min(96, (width - label) / fit);
    const { d_model: d, d_ff: inner } = this.lesson.values.model;
    const [ends, middle] = [d, inner].map((size) => Math.ceil(size / ACROSS));
    const top = 26; // shares
    const gap = 40;
    const tallest = (height - top - 2 * gap - (narrow ? 84 : 62)) / (2 * ends + middle);
    const cell = Math.min(((narrow ? 2.6 : 1.7) * (column - 10)) / ACROSS, tallest); // its height
    const wide = Math.min(column - 10, 1.6 * ACROSS * cell);
    const low = top + 2 * gap + (2 * ends + middle) * cell; // the lower edge of what goes in
    const [out, hidden, input] = [top, top + ends * cell + gap, low - ends * cell];
    return { left: label, fit, column, cell, wide, out, hidden, input, low, ends, middle, gap };
  }

  /**
   * Place each token while the first one moves: a number for each token.
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
    const { theme } = pen;
    const tokens = this.tokens(settings);
    const place = this.places(pen, tokens.length);
    const network = this.network(settings);
    const shown = tokens.slice(0, place.fit);
    this.drawNetwork(pen, place, shown.length);
    const slots = this.slots(shown.length, settings.at);
    // The one that moves is drawn last, over the others.
    for (let token = shown.length - 1; token >= 0; token--)
      this.drawToken(pen, place, network, token, shown[token], slots[token], theme.kinds[settings.stack]);
    const checked = fillText(this.texts.order_checked, { error: tiny(this.lesson.values.order_error) });
    if (isNarrow(pen.width)) wrapped(pen, checked, 0, pen.height - 26, pen.width, { colour: theme.muted, size: 12 });
    else pen.note(checked, place.left, pen.height - 10, { most: pen.width - place.left });
  }

  /**
   * One and the same matrices for every token.
   * @param {Pen} pen
   * @param {Places} place
   * @param {number} count
   */
  drawNetwork(pen, place, count) {
    const { theme } = pen;
    const { texts } = this;
    const { d_model: d, d_ff: inner } = this.lesson.values.model;
    const width = place.column * count - 4;
    const style = { fill: faint(theme.muted, 0.12), line: theme.line, size: 12.5, bold: 600 };
    const narrow = isNarrow(pen.width);
    const formulas = narrow
      ? ["max(0, xW\u2081 + b\u2081)", "\u00b7 W\u2082 + b\u2082"]
      : [`${texts.same_for_all}: max(0, xW\u2081 + b\u2081)`, `${texts.same_for_all}: \u2026 W\u2082 + b\u2082`];
    [place.input, place.hidden].forEach((upper, index) =>
      box(pen, { x: place.left, y: upper - place.gap / 2 - 11, width, height: 20 }, [formulas[index]], style),
    );
    if (narrow) return;
    const right = place.left - 14;
    /** @type {[number, number, string, number][]} */
    const rows = [
      [place.out, place.ends, texts.comes_out, d],
      [place.hidden, place.middle, texts.inner_values, inner],
      [place.input, place.ends, texts.goes_in, d],
    ];
    for (const [y, cells, text, size] of rows) {
      const middle = y + (cells * place.cell) / 2;
      pen.write(String(size), right, middle - 8, { size: 16, weight: 650, align: "right", most: place.left - 14 });
      pen.note(text, right, middle + 10, { align: "right", most: place.left - 14 });
    }
    pen.note(texts.share_on, right, 12, { align: "right", most: place.left - 14 });
  }

  /**
   * @param {Pen} pen
   * @param {Places} place
   * @param {ReturnType<FeedForward["network"]>} network
   * @param {number} token
   * @param {string} name
   * @param {number} slot
   * @param {string} colour
   */
  drawToken(pen, place, network, token, name, slot, colour) {
    const { theme } = pen;
    const { tensors, inner, active } = this.lesson.arrays;
    const middle = place.left + slot * place.column + (place.column - 4) / 2;
    const carried = token === 0;
    /**
     * @param {string} key
     * @param {Float32Array} data
     * @param {number} rows
     * @param {number} y
     * @param {(byte: number | undefined) => number} pixel
     */
    const patch = (key, data, rows, y, pixel) => {
      const [x, width, height] = [middle - place.wide / 2, place.wide, rows * place.cell];
      pen.fill(x, y, width, height, theme.background);
      this.tensors
        .grid(`${key} ${token}`, theme.key, rows, ACROSS, (row, column) => pixel(data[row * ACROSS + column]))
        .draw(pen.context, x, y, width, height);
      pen.frame(x - 0.5, y - 0.5, width + 1, height + 1, carried ? colour : theme.line, carried ? 2 : 1);
    };
    const ends = (byte = 128) => pixelOf(theme, value(byte));
    const { before, station, number } = network;
    patch(`in ${before}`, tensors.part(before, token).data, place.ends, place.input, ends);
    patch(`out ${station}`, tensors.part(station, token).data, place.ends, place.out, ends);
    const inside = (byte = 0) => theme.pixels[Math.round(255 * Math.sqrt(byte / 255))];
    patch(`inner ${number}`, inner.part(number, token).data, place.middle, place.hidden, inside);
    const large = place.column > 40;
    pen.write(share(active.at(number, token)), middle, 12, { size: large ? 13 : 11, weight: 650, align: "center" });
    const style = { colour: carried ? colour : theme.text, font: theme.code, weight: carried ? 700 : 400 };
    if (place.column > 52) {
      const level = { ...style, size: 12.5, align: "center", most: place.column - 4 };
      pen.write(tokenText(name), middle, place.low + 18, level);
    } else {
      const tilted = { ...style, size: 12, align: "right", turn: -Math.PI / 3.4, most: 46 };
      pen.write(tokenText(name), middle + 4, place.low + 10, tilted);
    }
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    return at % 1 > 0.5 ? "outer" : "inner";
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { stack }) {
    const place = this.places(pen, this.tokens({ stack }).length);
    const slot = Math.floor((x - place.left) / place.column);
    return slot >= 0 && slot < place.fit ? { at: slot } : null;
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { texts, lesson } = this;
    const tokens = this.tokens(settings);
    const { number } = this.network(settings);
    const shares = tokens.map((_, token) => lesson.arrays.active.at(number, token));
    const place = Math.min(Math.round(settings.at), tokens.length - 1) + 1;
    const sentence = fillText(texts.ffn_say, {
      token: tokenText(tokens[0]),
      place,
      share: share(shares[0]),
      least: share(Math.min(...shares)),
      most: share(Math.max(...shares)),
      inner: lesson.values.model.d_ff,
    });
    const cut = tokens.length < lesson.values.lengths[this.stack(settings)];
    return cut ? `${sentence} ${texts.cut}` : sentence;
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { texts, lesson } = this;
    const { number } = this.network(settings);
    const { d_ff: inner } = lesson.values.model;
    const rows = this.tokens(settings).map((token, index) => {
      const active = lesson.arrays.active.at(number, index);
      return [tokenText(token), Math.round(active * inner), active];
    });
    return { columns: [texts.token, texts.values_on, texts.share_on], rows };
  }
}
