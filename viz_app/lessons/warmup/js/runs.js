// Recorded runs that differ in their warm-up alone: the rate above, below what was recorded of the loss or the gradient
// at the same update. Only recorded updates are drawn and read off; nothing stands between them.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, formatCount } from "../../../components/common/text/format.js";
import { choice } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { scientific } from "./rate.js";

const LEFT = 46;
const FOOT = 38;
const GAP = 34;
const SHARE = 0.3; // of the height, for the rate
const WIDE = 560;
const DOT = 2.4;

/** @typedef {"loss" | "gradient"} Below */
/** @typedef {{ warmup: number, failed: number | null, step: number[], rate: number[] } & Record<Below, number[]>} Run */
/** @typedef {{ across: Axis, rate: Axis, below: Axis }} Plots */

/** @extends {Scene<import("./numbers").Values>} */
export class Runs extends Scene {
  /**
   * @param {LessonData<import("./numbers").Values>} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    /** @type {Run[]} */
    this.runs = lesson.values.runs.map((run, index) => {
      const column = (/** @type {string} */ name) => [...lesson.arrays[`run_${index}_${name}`].data];
      return {
        ...run,
        step: column("step"),
        rate: column("rate"),
        loss: column("loss"),
        gradient: column("gradient"),
      };
    });
    this.last = Math.max(2, ...this.runs.map(({ step }) => step[step.length - 1]));
  }

  get playhead() {
    if (!this.runs.length) return null;
    const { last } = this;
    return {
      name: "step",
      label: this.texts.step,
      min: 1,
      max: last,
      step: 50,
      rate: last / 14,
      start: Math.round(last * 0.25),
      show: formatCount,
    };
  }

  get controls() {
    const { below, loss, gradient_norm: gradient } = this.texts;
    return this.runs.length ? [choice("below", below, { loss, gradient })] : [];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(380, Math.min(room, width * 0.68));
  }

  lit() {
    return "warmup";
  }

  /**
   * What was recorded last up to a step; undefined before the first record.
   * @param {Run} run
   * @param {number} step
   * @param {Below} below
   */
  recorded(run, step, below) {
    return run[below][run.step.findLastIndex((each) => each <= step)];
  }

  /**
   * The same as text.
   * @param {Run} run
   * @param {number} step
   * @param {Below} below
   */
  reading(run, step, below) {
    if (run.failed && run.failed <= step) return this.texts.diverged;
    return this.recorded(run, step, below)?.toFixed(2) ?? "\u2013";
  }

  /**
   * The axis of the lower plot, from a round number to a round number.
   * @param {Below} below
   * @param {number} from
   * @param {number} to
   */
  axisBelow(below, from, to) {
    const all = this.runs.flatMap((run) => run[below]).filter(Number.isFinite);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    if (below === "loss") return new Axis(Math.max(0, Math.floor(low)), Math.ceil(high), from, to);
    const power = Math.floor(Math.log10(Math.max(1e-3, low)));
    return new Axis(10 ** power, 10 ** Math.ceil(Math.log10(high)), from, to, { log: true });
  }

  /**
   * @param {Pen} pen
   * @param {Below} below
   * @returns {Plots}
   */
  plots({ width, height }, below) {
    const middle = Math.round(height * SHARE);
    const rates = this.runs.flatMap((run) => run.rate);
    return {
      across: new Axis(0, this.last, LEFT, width - (width > WIDE ? 172 : 96)),
      rate: new Axis(Math.min(...rates), Math.max(...rates), middle, 26, { log: true }),
      below: this.axisBelow(below, height - FOOT, middle + GAP),
    };
  }

  /**
   * @param {Theme} theme
   * @param {Run} run
   */
  colour(theme, run) {
    const { decoder, encoder, cross } = theme.kinds;
    const colours = [decoder, encoder, cross, theme.text];
    return colours[this.runs.indexOf(run) % colours.length];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height, theme } = pen;
    const { step } = settings;
    const below = /** @type {Below} */ (settings.below);
    if (!this.runs.length) return pen.message(this.texts.runs_missing);
    const plots = this.plots(pen, below);
    const { across, rate } = plots;
    const grid = across.to - across.from;
    pen.axis(rate, "left", LEFT, { grid, show: (value) => scientific(value, 0).replace(/^1 \u00d7 /, "") });
    pen.axis(plots.below, "left", LEFT, { grid });
    pen.axis(across, "bottom", height - FOOT, { ticks: across.ticks(width > WIDE ? 8 : 4), show: formatCount });
    pen.note(this.texts.rate, 0, 8);
    pen.note(this.titleBelow(below), 0, plots.below.to - 16);
    pen.note(this.texts.step_axis, across.to, height - 6, { align: "right" });
    for (const run of this.runs) {
      this.dots(pen, across, rate, run, run.rate, step);
      this.dots(pen, across, plots.below, run, run[below], step);
      if (run.failed) {
        const y = plots.below.place(run[below][run.step.length - 1]);
        const alpha = run.failed <= step ? 1 : 0.3;
        pen.cross(across.place(run.failed), y, 5, { colour: this.colour(theme, run), width: 2.5, alpha });
      }
    }
    const x = across.place(step);
    pen.line(x, rate.to, x, plots.below.from, { colour: theme.text });
    this.readings(pen, plots, step, below);
  }

  /** @param {Below} below */
  titleBelow(below) {
    return below === "loss" ? this.texts.loss_axis : this.texts.gradient_norm;
  }

  /**
   * One dot for each record, pale after the cursor.
   * @param {Pen} pen
   * @param {Axis} across
   * @param {Axis} up
   * @param {Run} run
   * @param {number[]} values
   * @param {number} step
   */
  dots(pen, across, up, run, values, step) {
    const colour = this.colour(pen.theme, run);
    values.forEach((value, record) => {
      if (!Number.isFinite(value)) return;
      const [x, y] = [across.place(run.step[record]), up.place(value)];
      pen.fill(x - DOT / 2, y - DOT / 2, DOT, DOT, colour, run.step[record] <= step ? 1 : 0.22);
    });
  }

  /**
   * What was recorded last at the cursor, a line for each run, in the order of the values as far as there is room.
   * @param {Pen} pen
   * @param {Plots} plots
   * @param {number} step
   * @param {Below} below
   */
  readings(pen, plots, step, below) {
    const { width, theme } = pen;
    const { from, to, high } = plots.below;
    const lines = this.runs
      .map((run) => ({ run, y: plots.below.place(this.recorded(run, step, below) ?? high) }))
      .sort((a, b) => a.y - b.y);
    let least = to + 2;
    for (const line of lines) {
      line.y = Math.max(least, line.y);
      least = line.y + 20;
    }
    const over = Math.max(0, least - 20 - (from - 6));
    const x = plots.across.to + 10;
    const wide = width > WIDE;
    for (const { run, y } of lines) {
      const value = this.reading(run, step, below);
      const text = wide
        ? fillText(this.texts.run_reading, { warmup: formatCount(run.warmup), value })
        : `${run.warmup}: ${value}`;
      pen.fill(x, y - over - 5, 10, 10, this.colour(theme, run));
      pen.write(text, x + 16, y - over, { size: wide ? 14 : 12, weight: 600, most: width - x - 16 });
    }
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { below }) {
    if (!this.runs.length) return null;
    return { step: Math.max(1, Math.round(this.plots(pen, below).across.value(x))) };
  }

  /** @type {Scene["say"]} */
  say({ step, below }) {
    if (!this.runs.length) return this.texts.runs_missing;
    const values = this.runs.map((run) => `${formatCount(run.warmup)}: ${this.reading(run, step, below)}`);
    return fillText(this.texts.runs_say, {
      step: formatCount(step),
      what: below === "loss" ? this.texts.loss : this.texts.gradient_norm,
      values: values.join(" \u00b7 "),
    });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    if (!this.runs.length) return null;
    const below = /** @type {Below} */ (settings.below);
    const rows = this.runs.flatMap((run) =>
      run.step
        .map((step, record) => [run.warmup, step, run.rate[record], run[below][record]])
        .filter((_, record) => record % 10 === 9 || record === run.step.length - 1),
    );
    return { columns: ["warmup_steps", this.texts.step, this.texts.rate, this.titleBelow(below)], rows };
  }
}
