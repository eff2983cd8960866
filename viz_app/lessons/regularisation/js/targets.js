// What training asks of the model, and what the model says, at one place of the translation of the user's sentence.

import { fillText } from "../../../components/common/dom.js";
import { raised } from "../../../components/common/format.js";
import { Axis, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { EPSILON, entropy, other, probability } from "./smoothing.js";

const LEAST = 1e-7; // at the left end of the axis
const FOOT = 40;
const TOP = 26;

export class Targets extends Scene {
  get playhead() {
    return EPSILON;
  }

  get controls() {
    const { steps } = this.lesson.values;
    return [
      {
        name: "at",
        kind: "range",
        label: this.texts.piece,
        min: 1,
        max: steps.length,
        step: 1,
        start: Math.min(2, steps.length),
        /** @param {number} value */
        show: (value) => this.step({ at: value }).piece.replace("\u2581", ""),
      },
    ];
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
   * A row for the right piece, for those that the model likes best beside it, and for each of all the others.
   * @param {Settings} settings
   */
  rows(settings) {
    const { vocabulary } = this.lesson.values;
    const { piece, p, others } = this.step(settings);
    const epsilon = Math.round(settings.epsilon * 1000) / 1000;
    const rest = vocabulary - 1 - others.length;
    const left = Math.max(0, 1 - p - others.reduce((sum, each) => sum + each[1], 0));
    return [
      { name: piece, right: true, asked: 1 - epsilon, said: p },
      ...others.map(([name, said]) => ({ name, asked: other(epsilon, vocabulary), said })),
      {
        name: fillText(this.texts.each_other, { count: rest.toLocaleString("en-US") }),
        words: true,
        asked: other(epsilon, vocabulary),
        said: left / rest,
      },
    ];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height, theme } = pen;
    const rows = this.rows(settings);
    const [left, right] = width > 520 ? [136, 84] : [96, 58];
    const across = new Axis(LEAST, 1, left, width - right, { log: true });
    const each = (height - FOOT - TOP) / rows.length;
    const thick = Math.min(15, each * 0.34);
    drawAxis(context, across, "bottom", height - FOOT, {
      theme,
      grid: height - FOOT - TOP,
      ticks: across.ticks().filter((_, index) => width > 520 || index % 2),
      show: (value) => (value === 1 ? "1" : `10${raised(Math.round(Math.log10(value)))}`),
    });
    write(context, this.texts.probability_axis, across.to, height - 8, {
      colour: theme.muted,
      font: theme.font,
      size: 12,
      align: "right",
    });
    const key = { font: theme.font, size: 13, weight: 600 };
    write(context, this.texts.asked, left, 10, { ...key, colour: theme.kinds.encoder });
    context.font = `600 13px ${theme.font}`;
    write(context, this.texts.said, left + context.measureText(this.texts.asked).width + 20, 10, {
      ...key,
      colour: theme.kinds.decoder,
    });
    rows.forEach(({ name, words, right: rightOne, asked, said }, index) => {
      const y = TOP + (index + 0.5) * each;
      if (words)
        write(context, width > 520 ? name : this.texts.each_short, 0, y, {
          colour: theme.muted,
          font: theme.font,
          size: 12,
          most: left - 10,
        });
      else
        write(context, name.replace("\u2581", "\u00b7"), left - 12, y, {
          colour: theme.text,
          font: theme.code,
          size: 14,
          weight: rightOne ? 700 : 400,
          align: "right",
          most: left - 12,
        });
      this.bar(pen, across, asked, y - thick - 1, thick, theme.kinds.encoder);
      this.bar(pen, across, said, y + 1, thick, theme.kinds.decoder);
      const numbers = { font: theme.font, size: width > 520 ? 13 : 12 };
      write(context, probability(asked), across.to + 10, y - thick / 2 - 1, {
        ...numbers,
        colour: theme.kinds.encoder,
      });
      write(context, probability(said), across.to + 10, y + thick / 2 + 3, { ...numbers, colour: theme.kinds.decoder });
    });
    trace(
      context,
      [
        [across.to, TOP],
        [across.to, height - FOOT],
      ],
      { colour: theme.line, width: 1 },
    );
  }

  /**
   * @param {Pen} pen
   * @param {Axis} across
   * @param {number} value
   * @param {number} y
   * @param {number} thick
   * @param {string} colour
   */
  bar({ context }, across, value, y, thick, colour) {
    if (value <= LEAST) return;
    context.fillStyle = colour;
    context.fillRect(across.from, y, across.place(value) - across.from, thick);
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { vocabulary } = this.lesson.values;
    const { piece, p } = this.step(settings);
    return fillText(this.texts.targets_say, {
      piece: piece.replace("\u2581", ""),
      asked: probability(1 - settings.epsilon),
      said: probability(p),
      other: probability(other(settings.epsilon, vocabulary)),
      entropy: entropy(settings.epsilon, vocabulary).toFixed(2),
    });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    return {
      columns: [this.texts.piece, this.texts.asked, this.texts.said],
      rows: this.rows(settings).map(({ name, asked, said }) => [name, asked, said]),
    };
  }
}
