// Ten recorded warm-ups, of which two race: above the schedules, with a handle at the peak of one of them; below the losses;
// beside them what both runs make of a sentence at the same step. Between records and snapshots nothing is interpolated.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { playhead, slider } from "../../stage/js/describe.js";
import { isNarrow, split } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { drawMedian, drawPeak, drawReadings, drawRecords, drawSentence, quoted, topOf } from "./drawruns.js";
import { peak, rate, scientific } from "./rate.js";

const BEYOND = 1.1; // of the training: on the axis of steps there is room for the peak of the longest warm-up
const ABOVE = 1.12; // of the second highest peak: the highest one, of a single step, is far above the chart
const POINTS = 60; // of a schedule after its peak
const LEFT = 30;
const GAP = 18;
const ALIKE = 0.05; // weight by which the rows of a map may differ and yet look the same
const LETTERS = 28; // of a translation in a sentence

/** @typedef {import("./drawruns.js").Run} Run */
/** @typedef {import("./drawruns.js").Example} Example */

/** @extends {Scene<import("./numbers").Values>} */
export class Runs extends Scene {
  size = { narrow: 630, least: 460, most: 760, share: 0.66 };

  /** @type {Run[]} From the shortest warm-up to the longest. */
  runs = this.lesson.values.runs.map((run, index) => ({
    ...run,
    peak: run.factor * peak(this.lesson.values.width, run.warmup),
    median: [...this.lesson.arrays[`run_${index}_median`].data],
    loss: this.lesson.arrays[`run_${index}_loss`],
    map: this.lesson.arrays[`run_${index}_map`],
  }));
  example = /** @type {Example} */ (this.lesson.values.example); // or nothing is drawn
  /** Numbers of the runs, from the lowest peak to the highest. */
  byPeak = this.runs.map((_, index) => index).sort((one, other) => this.runs[one].peak - this.runs[other].peak);
  highest = ABOVE * (this.byPeak.map((index) => this.runs[index].peak).at(-2) ?? 1);
  medians = this.runs.flatMap(({ median }) => median);
  /** @type {[number, number]} Ends of the axis of losses. */
  losses = [Math.floor(Math.min(...this.medians)), Math.ceil(Math.max(...this.medians))];
  /** @type {number[]} Steps that were recorded. */
  steps = [...(this.lesson.arrays.run_step?.data ?? [])];
  last = this.steps.at(-1) ?? 1;
  /** Whether the pointer drags the handle, and not the playhead. */
  gripped = false;

  get playhead() {
    if (!this.runs.length) return null;
    const { last } = this;
    return playhead({
      name: "step",
      label: this.texts.step,
      max: last,
      step: 25,
      rate: last / 14,
      start: last,
      once: true,
      show: formatCount,
    });
  }

  get controls() {
    if (!this.runs.length) return [];
    const max = this.runs.length - 1;
    /** @param {number} index */
    const name = (index) => {
      const { warmup, factor } = this.runs[Math.round(index)];
      const times = factor / this.runs[0].factor;
      return formatCount(warmup) + (times === 1 ? "" : `\u00a0\u00b7\u00a0${Number(times.toFixed(2))}\u00d7`);
    };
    const start = (/** @type {number} */ warmup) => this.runs.findIndex((run) => run.warmup === warmup);
    return [
      slider({ name: "run", label: this.texts.warmup, max, start: start(800), show: name }),
      slider({ name: "rival", label: this.texts.against, max, start: start(25), show: name }),
    ];
  }

  missing() {
    return this.example ? null : this.texts.runs_missing;
  }

  /** @param {Run} run */
  name({ warmup, peak: highest }) {
    return fillText(this.texts.run_name, { warmup: formatCount(warmup), peak: scientific(highest, 1) });
  }

  /**
   * The two runs, the one with the handle first; only one where they are the same.
   * @param {Settings} settings
   */
  pair({ run, rival }) {
    return [...new Set([run, rival].map(Math.round))].map((index) => this.runs[index]);
  }

  /** @type {Scene["lit"]} */
  lit({ run, step }) {
    return step < this.runs[Math.round(run)]?.warmup ? "rising" : "falling";
  }

  /**
   * The median loss that was recorded last; undefined before the first.
   * @param {Run} run
   * @param {number} step
   */
  lossAt({ median }, step) {
    return median[this.steps.findLastIndex((each) => each <= step)];
  }

  /**
   * Number of the snapshot nearest to a step.
   * @param {number} step
   */
  snapshot(step) {
    const far = this.example.step.map((each) => Math.abs(each - step));
    return far.indexOf(Math.min(...far));
  }

  /**
   * The learning rate over the steps, and after its peak with points close enough for a curve.
   * @param {Run} run
   */
  schedule(run) {
    const { warmup } = run;
    const end = this.last * BEYOND;
    const x = Array.from({ length: POINTS + 1 }, (_, index) => warmup * (end / warmup) ** (index / POINTS));
    return { x: [0, ...x], y: [0, ...x.map((step) => this.rate(run, step))] };
  }

  /**
   * @param {Run} run
   * @param {number} step
   */
  rate({ warmup, factor }, step) {
    return factor * rate(step, this.lesson.values.width, warmup);
  }

