// The chapters "Waves" and "Pull out": the bits of the position, six waves over the positions, a cut through them, and the
// bar codes that the cut prints.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, formatCount, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { isNarrow } from "../../stage/js/layout.js";
import { BarCodes } from "./barcodes.js";
import { barColumn, bitOf, encoding, isBand, pairs, period, periodText } from "./encoding.js";
import { drawTokens, NUMBERS, positionAxis, tokenRow } from "./tokenaxis.js";
import { View } from "./view.js";

const HEAD = 20;
const GAP = 10;
const POINTS = 320; // of a curve at least
const PER_TURN = 12; // points of one turn
const PER_PIXEL = 2; // points at most
const CROWDED = 0.05; // turns in a pixel from which on a line pales
const PALE = 0.45;
const LINE = 14; // of digits
const LEGIBLE = 11; // height of a row of bits that has a label

/** @typedef {ReturnType<Lanes["places"]>} Places */

export class Lanes extends View {
  pairs = pairs(this.width);

  /**
   * @param {number} width
   * @param {Settings} settings
   */
  axis(width, { at }) {
    return positionAxis(width, this.story.shown(at));
  }

  /**
   * The position of the cut: on the way, or where it was dragged in the distance.
   * @param {Settings} settings
   */
  cut({ at, cut }) {
    const { story } = this;
    if (story.at(at).name === "waves") return story.cut(at);
    return Math.min(cut < 0 ? story.positions - 1 : cut, story.shown(at) - 1);
  }

  /** @param {Pen} pen */
  places(pen) {
    const { width, height } = pen;
    const small = isNarrow(width);
    const row = tokenRow(pen, positionAxis(width, this.story.positions), this.tokens); // the tokens stay where they are when it pulls out
    const bits = { y: HEAD, height: 56 };
    const high = Math.round(height * 0.28);
    const bars = { y: height - high - 2, height: high };
    const top = bits.y + bits.height + GAP;
    const bottom = bars.y - row.height - NUMBERS;
    return { small, bits, bars, top, bottom, level: row.level, lane: (bottom - top) / this.pairs.length };
  }

  /**
   * @param {Pen} pen
   * @param {Settings} settings
   */
  draw(pen, settings) {
    const { theme } = pen;
    const axis = this.axis(pen.width, settings);
    const places = this.places(pen);
    const { bits, bars, bottom, level } = places;
    const cut = this.cut(settings);
    const x = axis.place(cut);
    this.drawBits(pen, axis, bits, cut);
    this.drawBars(pen, axis, bars, settings);
    const ticks = axis.ticks(isNarrow(pen.width) ? 4 : 8).filter((tick) => tick % 1 === 0 && tick >= 0);
    pen.axis(axis, "bottom", bottom, { ticks, show: formatCount });
    const { tokens } = this;
    if (axis.place(tokens.length) - axis.from > 120) drawTokens(pen, axis, tokens, { y: bottom + NUMBERS, level, cut });
    else this.drawSentence(pen, axis, bottom + NUMBERS + 6);
    this.pairs.forEach((pair, index) => this.drawLane(pen, places, axis, pair, index));
    pen.line(x, bits.y - 4, x, bottom + 2, { colour: theme.text, width: 1.5 });
    this.pairs.forEach((pair, index) => {
      const value = encoding(cut, 2 * pair, this.width);
      const up = this.lane(places, index);
      pen.dot(x, up.place(value), 5, theme.kinds.decoder, theme.background);
      const style = { size: places.small ? 12 : 14, weight: 600, align: "right" };
      pen.write(signed(value), pen.width - 4, up.place(0), style);
    });
    const name = `PE(${formatCount(Math.round(cut))})`;
    const most = pen.width - axis.to - 8;
    pen.write(name, pen.width - 4, bars.y + 10, { weight: 600, align: "right", most });
    const count = fillText(this.texts.numbers, { count: this.width });
    if (!places.small) pen.note(count, pen.width - 4, bars.y + 28, { size: 11, align: "right", most });
  }

  /**
   * @param {Places} places
   * @param {number} index
   */
  lane({ top, lane }, index) {
    return new Axis(-1, 1, top + (index + 0.92) * lane, top + (index + 0.08) * lane);
  }

  /**
   * @param {Pen} pen
   * @param {Places} places
   * @param {Axis} axis
   * @param {number} pair
   * @param {number} index
   */
  drawLane(pen, places, axis, pair, index) {
    const { theme } = pen;
    const { from, to, low, high } = axis;
    const up = this.lane(places, index);
    pen.line(from, up.place(0), to, up.place(0), { colour: theme.line, width: 1 });
    const turns = (high - low) / period(pair, this.width);
    const crowd = turns / (to - from);
    const colour = theme.kinds.encoder;
    if (isBand(crowd)) pen.fill(from, up.place(1), to - from, up.place(-1) - up.place(1), colour, PALE);
    else {
      const count = Math.max(POINTS, Math.ceil(Math.min(PER_TURN * turns, PER_PIXEL * (to - from))));
      const points = Array.from({ length: count + 1 }, (_, point) => {
        const position = low + (point * (high - low)) / count;
        return [axis.place(position), up.place(encoding(position, 2 * pair, this.width))];
      });
      pen.trace(points, { colour, width: 2, alpha: 1 - (1 - PALE) * Math.min(1, crowd / CROWDED / 4) });
    }
    const { small } = places;
    const middle = up.place(0);
    const length = periodText(pair, this.width);
    const text = small ? length : fillText(this.texts.period, { length });
    pen.note(text, from - 10, middle, { align: "right", most: from - 12 });
  }

