// Target and predicted distribution at one place of the translation of the user's sentence.

import { fillText, formatCount, raised } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { drawBars } from "../../stage/js/barchart.js";
import { slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { EPSILON, entropy, other, probability } from "./smoothing.js";

const MIN = 1e-7; // at the left end of the axis

/** @extends {Scene<import("./numbers").Values>} */
export class Targets extends Scene {
  size = { least: 320, share: 0.6 };
  term = "smoothed";

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
    const narrow = isNarrow(width);
    const rows = this.rows(settings).map(({ name, target, predicted }, index, all) => ({
      name: index === all.length - 1 && narrow ? this.texts.each_short : name,
      values: [target, predicted],
      texts: [target, predicted].map(probability),
      token: index < all.length - 1,
      strong: index === 0,
    }));
    const powers = narrow ? [-7, -4, -1] : [-7, -6, -5, -4, -3, -2, -1, 0];
    drawBars(pen, { x: 0, y: 0, width, height }, rows, {
      ends: [MIN, 1],
      log: true,
      ticks: powers.map((power) => [10 ** power, power ? `10${raised(power)}` : "1"]),
      title: this.texts.probability_axis,
      key: [this.texts.target, this.texts.predicted],
      colours: [theme.kinds.encoder, theme.kinds.decoder],
    });
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
