// Recorded runs that differ in their warm-up alone: the rate above, below what was recorded of the loss or the gradient
// at the same update. Only recorded updates are drawn and read off; nothing stands between them.

import { fillText } from "../../../components/common/dom.js";
import { Axis, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { scientific, thousands } from "./rate.js";

const LEFT = 46;
const FOOT = 38;
const GAP = 34;
const SHARE = 0.3; // of the height, for the rate
const CROSS = 5;

export class Runs extends Scene {
  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    this.runs = lesson.values.runs.map((run, index) => ({
      ...run,
      step: lesson.arrays[`run_${index}_step`].data,
      rate: lesson.arrays[`run_${index}_rate`].data,
      loss: lesson.arrays[`run_${index}_loss`].data,
      gradient: lesson.arrays[`run_${index}_gradient`].data,
    }));
    this.last = Math.max(2, ...this.runs.map(({ step }) => step[step.length - 1]));
  }

  get playhead() {
    if (!this.runs.length) return null;
    return {
      name: "step",
      label: this.texts.step,
      min: 1,
      max: this.last,
      step: 50,
      rate: this.last / 14,
      start: Math.round(this.last * 0.25),
      show: thousands,
    };
  }

  get controls() {
    const { texts } = this;
    if (!this.runs.length) return [];
    return [
      {
        name: "below",
        kind: "choice",
        label: texts.below,
        options: [
          ["loss", texts.loss],
          ["gradient", texts.gradient_norm],
        ],
        start: "loss",
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(380, Math.min(room, width * 0.68));
  }

  lit() {
    return "warmup";
  }

  /**
   * Index of the last record up to a step; -1 before the first one.
   * @param {any} run
   * @param {number} step
   */
  record(run, step) {
    let index = -1;
    while (index + 1 < run.step.length && run.step[index + 1] <= step) index += 1;
    return index;
  }

  /** @param {any} below */
  bounds(below) {
    const all = this.runs.flatMap((run) => [...run[below]]).filter(Number.isFinite);
    const largest = Math.max(...all);
    if (below === "gradient")
      return {
        low: 10 ** Math.floor(Math.log10(Math.max(1e-3, Math.min(...all)))),
        high: 10 ** Math.ceil(Math.log10(largest)),
        log: true,
      };
    return { low: Math.max(0, Math.floor(Math.min(...all))), high: Math.ceil(largest), log: false };
  }

  /**
   * @param {Pen} pen
   * @param {any} below
   */
  plots({ width, height }, below) {
    const right = width > 560 ? 172 : 96;
    const across = new Axis(0, this.last, LEFT, width - right);
    const middle = Math.round(height * SHARE);
    const rates = this.runs.flatMap((run) => [...run.rate]);
    const { low, high, log } = this.bounds(below);
    return {
      across,
      rate: new Axis(Math.min(...rates), Math.max(...rates), middle, 26, { log: true }),
      below: new Axis(low, high, height - FOOT, middle + GAP, { log }),
    };
  }

  /**
   * @param {Theme} theme
   * @param {number} index
   */
  colour(theme, index) {
    const bytes = theme.pixels[Math.round(110 + (145 * index) / Math.max(1, this.runs.length - 1))];
    return `rgb(${bytes & 255}, ${(bytes >> 8) & 255}, ${(bytes >> 16) & 255})`;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height, theme } = pen;
    if (!this.runs.length) {
      write(context, this.texts.runs_missing, width / 2, height / 2, {
        colour: theme.muted,
        font: theme.font,
        size: 15,
        align: "center",
        most: width - 20,
      });
      return;
    }
    const { step, below } = settings;
    const plots = this.plots(pen, below);
    const grid = plots.across.to - plots.across.from;
    drawAxis(context, plots.rate, "left", LEFT, {
      theme,
      grid,
      show: (value) => scientific(value, 0).replace(/^1 \u00d7 /, ""),
    });
    drawAxis(context, plots.below, "left", LEFT, { theme, grid });
    drawAxis(context, plots.across, "bottom", height - FOOT, {
      theme,
      ticks: plots.across.ticks(width > 560 ? 8 : 4),
      show: thousands,
    });
    const style = { colour: theme.muted, font: theme.font, size: 12 };
    write(context, this.texts.rate, 0, 8, style);
    write(context, below === "loss" ? this.texts.loss_axis : this.texts.gradient_norm, 0, plots.below.to - 16, style);
    write(context, this.texts.step_axis, plots.across.to, height - 6, { ...style, align: "right" });
    this.runs.forEach((run, index) => {
      this.dots(pen, plots, plots.rate, run, run.rate, index, step);
      this.dots(pen, plots, plots.below, run, run[below], index, step);
      if (run.failed) this.cross(pen, plots, run, run[below], index, step);
    });
    const x = plots.across.place(step);
    trace(
      context,
      [
        [x, plots.rate.to],
        [x, plots.below.from],
      ],
      { colour: theme.text, width: 1.5 },
    );
    this.readings(pen, plots, settings);
  }

  /**
   * One dot for each record, pale after the cursor.
   * @param {Pen} pen
   * @param {{ across: Axis }} given
   * @param {Axis} up
   * @param {any} run
   * @param {any} values
   * @param {number} index
   * @param {number} step
   */
  dots({ context, theme }, { across }, up, run, values, index, step) {
    const colour = this.colour(theme, index);
    const size = 2.4;
    context.save();
    context.fillStyle = colour;
    for (let record = 0; record < run.step.length; record++) {
      if (!Number.isFinite(values[record])) continue;
      context.globalAlpha = run.step[record] <= step ? 1 : 0.22;
      context.fillRect(across.place(run.step[record]) - size / 2, up.place(values[record]) - size / 2, size, size);
    }
    context.restore();
  }

  /**
   * Where a run ended because its loss was no number any more.
   * @param {Pen} pen
   * @param {{ across: Axis, below: any }} given
   * @param {any} run
   * @param {any} values
   * @param {number} index
   * @param {number} step
   */
  cross({ context, theme }, { across, below }, run, values, index, step) {
    const [x, y] = [across.place(run.failed), below.place(values[run.step.length - 1])];
    const style = { colour: this.colour(theme, index), width: 2.5, alpha: run.failed <= step ? 1 : 0.3 };
    trace(
      context,
      [
        [x - CROSS, y - CROSS],
        [x + CROSS, y + CROSS],
      ],
      style,
    );
    trace(
      context,
      [
        [x - CROSS, y + CROSS],
        [x + CROSS, y - CROSS],
      ],
      style,
    );
  }

  /**
   * What was recorded last at the cursor, a line for each run, in the order of the values as far as there is room.
   * @param {Pen} pen
   * @param {{ across: Axis, rate: Axis, below: Axis }} plots
   * @param {Settings} settings
   */
  readings({ context, width, theme }, plots, { step, below }) {
    const lines = this.runs.map((run, index) => {
      const record = this.record(run, step);
      const value = record < 0 ? null : run[below][record];
      return { run, index, value, y: plots.below.place(value ?? plots.below.high) };
    });
    lines.sort((a, b) => a.y - b.y);
    let least = plots.below.to + 2;
    for (const line of lines) line.y = least = Math.max(least, line.y) + 0;
    for (let index = 1; index < lines.length; index++)
      lines[index].y = Math.max(lines[index].y, lines[index - 1].y + 20);
    const over = Math.max(0, lines.at(-1).y - (plots.below.from - 6));
    const x = plots.across.to + 10;
    for (const { run, index, value, y } of lines) {
      const told =
        run.failed && run.failed <= step ? this.texts.diverged : value === null ? "\u2013" : value.toFixed(2);
      const text =
        width > 560
          ? fillText(this.texts.run_reading, { warmup: thousands(run.warmup), value: told })
          : `${run.warmup}: ${told}`;
      context.fillStyle = this.colour(theme, index);
      context.fillRect(x, y - over - 5, 10, 10);
      write(context, text, x + 16, y - over, {
        colour: theme.text,
        font: theme.font,
        size: width > 560 ? 14 : 12,
        weight: 600,
        most: width - x - 16,
      });
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
    const told = this.runs.map((run) => {
      const record = this.record(run, step);
      const value =
        run.failed && run.failed <= step ? this.texts.diverged : record < 0 ? "\u2013" : run[below][record].toFixed(2);
      return `${thousands(run.warmup)}: ${value}`;
    });
    return fillText(this.texts.runs_say, {
      step: thousands(step),
      what: below === "loss" ? this.texts.loss : this.texts.gradient_norm,
      values: told.join(" \u00b7 "),
    });
  }

  /** @type {Scene["table"]} */
  table({ below }) {
    if (!this.runs.length) return null;
    const rows = this.runs.flatMap((run) =>
      [...run.step]
        .filter((_, index) => index % 10 === 9 || index === run.step.length - 1)
        .map((step) => {
          const record = this.record(run, step);
          return [run.warmup, step, run.rate[record], run[below][record]];
        }),
    );
    return {
      columns: [
        "warmup_steps",
        this.texts.step,
        this.texts.rate,
        below === "loss" ? this.texts.loss_axis : this.texts.gradient_norm,
      ],
      rows,
    };
  }
}
