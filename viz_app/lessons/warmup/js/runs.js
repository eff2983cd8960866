// Recorded runs that differ in their warm-up alone: the rate above, below what was recorded of the loss or the gradient
// at the same update. Only recorded updates are drawn and read off; nothing stands between them.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { choice } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const LEFT = 46;
const SHARE = 0.3; // of the height, for the rate

/** @typedef {"loss" | "gradient"} Below */
/** @typedef {{ warmup: number, failed: number | null, step: number[], rate: number[] } & Record<Below, number[]>} Run */

/** @extends {Scene<import("./numbers").Values>} */
export class Runs extends Scene {
  size = { least: 380, share: 0.68 };
  term = "warmup";

  /** @type {Run[]} */
  runs = this.lesson.values.runs.map((run, index) => {
    const column = (/** @type {string} */ name) => [...this.lesson.arrays[`run_${index}_${name}`].data];
    return { ...run, step: column("step"), rate: column("rate"), loss: column("loss"), gradient: column("gradient") };
  });
  last = Math.max(2, ...this.runs.map(({ step }) => step[step.length - 1]));

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

  /**
   * Return the last record up to a step; undefined before the first.
   * @param {Run} run
   * @param {number} step
   * @param {Below} below
   */
  recorded(run, step, below) {
    return run[below][run.step.findLastIndex((each) => each <= step)];
  }

  /**
   * Return the last record as text.
   * @param {Run} run
   * @param {number} step
   * @param {Below} below
   */
  reading(run, step, below) {
    if (run.failed && run.failed <= step) return this.texts.diverged;
    return this.recorded(run, step, below)?.toFixed(2) ?? "\u2013";
  }

  /**
   * The axis of the lower chart, from a round number to a round number.
   * @param {Below} below
   * @returns {{ ends: [number, number], log?: boolean }}
   */
  axisBelow(below) {
    const all = this.runs.flatMap((run) => run[below]).filter(Number.isFinite);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    if (below === "loss") return { ends: [Math.max(0, Math.floor(low)), Math.ceil(high)] };
    const power = Math.floor(Math.log10(Math.max(1e-3, low)));
    return { ends: [10 ** power, 10 ** Math.ceil(Math.log10(high))], log: true };
  }

  /**
   * The chart of the rate and that of the loss or the gradient, on one axis of steps.
   * @param {Pen} pen
   * @param {Settings} settings
   */
  charts(pen, { step, below }) {
    const { width, height, theme } = pen;
    const middle = Math.round(height * SHARE);
    const [from, to] = [0, this.last];
    /** @param {"rate" | Below} name */
    const series = (name) =>
      this.runs.map((run) => ({
        x: run.step,
        y: run[name],
        label: this.label(run, step, below, isNarrow(width)),
        marked: true,
        look: { colour: this.colour(theme, run), line: false, radius: 1.2 },
      }));
    const common = { cut: step, fade: true, left: LEFT };
    return {
      rate: new Chart(
        pen,
        { x: 0, y: 0, width, height: middle },
        {
          ...common,
          series: series("rate"),
          x: { title: "", ends: [from, to], ticks: [] },
          y: { title: this.texts.rate, log: true },
          key: false,
        },
      ),
      below: new Chart(
        pen,
        { x: 0, y: middle + 4, width, height: height - middle - 4 },
        {
          ...common,
          series: series(below),
          x: { title: this.texts.step_axis, ends: [from, to] },
          y: { title: this.titleBelow(below), ...this.axisBelow(below) },
        },
      ),
    };
  }

  /**
   * A run and what was recorded of it last.
   * @param {Run} run
   * @param {number} step
   * @param {Below} below
   * @param {boolean} narrow
   */
  label(run, step, below, narrow) {
    const value = this.reading(run, step, below);
    if (narrow) return `${run.warmup}: ${value}`;
    return fillText(this.texts.run_reading, { warmup: formatCount(run.warmup), value });
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

  missing() {
    return this.runs.length ? null : this.texts.runs_missing;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { rate, below } = this.charts(pen, settings);
    rate.draw();
    below.draw();
    const name = /** @type {Below} */ (settings.below);
    for (const run of this.runs) {
      if (!run.failed) continue;
      const [x, y] = [below.across.place(run.failed), below.up.place(run[name][run.step.length - 1])];
      const alpha = run.failed <= settings.step ? 1 : 0.3;
      pen.cross(x, y, 5, { colour: this.colour(pen.theme, run), width: 2.5, alpha });
    }
  }

  /** @param {Below} below */
  titleBelow(below) {
    return below === "loss" ? this.texts.loss_axis : this.texts.gradient_norm;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    return { step: Math.max(1, Math.round(this.charts(pen, settings).below.across.value(x))) };
  }

  /** @type {Scene["say"]} */
  say({ step, below }) {
    const values = this.runs.map((run) => `${formatCount(run.warmup)}: ${this.reading(run, step, below)}`);
    return fillText(this.texts.runs_say, {
      step: formatCount(step),
      what: below === "loss" ? this.texts.loss : this.texts.gradient_norm,
      values: values.join(" \u00b7 "),
    });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const below = /** @type {Below} */ (settings.below);
    const rows = this.runs.flatMap((run) =>
      run.step
        .map((step, record) => [run.warmup, step, run.rate[record], run[below][record]])
        .filter((_, record) => record % 10 === 9 || record === run.step.length - 1),
    );
    return { columns: ["warmup_steps", this.texts.step, this.texts.rate, this.titleBelow(below)], rows };
  }
}