  /**
   * Both charts, on equal axes of steps, and the boxes of the two maps.
   * @param {Pen} pen
   */
  place(pen) {
    const { width, height } = pen;
    const [charts, beside] = split({ x: 0, y: 0, width, height }, { gap: GAP, share: 0.66, top: 390 });
    /**
     * @param {number} y
     * @param {number} end
     * @param {string} title Of the axis of steps.
     * @param {import("../../stage/js/chart.js").AxisData} up
     */
    const chart = (y, end, title, up) => {
      const x = {
        title,
        ends: /** @type {[number, number]} */ ([0, this.last * BEYOND]),
        show: title ? formatCount : () => "",
      };
      return new Chart(pen, { ...charts, y, height: end - y }, { series: [], left: LEFT, key: false, x, y: up });
    };
    const [middle, thousandths] = [
      0.44 * charts.height,
      (/** @type {number} */ at) => String(Number((at * 1e3).toFixed(1))),
    ];
    const above = chart(0, middle, "", { title: this.texts.rate_axis, ends: [0, this.highest], show: thousandths });
    const seeds = [...new Set(this.runs.map((run) => run.seeds))].sort().join("\u2013");
    const title = fillText(this.texts.loss_axis, { seeds });
    const below = chart(middle, charts.height, this.texts.step_axis, { title, ends: this.losses });
    const [across, down] = isNarrow(width) ? [1, 0] : [0, 1];
    const [wide, tall] = [(beside.width - across * GAP) / (1 + across), (beside.height - down * GAP) / (1 + down)];
    const maps = [0, 1].map((place) => ({
      x: beside.x + place * across * (wide + GAP),
      y: beside.y + place * down * (tall + GAP),
      width: wide,
      height: tall,
    }));
    return { above, below, maps };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { steps } = this;
    const { step } = settings;
    const { theme } = pen;
    const { above, below, maps } = this.place(pen);
    const pair = this.pair(settings);
    const colours = [theme.kinds.encoder, theme.kinds.decoder];
    above.frame();
    below.frame();
    const grey = { colour: theme.muted, width: 1, alpha: 0.55 };
    for (const run of this.runs) {
      if (pair.includes(run)) continue;
      above.curve({ ...this.schedule(run), look: grey }, 0);
      drawMedian(pen, below, steps, run, step, grey);
      drawPeak(pen, above, run, theme.muted, 2);
    }
    const x = above.across.place(step);
    pen.line(x, above.up.to, x, below.up.from, { colour: theme.text, width: 1 });
    /** @type {{ value: number, colour: string }[]} */
    const values = [];
    for (const [index, run] of [...pair.entries()].reverse()) {
      const colour = colours[index];
      above.curve({ ...this.schedule(run), look: { colour, width: 2.5 } }, 0);
      pen.dot(x, above.up.place(Math.min(above.up.high, this.rate(run, step))), 4, colour, theme.background);
      drawPeak(pen, above, run, colour, index);
      drawRecords(pen, below, steps, run, step, colour);
      drawMedian(pen, below, steps, run, step, { colour, width: 3, alpha: 1 });
      const value = this.lossAt(run, step);
      if (value !== undefined) values.push({ value, colour });
      const look = { name: this.name(run), colour, texts: this.texts };
      drawSentence(pen, maps[index], this.example, run, this.snapshot(step), look);
    }
    drawReadings(pen, below, step, values);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    const { above, below } = this.place(pen);
    const { box } = above;
    if (pen.first) this.gripped = y < box.y + box.height;
    if (pen.first && (x > box.x + box.width || y > below.box.y + below.box.height)) return null;
    if (!this.gripped) return { step: Math.round(Math.min(this.last, below.across.value(x))) };
    const far = this.runs.map((run) => {
      const top = topOf(above, run);
      return Math.hypot(top.x - x, top.y - y);
    });
    return { run: far.indexOf(Math.min(...far)) };
  }

  /** @type {Scene["lowered"]} */
  lowered(count, { run }) {
    const next = this.byPeak[this.byPeak.indexOf(Math.round(run)) - count];
    return next === undefined ? null : { run: next };
  }

  /** @type {Scene["hit"]} */
  hit(name, pen) {
    return topOf(this.place(pen).above, this.runs[Number(name)]);
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { step } = settings;
    const snapshot = this.snapshot(step);
    const runs = this.pair(settings).map((run) => {
      const text = run.translations[snapshot];
      return fillText(this.texts.run_say, {
        name: this.name(run),
        loss: this.lossAt(run, step)?.toFixed(2) ?? "\u2013",
        text: text ? quoted(text, LETTERS) : this.texts.writes_nothing,
        rows: this.texts[rowsDiffer(run.map.part(snapshot)) ? "rows_differ" : "rows_alike"],
      });
    });
    return `${this.texts.step} ${formatCount(step)}. ${runs.join(" ")}`;
  }

  /** @type {Scene["table"]} */
  table() {
    const { texts } = this;
    const rows = this.runs.flatMap((run) =>
      this.example.step.map((step, snapshot) => [
        run.warmup,
        run.peak,
        step,
        this.rate(run, step),
        this.lossAt(run, step) ?? "\u2013",
        run.translations[snapshot],
      ]),
    );
    return { columns: ["warmup_steps", texts.peak, texts.step, texts.rate, texts.loss, texts.translation], rows };
  }
}

/**
 * Tell whether the rows of a map differ, as bytes.
 * @param {NdArray} map
 */
export function rowsDiffer(map) {
  const keys = map.shape[1];
  const columns = Array.from({ length: keys }, (_, key) => map.data.filter((_, index) => index % keys === key));
  return columns.some((column) => Math.max(...column) - Math.min(...column) > 255 * ALIKE);
}
