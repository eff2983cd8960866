// What training asks of the model, and what the model says, at one place of the translation of the user's sentence.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, formatCount, raised } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { slider } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { EPSILON, entropy, other, probability } from "./smoothing.js";

const MIN = 1e-7; // at the left end of the axis
const FOOT = 40;
const TOP = 26;
const WIDE = 520;

/** @extends {Scene<import("./numbers").Values>} */
export class Targets extends Scene {
  get playhead() {
    return EPSILON;
  }

  get controls() {
    const { length: max } = this.lesson.values.steps;
    const show = (/** @type {number} */ at) => tokenText(this.step({ at }).token);
    return [slider({ name: "at", label: this.texts.token, min: 1, max, start: Math.min(2, max), show })];
  }

  /** @param {Settings} settings */
  step({ at }) {
    const { steps } = this.lesson.values;
    return steps[Math.max(0, Math.min(steps.length, Math.round(at)) - 1)];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(320, Math.min(room, width * 0.6));
  }

  lit() {
    return "smoothed";
  }

  /**
   * A row for the right token, for those that the model likes best beside it, and for each of all the others: what
   * training asks for, and what the model predicts.
   * @param {Settings} settings
   */
  rows(settings) {
    const { vocabulary } = this.lesson.values;
    const { token, p, others } = this.step(settings);
    const epsilon = Math.round(settings.epsilon * 1000) / 1000;
    const target = other(epsilon, vocabulary);
    const rest = vocabulary - 1 - others.length;
    const left = Math.max(0, 1 - p - others.reduce((sum, each) => sum + each[1], 0));
    return [
      { name: token, target: 1 - epsilon, predicted: p },
      ...others.map(([name, predicted]) => ({ name, target, predicted })),
      { name: fillText(this.texts.each_other, { count: formatCount(rest) }), target, predicted: left / rest },
    ];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height, theme } = pen;
    const { encoder, decoder } = theme.kinds;
    const rows = this.rows(settings);
    const wide = width > WIDE;
    const [left, right] = wide ? [136, 84] : [96, 58];
    const across = new Axis(MIN, 1, left, width - right, { log: true });
    const bottom = height - FOOT;
    const each = (bottom - TOP) / rows.length;
    const thick = Math.min(15, each * 0.34);
    pen.axis(across, "bottom", bottom, {
      grid: bottom - TOP,
      ticks: across.ticks().filter((_, index) => wide || index % 2),
      show: (value) => (value === 1 ? "1" : `10${raised(Math.round(Math.log10(value)))}`),
    });
    pen.note(this.texts.probability_axis, across.to, height - 8, { align: "right" });
    const key = { size: 13, weight: 600 };
    pen.write(this.texts.target, left, 10, { ...key, colour: encoder });
    pen.write(this.texts.predicted, left + pen.measure(this.texts.target, key) + 20, 10, { ...key, colour: decoder });
    const size = wide ? 13 : 12;
    rows.forEach(({ name, target, predicted }, index) => {
      const y = TOP + (index + 0.5) * each;
      if (index === rows.length - 1) pen.note(wide ? name : this.texts.each_short, 0, y, { most: left - 10 });
      else {
        const style = { font: theme.code, size: 14, weight: index ? 400 : 700, align: "right", most: left - 12 };
        pen.write(tokenText(name), left - 12, y, style);
      }
      this.bar(pen, across, target, y - thick - 1, thick, encoder);
      this.bar(pen, across, predicted, y + 1, thick, decoder);
      pen.write(probability(target), across.to + 10, y - thick / 2 - 1, { colour: encoder, size });
      pen.write(probability(predicted), across.to + 10, y + thick / 2 + 3, { colour: decoder, size });
    });
    pen.line(across.to, TOP, across.to, bottom, { colour: theme.line, width: 1 });
  }

  /**
   * @param {Pen} pen
   * @param {Axis} across
   * @param {number} value
   * @param {number} y
   * @param {number} thick
   * @param {string} colour
   */
  bar(pen, across, value, y, thick, colour) {
    if (value > MIN) pen.fill(across.from, y, across.place(value) - across.from, thick, colour);
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { vocabulary } = this.lesson.values;
    const { token, p } = this.step(settings);
    return fillText(this.texts.targets_say, {
      token: tokenText(token),
      target: probability(1 - settings.epsilon),
      predicted: probability(p),
      other: probability(other(settings.epsilon, vocabulary)),
      entropy: entropy(settings.epsilon, vocabulary).toFixed(2),
    });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    return {
      columns: [this.texts.token, this.texts.target, this.texts.predicted],
      rows: this.rows(settings).map(({ name, target, predicted }) => [name, target, predicted]),
    };
  }
}
