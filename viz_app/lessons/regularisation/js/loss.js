// The loss against the probability that the model gives to the right piece: with smoothing it has its minimum before 1.

import { fillText } from "../../../components/common/dom.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { EPSILON, entropy, smoothedLoss } from "./smoothing.js";

const FIRST = 0.02;
const LAST = 0.9998;
const TICKS = [0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999];
const HIGHEST = 4;
const POINTS = 240;
const LEFT = 34;
const FOOT = 58;
const TOP = 30;

/** @param {number} p */
export function odds(p) {
  return Math.log(p / (1 - p));
}

export class Loss extends Scene {
  /** @returns {Playhead | null} */
  get playhead() {
    return EPSILON;
  }

  get controls() {
    const { own, paper } = this.lesson.values.vocabularies;
    /**
     * @param {number} size
     * @param {string} text
     */
    const named = (size, text) => [String(size), fillText(text, { size: size.toLocaleString("en-US") })];
    return [
      {
        name: "size",
        kind: "choice",
        label: this.texts.vocabulary,
        options: [named(own, this.texts.own), named(paper, this.texts.paper)],
        start: String(own),
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(320, Math.min(room, width * 0.6));
  }

  lit() {
    return "smoothed";
  }

  /** @param {{ width: number, height: number }} given */
  axes({ width, height }) {
    return {
      across: new Axis(odds(FIRST), odds(LAST), LEFT, width - 16),
      up: new Axis(0, HIGHEST, height - FOOT, TOP),
    };
  }

  /**
   * @param {{ across: Axis, up: Axis }} given
   * @param {any} each
   */
  curve({ across, up }, each) {
    return Array.from({ length: POINTS + 1 }, (_, index) => {
      const x = across.low + ((across.high - across.low) * index) / POINTS;
      const value = each(1 / (1 + Math.exp(-x)));
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
  frame(pen, plot) {
    const { context, theme, width } = pen;
    drawAxis(context, plot.up, "left", LEFT, {
      theme,
      grid: plot.across.to - plot.across.from,
      ticks: plot.up.ticks(4),
    });
    for (const p of this.ticks(width))
      write(context, String(p), plot.across.place(odds(p)), plot.up.from + 12, {
        colour: theme.muted,
        font: theme.font,
        size: 12,
        align: "center",
      });
    write(context, this.texts.loss_axis, 0, 10, { colour: theme.muted, font: theme.font, size: 12 });
    write(context, this.texts.right_axis, plot.across.to, plot.up.from + 30, {
      colour: theme.muted,
      font: theme.font,
      size: 12,
      align: "right",
    });
  }

  /** @type {Scene["draw"]} */
  draw(pen, { epsilon, size }) {
    const { context, theme } = pen;
    const vocabulary = Number(size);
    const plot = this.axes(pen);
    this.frame(pen, plot);
    this.pieces(pen, plot);
    trace(
      context,
      this.curve(plot, (p) => -Math.log(p)),
      { colour: theme.muted, width: 1.75, dash: [6, 5] },
    );
    trace(
      context,
      this.curve(plot, (p) => smoothedLoss(p, epsilon, vocabulary)),
      { colour: theme.kinds.encoder, width: 3.5 },
    );
    if (!epsilon) return;
    const best = entropy(epsilon, vocabulary);
    const [x, y] = [plot.across.place(odds(1 - epsilon)), plot.up.place(best)];
    trace(
      context,
      [
        [LEFT, y],
        [x, y],
      ],
      { colour: theme.kinds.encoder, width: 1, dash: [2, 3] },
    );
    trace(
      context,
      [
        [x, y],
        [x, plot.up.from],
      ],
      { colour: theme.kinds.encoder, width: 1, dash: [2, 3] },
    );
    dot(context, x, y, 7, theme.kinds.encoder, theme.background);
    write(
      context,
      fillText(this.texts.best, { loss: best.toFixed(2) }),
      x + 10,
      y + 22 < plot.up.from - 4 ? y + 22 : y - 18,
      { colour: theme.kinds.encoder, font: theme.font, size: 14, weight: 650 },
    );
  }

  /**
   * How sure the app's model was of each piece of the translation: a mark below the axis.
   * @param {Pen} pen
   * @param {{ across: Axis }} given
   */
  pieces({ context, theme, height }, { across }) {
    const { steps } = this.lesson.values;
    const y = height - 9;
    for (const { p } of steps) {
      const x = across.place(odds(Math.max(FIRST, Math.min(LAST, p))));
      trace(
        context,
        [
          [x, y - 7],
          [x, y + 7],
        ],
        { colour: theme.kinds.decoder, width: 2, alpha: 0.8 },
      );
    }
    write(context, across.to - across.from > 480 ? this.texts.own_pieces : this.texts.own_short, across.from, y, {
      colour: theme.kinds.decoder,
      font: theme.font,
      size: 12,
      most: across.place(odds(0.35)) - across.from,
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    const p = 1 / (1 + Math.exp(-this.axes(pen).across.value(x)));
    return { epsilon: Math.max(0, Math.min(EPSILON.max, Math.round((1 - p) * 1000) / 1000)) };
  }

  /** @type {Scene["say"]} */
  say({ epsilon, size }) {
    const best = entropy(epsilon, Number(size));
    return fillText(epsilon ? this.texts.loss_say : this.texts.loss_say_zero, {
      epsilon: epsilon.toFixed(2),
      p: (1 - epsilon).toFixed(2),
      loss: best.toFixed(2),
    });
  }

  /** @type {Scene["table"]} */
  table({ epsilon, size }) {
    const rows = [0.05, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999].map((p) => [
      p,
      -Math.log(p),
      smoothedLoss(p, epsilon, Number(size)),
    ]);
    return { columns: [this.texts.right_axis, "\u03b5 = 0", `\u03b5 = ${epsilon.toFixed(2)}`], rows };
  }
}
