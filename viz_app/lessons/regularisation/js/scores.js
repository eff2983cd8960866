// Perplexity up, BLEU up: measured at a few values of epsilon, and nothing between them.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText } from "../../../components/common/text/format.js";
import { choice } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";

const FOOT = 40;
const TOP = 52;
const WIDE = 520;

/** @typedef {import("./numbers").Values} Values */
/** @typedef {import("./numbers").Scores} Row */

/** @extends {Scene<Values>} */
export class Scores extends Scene {
  get controls() {
    const { models, paper_models: paper, small_models: small } = this.texts;
    return [choice("whose", models, { paper, small })];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(300, Math.min(room, width * 0.55));
  }

  /** @param {Settings} settings */
  measured({ whose }) {
    return this.lesson.values.measured[/** @type {keyof Values["measured"]} */ (whose)];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, theme } = pen;
    const rows = this.measured(settings);
    if (!rows.length) return pen.message(this.texts.small_missing);
    const gap = width > WIDE ? 60 : 26;
    const side = (width - gap) / 2;
    this.panel(pen, rows, "perplexity", { x: 0, side, colour: theme.kinds.decoder });
    this.panel(pen, rows, "bleu", { x: side + gap, side, colour: theme.kinds.encoder });
  }

  /**
   * @param {Pen} pen
   * @param {Row[]} rows
   * @param {"perplexity" | "bleu"} name
   * @param {{ x: number, side: number, colour: string }} place `side`: how wide it is.
   */
  panel(pen, rows, name, { x, side, colour }) {
    const { height, theme } = pen;
    const values = rows.flatMap((row) => [row[name], ...(row.seeds?.[name] ?? []), ...(row.interval?.[name] ?? [])]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const spread = Math.max(high - low, 0.02 * high);
    const ticks = rows.map(({ epsilon }) => epsilon);
    const across = new Axis(-0.03, Math.max(...ticks) + 0.03, x + 8, x + side - 8);
    const up = new Axis(low - 0.45 * spread, high + 0.35 * spread, height - FOOT, TOP);
    const big = pen.width > WIDE;
    pen.write(this.texts[name], x, 12, { size: big ? 16 : 14, weight: 650 });
    pen.note(this.texts[`better_${name}`], x, 32, { most: side });
    pen.line(x, up.from, x + side, up.from, { colour: theme.line, width: 1 });
    pen.axis(across, "bottom", up.from, { ticks, show: (value) => `\u03b5 = ${value}` });
    for (const { epsilon, [name]: value, seeds, interval } of rows) {
      const [px, py] = [across.place(epsilon), up.place(value)];
      pen.line(px, up.from, px, up.to, { colour: theme.line, width: 1 });
      if (interval)
        this.interval(
          pen,
          px,
          interval[name].map((end) => up.place(end)),
          colour,
        );
      for (const seed of seeds?.[name] ?? [])
        pen.cross(px + 16, up.place(seed), 3.5, { colour: theme.muted, width: 1.5 });
      pen.dot(px, py, 7, colour, theme.background);
      const text = value.toFixed(name === "bleu" ? 1 : 2);
      const y = (interval ? up.place(interval[name][1]) : py) - 20;
      pen.write(text, px, y, { colour, size: big ? 18 : 15, weight: 650, align: "center" });
    }
  }

  /**
   * The interval of a mean as a line with two ends.
   * @param {Pen} pen
   * @param {number} x
   * @param {number[]} ends
   * @param {string} colour
   */
  interval(pen, x, ends, colour) {
    pen.line(x, ends[0], x, ends[1], { colour, width: 2.5 });
    for (const y of ends) pen.line(x - 6, y, x + 6, y, { colour, width: 2.5 });
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const [none, some] = this.measured(settings);
    if (!none) return this.texts.small_missing;
    return fillText(settings.whose === "paper" ? this.texts.paper_say : this.texts.small_say, {
      epsilon: some.epsilon,
      before: none.perplexity.toFixed(2),
      after: some.perplexity.toFixed(2),
      bleu: none.bleu.toFixed(1),
      later: some.bleu.toFixed(1),
      seeds: none.seeds?.bleu.length ?? 1,
      perplexity: this.texts[`verdict_${none.verdict?.perplexity}`] ?? "",
      quality: this.texts[`verdict_${none.verdict?.bleu}`] ?? "",
    });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { perplexity, bleu, interval_of: from } = this.texts;
    const rows = this.measured(settings).map((row) => [
      row.epsilon,
      row.perplexity,
      ...(row.interval ? [row.interval.perplexity.map((end) => end.toFixed(2)).join(" \u2013 ")] : []),
      row.bleu,
      ...(row.interval ? [row.interval.bleu.map((end) => end.toFixed(1)).join(" \u2013 ")] : []),
    ]);
    const columns = settings.whose === "paper" ? [perplexity, bleu] : [perplexity, from, bleu, from];
    return { columns: ["\u03b5", ...columns], rows };
  }
}
