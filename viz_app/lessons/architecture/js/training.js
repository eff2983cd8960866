// Training beside inference: all rows at once, and one after the other.

import { ease, fillText, tiny } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { choice, stepPlayhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { faint, share } from "./parts.js";
import { drawCells, drawCounts, drawFrame, drawOutline, drawTitle } from "./square.js";

const TOP = 46;
const FOOT = 62;
const [LABEL, BARS] = [70, 108]; // beside the squares

/** @typedef {ReturnType<Training["places"]>[number]} Place */

/** @extends {Scene<import("./numbers").Values>} */
export class Training extends Scene {
  get count() {
    return this.lesson.values.outputs.length;
  }

  get playhead() {
    const show = (/** @type {number} */ step) => `${Math.floor(step + 1e-6)}/${this.count}`;
    return stepPlayhead(this.texts.step, this.count, { rate: 0.8, show });
  }

  get controls() {
    const { inference, cache_without, cache_with } = this.texts;
    return [choice("cache", inference, { without: cache_without, with: cache_with }, { start: "with" })];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const wanted = TOP + FOOT + 12 + this.widest(width);
    return isNarrow(width) ? 2 * wanted : Math.max(300, Math.min(room, wanted));
  }

  /** @param {number} width */
  half(width) {
    return isNarrow(width) ? width : width / 2 - 10;
  }

  /**
   * Side of a square that the width allows.
   * @param {number} width
   */
  widest(width) {
    return Math.min(this.half(width) - LABEL - BARS, 44 * this.count);
  }

  /** @param {{ width: number, height: number }} given */
  places({ width, height }) {
    const narrow = isNarrow(width);
    const half = this.half(width);
    const tall = narrow ? height / 2 - 12 : height - 6;
    const side = Math.min(this.widest(width), tall - TOP - FOOT);
    const sizes = { half, side, cell: side / this.count, bars: half - LABEL - side };
    const corners = [{ x: 0, y: 0 }, narrow ? { x: 0, y: tall + 20 } : { x: width - half, y: 0 }];
    return corners.map(({ x, y }) => ({ x, y, left: x + LABEL, top: y + TOP, ...sizes }));
  }

  /** @param {Settings} settings */
  moment({ step }) {
    const row = Math.min(Math.floor(step + 1e-6), this.count) - 1;
    const part = row + 1 < this.count ? Math.max(0, step - row - 1) : 0;
    return { row, part: part < 1e-6 ? 0 : part };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { row, part } = this.moment(settings);
    const [once, stepwise] = this.places(pen);
    this.drawOnce(pen, once, row);
    this.drawStepwise(pen, stepwise, row, part, settings.cache === "with");
  }

  /**
   * Training: every row in one pass; what comes later is masked.
   * @param {Pen} pen
   * @param {Place} place
   * @param {number} row
   */
  drawOnce(pen, place, row) {
    const { texts, count } = this;
    const { theme } = pen;
    drawTitle(pen, place, texts.training, texts.training_about);
    for (let q = 0; q < count; q++) drawCells(pen, place, q, count, faint(theme.kinds.decoder, 0.62));
    drawFrame(pen, place);
    this.names(pen, place, count, row);
    for (let q = 0; q < count; q++) this.probability(pen, place, q, this.lesson.arrays.once.at(q), q === row, 1);
    drawCounts(pen, place, [
      [fillText(texts.passes, { count: 1 }), fillText(texts.rows_computed, { count })],
      [texts.rows_used, ""],
    ]);
    drawOutline(pen, place, row);
  }

  /**
   * Inference: a row more at each step; its result is read in the next.
   * @param {Pen} pen
   * @param {Place} place
   * @param {number} row
   * @param {number} part
   * @param {boolean} cached
   */
  drawStepwise(pen, place, row, part, cached) {
    const { texts } = this;
    const { theme } = pen;
    drawTitle(pen, place, texts.inference, cached ? texts.with_about : texts.without_about);
    const quiet = faint(theme.muted, 0.16);
    for (let q = 0; q <= row; q++) {
      const fresh = q === row || !cached;
      drawCells(pen, place, q, row + 1, fresh ? faint(theme.kinds.decoder, q === row ? 0.62 : 0.3) : quiet);
    }
    drawFrame(pen, place);
    this.names(pen, place, row + 1, row);
    const { stepwise, again } = this.lesson.arrays;
    for (let q = 0; q <= row; q++)
      this.probability(pen, place, q, (cached ? stepwise : again).at(q), q === row, q === row ? 1 : 0.45);
    const step = row + 1;
    const [now, all] = cached ? [1, step] : [step, (step * (step + 1)) / 2];
    drawCounts(pen, place, [
      [fillText(texts.passes, { count: step }), fillText(texts.rows_so_far_count, { count: all })],
      [
        fillText(texts.this_step, { count: now }),
        fillText(texts.checked, { error: tiny(this.lesson.values.step_error) }),
      ],
    ]);
    drawOutline(pen, place, row);
    if (part > 0) this.carry(pen, place, row, ease(part));
    else if (row + 1 < this.count) {
      const y = place.top + (row + 1.5) * place.cell; // of the row that is not there yet
      pen.line(place.left, y, place.left + place.side, y, { colour: theme.line, width: 1.2, dash: [3, 5] });
    }
  }

  /**
   * The tokens that the rows read.
   * @param {Pen} pen
   * @param {Place} place
   * @param {number} count
   * @param {number} row
   * @param {string[]} [tokens]
   */
  names(pen, { left, top, cell }, count, row, tokens = this.lesson.values.tokens.decoder) {
    const { theme } = pen;
    const size = Math.max(9, Math.min(cell > 36 ? 15 : 13, cell * 0.8));
    tokens.slice(0, count).forEach((token, q) =>
      pen.write(tokenText(token), left - 8, top + (q + 0.5) * cell, {
        colour: q === row ? theme.text : theme.muted,
        font: theme.code,
        size,
        weight: q === row ? 700 : 400,
        align: "right",
        most: LABEL - 10,
      }),
    );
  }

  /**
   * The token that a row has to give, and its probability.
   * @param {Pen} pen
   * @param {Place} place
   * @param {number} q
   * @param {number} logarithm
   * @param {boolean} here
   * @param {number} alpha
   */
  probability(pen, { left, top, side, cell, bars }, q, logarithm, here, alpha) {
    const { context, theme } = pen;
    const probability = Math.exp(logarithm);
    const x = left + side + 8;
    const y = top + q * cell;
    context.globalAlpha = alpha;
    pen.fill(x, y + 1, Math.max(1, (bars - 10) * probability), cell - 2, faint(theme.kinds.decoder, 0.25));
    const size = Math.max(9, Math.min(cell > 36 ? 15 : 13, cell * 0.8));
    const word = { font: theme.code, size, weight: here ? 700 : 400, most: bars - 46 };
    pen.write(tokenText(this.lesson.values.outputs[q]), x + 4, y + cell / 2, word);
    const number = { size: Math.min(13, size), align: "right" };
    pen.write(share(probability), x + bars - 12, y + cell / 2, number);
    context.globalAlpha = 1;
  }

  /**
   * The token that was written goes to the next row's place.
   * @param {Pen} pen
   * @param {Place} place
   * @param {number} row
   * @param {number} part
   */
  carry(pen, { left, top, side, cell }, row, part) {
    const { theme } = pen;
    const from = [left + side + 12, top + (row + 0.5) * cell];
    const to = [left - 44, top + (row + 1.5) * cell];
    const lift = -4 * part * (1 - part) * 18;
    const [x, y] = [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part + lift];
    const text = tokenText(this.lesson.values.outputs[row]);
    const style = { font: theme.code, size: 13, weight: 700 };
    pen.box(x - 5, y - 10, pen.measure(text, style) + 10, 20, { fill: theme.kinds.decoder, radius: 5 });
    pen.write(text, x, y, { ...style, colour: theme.background });
  }

  /** @type {Scene["lit"]} */
  lit({ cache }) {
    return cache === "with" ? "last" : "past";
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    const place = this.places(pen).find(
      ({ x: from, half, top, side }) => x >= from && x <= from + half && y >= top && y <= top + side,
    );
    return place ? { step: Math.floor((y - place.top) / place.cell) + 1 } : null;
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { texts, lesson, count } = this;
    const { row } = this.moment(settings);
    const step = row + 1;
    const cached = settings.cache === "with";
    const sentence = fillText(cached ? texts.training_say_with : texts.training_say_without, {
      step,
      count,
      token: tokenText(lesson.values.outputs[row]),
      probability: share(Math.exp(lesson.arrays.once.at(row))),
      rows: cached ? step : (step * (step + 1)) / 2,
      source: lesson.values.lengths.encoder,
    });
    return count < lesson.values.lengths.decoder ? `${sentence} ${texts.cut}` : sentence;
  }

  /** @type {Scene["table"]} */
  table() {
    const { texts, lesson } = this;
    const { once, stepwise, again } = lesson.arrays;
    const rows = lesson.values.outputs.map((token, q) => [
      q + 1,
      tokenText(lesson.values.tokens.decoder[q]),
      tokenText(token),
      Math.exp(once.at(q)),
      Math.exp(again.at(q)),
      Math.exp(stepwise.at(q)),
      ((q + 1) * (q + 2)) / 2,
      q + 1,
    ]);
    const { step, reads, writes, p_training, p_without, p_with, rows_without, rows_with } = texts;
    return { columns: [step, reads, writes, p_training, p_without, p_with, rows_without, rows_with], rows };
  }
}
