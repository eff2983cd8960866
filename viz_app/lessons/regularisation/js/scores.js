// Perplexity up, BLEU up: measured at a few values of epsilon, and nothing between them.

import { fillText } from "../../../components/common/dom.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";

const FOOT = 40;
const TOP = 52;

export class Scores extends Scene {
  get controls() {
    const { texts } = this;
    return [
      {
        name: "whose",
        kind: "choice",
        label: texts.models,
        options: [
          ["paper", texts.paper_models],
          ["small", texts.small_models],
        ],
        start: "paper",
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(300, Math.min(room, width * 0.55));
  }

  /** @param {Settings} settings */
  measured({ whose }) {
    return this.lesson.values.measured[whose];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height, theme } = pen;
    const rows = this.measured(settings);
    if (!rows.length) {
      write(context, this.texts.small_missing, width / 2, height / 2, {
        colour: theme.muted,
        font: theme.font,
        size: 15,
        align: "center",
        most: width - 20,
      });
      return;
    }
    const gap = width > 520 ? 60 : 26;
    const side = (width - gap) / 2;
    this.panel(pen, rows, "perplexity", { x: 0, side, colour: theme.kinds.decoder, height });
    this.panel(pen, rows, "bleu", { x: side + gap, side, colour: theme.kinds.encoder, height });
  }

  /**
   * @param {Pen} pen
   * @param {any[]} rows
   * @param {string} name
   * @param {{ x: any, side: any, colour: string, height: number }} given
   */
  panel({ context, theme, width }, rows, name, { x, side, colour, height }) {
    const values = rows.map((row) => row[name]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const spread = Math.max(high - low, 0.02 * high);
    const across = new Axis(-0.03, Math.max(...rows.map(({ epsilon }) => epsilon)) + 0.03, x + 8, x + side - 8);
    const up = new Axis(low - 0.45 * spread, high + 0.35 * spread, height - FOOT, TOP);
    const big = width > 520;
    write(context, this.texts[name], x, 12, { colour: theme.text, font: theme.font, size: big ? 16 : 14, weight: 650 });
    write(context, this.texts[`better_${name}`], x, 32, {
      colour: theme.muted,
      font: theme.font,
      size: 12,
      most: side,
    });
    trace(
      context,
      [
        [x, up.from],
        [x + side, up.from],
      ],
      { colour: theme.line, width: 1 },
    );
    drawAxis(context, across, "bottom", up.from, {
      theme,
      ticks: rows.map(({ epsilon }) => epsilon),
      show: (value) => `\u03b5 = ${value}`,
    });
    rows.forEach(({ epsilon, [name]: value }) => {
      const [px, py] = [across.place(epsilon), up.place(value)];
      trace(
        context,
        [
          [px, up.from],
          [px, up.to],
        ],
        { colour: theme.line, width: 1 },
      );
      dot(context, px, py, 7, colour, theme.background);
      write(context, value.toFixed(name === "bleu" ? 1 : 2), px, py - 20, {
        colour,
        font: theme.font,
        size: big ? 18 : 15,
        weight: 650,
        align: "center",
      });
    });
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const rows = this.measured(settings);
    if (!rows.length) return this.texts.small_missing;
    const [none, some] = rows;
    const told = {
      epsilon: some.epsilon,
      before: none.perplexity.toFixed(2),
      after: some.perplexity.toFixed(2),
      bleu: none.bleu.toFixed(1),
      later: some.bleu.toFixed(1),
    };
    return fillText(settings.whose === "paper" ? this.texts.paper_say : this.texts.small_say, told);
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const rows = this.measured(settings).map(({ epsilon, perplexity, bleu }) => [epsilon, perplexity, bleu]);
    return { columns: ["\u03b5", this.texts.perplexity, this.texts.bleu], rows };
  }
}
