// The loss against the probability that the model gives to the right token: with smoothing it has its minimum before 1.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, formatCount } from "../../../components/common/text/format.js";
import { choice } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { EPSILON, entropy, smoothedLoss } from "./smoothing.js";

const FIRST = 0.02;
const LAST = 0.9998;
const TICKS = [0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999];
const IN_TABLE = [0.05, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999];
const HIGHEST = 4;
const POINTS = 240;
const LEFT = 34;
const FOOT = 58;
const TOP = 30;

/** @param {number} p */
export function odds(p) {
  return Math.log(p / (1 - p));
}

/** @param {number} x */
function sigmoid(x) {
  return 1 / (1 + Math.exp(-x));
}

/** @extends {Scene<import("./numbers").Values>} */
export class Loss extends Scene {
  /** @returns {Playhead | null} */
  get playhead() {
    return EPSILON;
  }

  /** @returns {Control[]} */
  get controls() {
    const { own, paper } = this.lesson.values.vocabularies;
    const label = (/** @type {string} */ text, /** @type {number} */ size) =>
      fillText(text, { size: formatCount(size) });
    const options = { [own]: label(this.texts.own, own), [paper]: label(this.texts.paper, paper) };
    return [choice("size", this.texts.vocabulary, options, { start: String(own) })];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(320, Math.min(room, width * 0.6));
  }

  lit() {
    return "smoothed";
  }

  /** @param {Pen} pen */
  axes({ width, height }) {
    return {
      across: new Axis(odds(FIRST), odds(LAST), LEFT, width - 16),
      up: new Axis(0, HIGHEST, height - FOOT, TOP),
    };
  }

  /**
   * @param {{ across: Axis, up: Axis }} plot
   * @param {(p: number) => number} lossAt
   */
  curve({ across, up }, lossAt) {
    return Array.from({ length: POINTS + 1 }, (_, index) => {
      const x = across.low + ((across.high - across.low) * index) / POINTS;
      const value = lossAt(sigmoid(x));
      return value > HIGHEST * 1.02 ? null : [across.place(x), up.place(value)];
    });
  }

  /** @param {number} width */
  ticks(width) {
    return width > 520 ? TICKS : TICKS.filter((_, index) => index % 2);
  }

  /**
   * @param {Pen} pen
   * @param {{ across: Axis, up: Axis }} plot
   */
  frame(pen, { across, up }) {
    pen.axis(up, "left", LEFT, { grid: across.to - across.from, ticks: up.ticks(4) });
    for (const p of this.ticks(pen.width))
      pen.note(String(p), across.place(odds(p)), up.from + 12, { align: "center" });
    pen.note(this.texts.loss_axis, 0, 10);
    pen.note(this.texts.right_axis, across.to, up.from + 30, { align: "right" });
  }

  /** @type {Scene["draw"]} */
  draw(pen, { epsilon, size }) {
    const { theme } = pen;
    const colour = theme.kinds.encoder;
    const vocabulary = Number(size);
    const plot = this.axes(pen);
    this.frame(pen, plot);
    this.tokens(pen, plot.across);
    const plain = this.curve(plot, (p) => -Math.log(p));
    const smoothed = this.curve(plot, (p) => smoothedLoss(p, epsilon, vocabulary));
    pen.trace(plain, { colour: theme.muted, width: 1.75, dash: [6, 5] });
    pen.trace(smoothed, { colour, width: 3.5 });
    if (!epsilon) return;
    const best = entropy(epsilon, vocabulary);
    const base = plot.up.from;
    const [x, y] = [plot.across.place(odds(1 - epsilon)), plot.up.place(best)];
    pen.line(LEFT, y, x, y, { colour, width: 1, dash: [2, 3] });
    pen.line(x, y, x, base, { colour, width: 1, dash: [2, 3] });
    pen.dot(x, y, 7, colour, theme.background);
    const text = fillText(this.texts.best, { loss: best.toFixed(2) });
    pen.write(text, x + 10, y + 22 < base - 4 ? y + 22 : y - 18, { colour, size: 14, weight: 650 });
  }

  /**
   * How sure the app's model was of each token of the translation: a mark below the axis.
   * @param {Pen} pen
   * @param {Axis} across
   */
  tokens(pen, across) {
    const colour = pen.theme.kinds.decoder;
    const y = pen.height - 9;
    for (const { p } of this.lesson.values.steps) {
      const x = across.place(odds(Math.max(FIRST, Math.min(LAST, p))));
      pen.line(x, y - 7, x, y + 7, { colour, width: 2, alpha: 0.8 });
    }
    const text = across.to - across.from > 480 ? this.texts.own_tokens : this.texts.own_short;
    pen.note(text, across.from, y, { colour, most: across.place(odds(0.35)) - across.from });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    const epsilon = 1 - sigmoid(this.axes(pen).across.value(x));
    return { epsilon: Math.max(0, Math.min(EPSILON.max, Math.round(epsilon * 1000) / 1000)) };
  }

  /** @type {Scene["say"]} */
  say({ epsilon, size }) {
    return fillText(epsilon ? this.texts.loss_say : this.texts.loss_say_zero, {
      epsilon: epsilon.toFixed(2),
      p: (1 - epsilon).toFixed(2),
      loss: entropy(epsilon, Number(size)).toFixed(2),
    });
  }

  /** @type {Scene["table"]} */
  table({ epsilon, size }) {
    const rows = IN_TABLE.map((p) => [p, -Math.log(p), smoothedLoss(p, epsilon, Number(size))]);
    return { columns: [this.texts.right_axis, "\u03b5 = 0", `\u03b5 = ${epsilon.toFixed(2)}`], rows };
  }
}
