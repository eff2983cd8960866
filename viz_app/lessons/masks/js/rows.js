// Scores, mask, softmax: row after row the future is hidden, and the attention that lay there flows back.

import { ease, percent, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { shade } from "../../stage/js/bars.js";
import { playhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { futureColour, Grid, hatchBoxes } from "./grid.js";
import { HeadScene } from "./headscene.js";
import { hiddenMass, parts, weightsUnder } from "./softmax.js";

const PART = 0.02; // of a row's attention, one moving dot
const MASKED = 1 / 3; // of a row's time: the mask has covered the scores
const FLOWN = 2 / 3; // the freed attention has arrived

/**
 * @typedef {ReturnType<Rows["place"]>} Place
 * @typedef {ReturnType<Rows["moment"]>} Moment
 */

export class Rows extends HeadScene {
  get playhead() {
    return playhead({
      name: "at",
      label: this.texts.row,
      max: this.count - 1 + FLOWN,
      step: MASKED,
      rate: 0.4,
      show: (value) => String(this.moment(value).row + 1),
    });
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const narrow = isNarrow(width);
    const least = 12 * this.count + (narrow ? 262 : 250); // rows that can be read
    const { map } = this.place(width, 0);
    const square = map.width - map.height; // the height at which the map is as high as wide
    return Math.max(370, least, narrow ? square : Math.min(room, 0.75 * width + 120, 720));
  }

  /**
   * The row that is worked on, how far the mask has come (0 to 1), and the flow after it.
   * @param {number} at
   */
  moment(at) {
    const row = Math.min(this.count - 1, Math.floor(at + 1e-6));
    const share = at - row;
    return { row, mask: ease(share / MASKED), flow: ease((share - MASKED) / (FLOWN - MASKED)), share };
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    const { share } = this.moment(at);
    if (share < 0.02) return "scores";
    return share < MASKED + 0.02 ? "mask" : "softmax";
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  place(width, height) {
    const side = isNarrow(width) ? 58 : 96;
    const inner = width - 2 * side;
    const head = Grid.headroom(inner, this.count) + 20;
    const [bars, strip] = isNarrow(width) ? [84, 24] : [Math.max(84, Math.min(150, height * 0.24)), 30];
    const map = new Grid(side, head, inner, height - head - bars - strip - 62, this.count, this.count);
    const scores = new Grid(side, map.top + map.height + 22, inner, strip, 1, this.count);
    return { map, scores, base: height - 20, bars };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const place = this.place(pen.width, pen.height);
    const moment = this.moment(settings.at);
    this.drawMap(pen, place, settings, moment);
    this.drawScores(pen, place, settings, moment);
    this.drawWeights(pen, place, settings, moment);
  }

  /**
   * @param {Pen} pen
   * @param {Place} place
   * @param {Settings} settings
   * @param {Moment} moment
   */
  drawMap(pen, { map }, { head }, { row, mask, flow }) {
    const { theme, width } = pen;
    const { inputs, outputs } = this.lesson.values;
    const { texts } = this;
    const rows = inputs.map((_, q) => this.weights(head, q, q < row ? 0 : q > row ? 1 : 1 - flow));
    map.paint(pen, (q, k) => (q > row ? null : shade(theme, rows[q][k])));
    map.paint(pen, (q, k) => (q > row ? shade(theme, rows[q][k]) : null), 0.45);
    map.hatch(pen, (q, k) => q < row && k > q);
    map.hatch(pen, (q, k) => q === row && k > q, mask);
    map.frame(pen);
    map.outline(pen, row, theme.kinds.decoder);
    /** @param {number} q */
    const strong = (q) => q === row;
    map.nameColumns(pen, inputs, { strong });
    map.nameRows(pen, inputs, "left", { strong, most: map.left - 12 });
    map.nameRows(pen, outputs, "right", { strong, most: map.left - 12 });
    const style = { size: isNarrow(width) ? 11 : 12 };
    pen.note(texts.reads, map.left - 8, 9, { ...style, align: "right", most: map.left - 8 });
    pen.note(texts.predicts, map.left + map.width + 8, 9, { ...style, most: map.left - 8 });
    pen.note(texts.looks_at, map.left + map.width / 2, 9, { ...style, align: "center" });
  }

  /**
   * The scores of the row, on which the mask comes down.
   * @param {Pen} pen
   * @param {Place} place
   * @param {Settings} settings
   * @param {Moment} moment
   */
  drawScores(pen, { scores }, { head }, { row, mask }) {
    const { theme } = pen;
    const values = this.scores(head, row);
    const roomy = scores.cell > 27;
    const label = { font: theme.code, size: scores.cell > 40 ? 13 : 11, align: "center" };
    /** @type {number[][]} */
    const boxes = [];
    const [low, high] = [Math.min(...values), Math.max(...values)]; // shades, where there is no room for numbers
    values.forEach((value, k) => {
      const box = [scores.x(k) + 2, scores.top + 1, scores.cell - 4, scores.height - 2];
      const [x, y, width, height] = box;
      pen.frame(x - 0.5, y - 0.5, width + 1, height + 1, theme.line);
      if (k > row) boxes.push(box);
      if (roomy) pen.write(signed(value, 1), scores.middle(k), y + height / 2 + 1, label);
      else pen.fill(x, y, width, height, shade(theme, (0.5 * (value - low)) / (high - low || 1)));
    });
    hatchBoxes(pen, boxes, mask);
    const infinite = { ...label, colour: theme.muted, size: scores.cell > 22 ? 13 : 10 };
    const plate = roomy ? 28 : 0; // a clear place under a label on hatching
    for (const [x, y, width, height] of mask > 0.5 ? boxes : []) {
      pen.fill(x + width / 2 - plate / 2, y + 3, plate, height - 6, theme.background);
      pen.write("\u2212\u221e", x + width / 2, y + height / 2 + 1, infinite);
    }
    const beside = { align: "right", most: scores.left - 10 };
    pen.note(this.texts.scores, scores.left - 8, scores.top + scores.height / 2, beside);
  }

  /**
   * @param {Pen} pen
   * @param {Place} place
   * @param {Settings} settings
   * @param {Moment} moment
   */
  drawWeights(pen, { scores, base, bars }, { head }, { row, flow }) {
    const { theme, width } = pen;
    const raw = this.scores(head, row);
    /** @param {number} k */
    const hides = (k) => k > row;
    const before = weightsUnder(raw, hides, 1);
    const after = weightsUnder(raw, hides, 0);
    const now = weightsUnder(raw, hides, 1 - flow);
    const top = Math.max(...before, ...after);
    /** @param {number} weight */
    const tall = (weight) => ((bars - 34) * weight) / top;
    const thick = Math.min(44, scores.cell * 0.62);
    pen.line(scores.left, base, scores.left + scores.width, base, { colour: theme.line, width: 1 });
    now.forEach((weight, k) => {
      const middle = scores.middle(k);
      const high = tall(weight);
      pen.fill(middle - thick / 2, base - high, thick, high, hides(k) ? futureColour(theme) : theme.kinds.decoder);
      if (scores.cell > 27 && (weight >= 0.005 || !hides(k)))
        pen.write(weight.toFixed(2), middle, base - high - 9, { size: 12, align: "center" });
      if (scores.cell < 24) return;
      const colour = hides(k) && flow > 0.5 ? theme.mark : theme.muted;
      const style = { colour, font: theme.code, size: 11, align: "center", most: scores.cell - 2 };
      pen.write(tokenText(this.lesson.values.inputs[k]), middle, base + 11, style);
    });
    if (flow > 0 && flow < 1) this.drawFlow(pen, scores, base, tall, before, after, now, flow);
    pen.note(this.texts.weights, scores.left - 8, base - 12, { align: "right", most: scores.left - 10 });
    const style = { size: isNarrow(width) ? 12 : 14, weight: 600 };
    const right = scores.left + scores.width + 8;
    pen.write("\u03a3 = 1.00", right, base - 12, style);
    pen.write(percent(hiddenMass(now, hides)), right, base - 38, { ...style, colour: futureColour(theme) });
    pen.note(this.texts.ahead, right, base - 56, { size: 11, most: scores.left - 8 });
  }

  /**
   * The attention on its way, each dot the same share of the row.
   * @param {Pen} pen
   * @param {Grid} scores
   * @param {number} base
   * @param {(weight: number) => number} tall
   * @param {number[]} before
   * @param {number[]} after
   * @param {number[]} now
   * @param {number} flow
   */
  drawFlow(pen, scores, base, tall, before, after, now, flow) {
    const { theme } = pen;
    const moving = parts(before, after, PART);
    moving.forEach(({ from, to }, index) => {
      const share = ease(1.6 * flow - 0.6 * (index / Math.max(1, moving.length - 1)));
      if (share <= 0 || share >= 1) return;
      const [x0, x1] = [scores.middle(from), scores.middle(to)];
      const [y0, y1] = [base - tall(now[from]), base - tall(now[to])];
      const lift = 4 * share * (1 - share) * Math.min(34, 10 + 0.12 * Math.abs(x1 - x0));
      pen.dot(x0 + share * (x1 - x0), y0 + share * (y1 - y0) - lift, 3, futureColour(theme), theme.background);
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width, height }) {
    const row = this.place(width, height).map.rowAt(y);
    return row === null ? null : { at: row + FLOWN };
  }

  /** @type {Scene["say"]} */
  say({ at, head }) {
    const { row, flow } = this.moment(at);
    const freed = percent(this.freed(head, row));
    const sentence = this.filled(flow < 1 ? this.texts.rows_say : this.texts.rows_done, row, { freed });
    return this.lesson.values.whole ? sentence : `${sentence} ${this.texts.cut}`;
  }

  /** @type {Scene["table"]} */
  table({ head }) {
    const { inputs, outputs } = this.lesson.values;
    const rows = inputs.map((_, q) => [
      tokenText(inputs[q]),
      tokenText(outputs[q]),
      ...this.weights(head, q, 0).map((weight, k) => (k > q ? "\u2212\u221e" : weight)),
    ]);
    return { columns: [this.texts.reads, this.texts.predicts, ...inputs.map(tokenText)], rows };
  }
}