  /**
   * Draw the bits of the positions, the fastest on top as with the waves; more of them, the more positions are shown.
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {{ y: number, height: number }} place
   * @param {number} cut
   */
  drawBits(pen, axis, { y, height }, cut) {
    const { theme } = pen;
    const { low, high, from, to } = axis;
    const count = Math.log2(high - low);
    const row = height / count;
    for (let bit = 0; bit < count; bit++) {
      const top = y + bit * row;
      const tall = Math.min(row, y + height - top) - 1;
      const run = 2 ** bit; // positions for which the bit stays
      if (isBand((high - low) / (2 * run) / (to - from))) pen.fill(from, top, to - from, tall, theme.mark, PALE);
      else
        for (let start = run - 0.5; start < high; start += 2 * run) {
          const end = Math.min(to, axis.place(start + run));
          pen.fill(axis.place(start), top, end - axis.place(start), tall, theme.mark, 0.8);
        }
      if (row < LEGIBLE) continue;
      const value = bitOf(cut, bit);
      const style = { size: 12, weight: 600, align: "right" };
      pen.note(String(run), from - 10, top + row / 2, { size: 11, align: "right" });
      pen.write(String(value), pen.width - 4, top + row / 2, style);
    }
    pen.frame(from, y, to - from, height - 1, theme.line);
    pen.note(this.texts.bits, from, y - 11, { most: to - from });
    if (row < LEGIBLE) this.drawBinary(pen, y + height / 2, cut);
  }

  /**
   * Write a position in bits beside them.
   * @param {Pen} pen
   * @param {number} y
   * @param {number} cut
   */
  drawBinary(pen, y, cut) {
    const digits = Math.round(cut).toString(2).padStart(16, "0");
    const lines = digits.match(isNarrow(pen.width) ? /.{4}/g : /.{8}/g) ?? [];
    const style = { font: pen.theme.code, size: 11, align: "right" };
    lines.forEach((text, line) => pen.note(text, pen.width - 4, y + (line - (lines.length - 1) / 2) * LINE, style));
  }

  /**
   * Draw the bar codes that the cut has printed; from afar all of them.
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {{ y: number, height: number }} place
   * @param {Settings} settings
   */
  drawBars(pen, axis, place, settings) {
    const { width, bars } = this;
    const shown = axis.high - axis.low;
    const printed = this.story.at(settings.at).name === "waves" ? this.cut(settings) : Infinity;
    const rows = BarCodes.rows(place.height, width);
    if (shown > axis.to - axis.from) bars.drawFar(pen, axis, place, width);
    else {
      const count = Math.ceil(shown);
      const value = (/** @type {number} */ row, /** @type {number} */ position) =>
        encoding(position, barColumn(row, rows, width), width);
      bars.draw(pen, axis, place, { key: "waves", count, rows, value, printed: Math.min(printed, count) });
    }
    bars.names(pen, axis.from - 10, place);
    bars.mark(pen, axis, place, Math.round(this.cut(settings)), pen.theme.text);
  }

  /**
   * Mark where the sentence stands, when it is too narrow for its tokens.
   * @param {Pen} pen
   * @param {Axis} axis
   * @param {number} y
   */
  drawSentence(pen, axis, y) {
    const { theme } = pen;
    const end = axis.place(this.tokens.length - 0.5);
    pen.line(axis.from, y, Math.max(end, axis.from + 2), y, { colour: theme.text, width: 4 });
    pen.note(this.texts.sentence, Math.max(end, axis.from + 2) + 6, y, { colour: theme.text });
  }

  /** @param {Settings} settings */
  say(settings) {
    const position = Math.round(this.cut(settings));
    if (this.story.at(settings.at).name === "zoom") {
      const shown = formatCount(Math.round(this.story.shown(settings.at)));
      return fillText(this.texts.zoom_say, { shown, position: formatCount(position) });
    }
    const token = this.tokens[position] && tokenText(this.tokens[position]);
    return fillText(token ? this.texts.waves_say : this.texts.waves_say_beyond, { position, token });
  }

  table() {
    const columns = this.pairs.map((pair) => 2 * pair);
    const rows = Array.from({ length: this.story.positions }, (_, position) => [
      position,
      position.toString(2),
      ...columns.map((column) => encoding(position, column, this.width)),
    ]);
    const { position, bits, column } = this.texts;
    return { columns: [position, bits, ...columns.map((each) => `${column} ${each}`)], rows };
  }
}
