// The loss against the probability that the model gives to the right token: with smoothing it has its minimum before 1.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { choice } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { EPSILON, entropy, smoothedLoss } from "./smoothing.js";

const FIRST = 0.02;
const LAST = 0.9998;
const TICKS = [0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999];
const IN_TABLE = [0.05, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999];
const HIGHEST = 4;
const POINTS = 240;
const FOOT = 22; // of the marks of the tokens

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
  size = { least: 320, share: 0.6 };
  term = "smoothed";

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

  /**
   * The chart of some losses, each a function of the probability.
   * @param {Pen} pen
   * @param {import("../../stage/js/chart.js").Series[]} [series]
   */
  plot(pen, series = []) {
    return new Chart(
      pen,
      { x: 0, y: 0, width: pen.width, height: pen.height - FOOT },
      {
        series,
        x: {
          title: this.texts.right_axis,
          ends: [odds(FIRST), odds(LAST)],
          ticks: this.ticks(pen.width).map((p) => [odds(p), String(p)]),
        },
        y: { title: this.texts.loss_axis, ends: [0, HIGHEST] },
        key: false,
      },
    );
  }

  /**
   * @param {(p: number) => number} lossAt
   * @param {Partial<LineStyle>} look
   * @returns {import("../../stage/js/chart.js").Series}
   */
  curve(lossAt, look) {
    const [low, high] = [odds(FIRST), odds(LAST)];
    const x = Array.from({ length: POINTS + 1 }, (_, index) => low + ((high - low) * index) / POINTS);
    const y = x.map((each) => lossAt(sigmoid(each))).map((loss) => (loss > HIGHEST * 1.02 ? null : loss));
    return { x, y, look };
  }

  /** @param {number} width */
  ticks(width) {
    return isNarrow(width) ? TICKS.filter((_, index) => index % 2) : TICKS;
  }

  /** @type {Scene["draw"]} */
  draw(pen, { epsilon, size }) {
    const { theme } = pen;
    const colour = theme.kinds.encoder;
    const vocabulary = Number(size);
    const plot = this.plot(pen, [
      this.curve((p) => -Math.log(p), { colour: theme.muted, width: 1.75, dash: [6, 5] }),
      this.curve((p) => smoothedLoss(p, epsilon, vocabulary), { colour, width: 3.5 }),
    ]);
    plot.draw();
    this.tokens(pen, plot.across);
    if (!epsilon) return;
    const best = entropy(epsilon, vocabulary);
    const { across, up } = plot;
    const [x, y] = [across.place(odds(1 - epsilon)), up.place(best)];
    pen.line(across.from, y, x, y, { colour, width: 1, dash: [2, 3] });
    pen.line(x, y, x, up.from, { colour, width: 1, dash: [2, 3] });
    pen.dot(x, y, 7, colour, theme.background);
    const text = fillText(this.texts.best, { loss: best.toFixed(2) });
    pen.write(text, x + 10, y + 22 < up.from - 4 ? y + 22 : y - 18, { colour, size: 14, weight: 650 });
  }

  /**
   * Mark the model's probability of each token of the translation below the axis.
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
    const epsilon = 1 - sigmoid(this.plot(pen).across.value(x));
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
