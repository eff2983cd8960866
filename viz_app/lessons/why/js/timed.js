// The layers of Table 1 timed by the server: points as they are measured, and where two of their lines cross.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { choice } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const KINDS = ["attention", "recurrent", "convolution", "restricted"];
const FIELD = [1e-5, 1e-1]; // seconds on the axis, at least

/** @typedef {import("./numbers").Measurement} Measurement */
/** @typedef {{ kind: string, n: number, seconds: number }} Timing */

/** @extends {Scene<import("./numbers").Values>} */
export class Timed extends Scene {
  size = { least: 340, most: 560, share: 0.75 };

  /** @type {Measurement | null} As far as the server has sent it. */
  measurement = null;

  get controls() {
    const widths = Object.fromEntries(this.lesson.values.timed.widths.map((d) => [d, String(d)]));
    return [
      choice("d", "d", widths, { server: true }),
      { name: "measure", kind: "button", label: this.texts.measure },
      { name: "stop", kind: "button", label: this.texts.stop },
    ];
  }

  /** @param {{ values: Measurement }} message */
  receive({ values }) {
    this.measurement = values;
    return values.state === "running" ? {} : null; // numbers that run are not read out
  }

  /** @param {string | number} d */
  points(d) {
    return (this.measurement?.points[d] ?? []).map(([kind, n, seconds]) => ({ kind, n, seconds }));
  }

  /** @type {Scene["draw"]} */
  draw(pen, { d }) {
    const { width, height, theme } = pen;
    const points = this.points(d);
    const { lengths } = this.lesson.values.timed;
    const powers = points.map(({ seconds }) => Math.log10(seconds));
    const low = Math.min(FIELD[0], ...powers.map((power) => 10 ** Math.floor(power)));
    const high = Math.max(FIELD[1], ...powers.map((power) => 10 ** Math.ceil(power)));
    const series = KINDS.map((kind) => {
      const own = points.filter((point) => point.kind === kind);
      return {
        x: own.map(({ n }) => n),
        y: own.map(({ seconds }) => seconds),
        label: this.texts[`layer_${kind}`],
        marked: true,
        look: look(theme, kind),
      };
    });
    const shown = lengths.filter((_, index) => !isNarrow(width) || index % 2 === 0);
    const chart = new Chart(
      pen,
      { x: 0, y: 14, width, height: height - 14 },
      {
        series,
        x: {
          title: this.texts.length,
          log: true,
          ends: [lengths[0] / 1.15, lengths[lengths.length - 1] * 1.15],
          ticks: shown.map((n) => [n, formatCount(n)]),
          show: (n) => `n = ${formatCount(n)}`,
        },
        y: {
          title: this.texts.seconds,
          log: true,
          ends: [low, high],
          show: (value) => precise(value).replace(/\.0+(?=\u202f)/, ""),
        },
      },
    );
    const { across, up } = chart;
    const crossing = this.measurement?.crossings[d];
    if (crossing) {
      // Between these two measured lengths the lines cross; what lies between is not known.
      const [from, to] = crossing.map((n) => across.place(n));
      pen.fill(from, up.to, to - from, up.from - up.to, theme.kinds.decoder, theme.dark ? 0.22 : 0.13);
    }
    const predicted = across.place(Number(d));
    pen.line(predicted, up.to, predicted, up.from, { colour: theme.muted, width: 1, dash: [3, 4] });
    pen.note(this.texts.table1_says, predicted + 6, up.to + 10);
    this.progress(pen, d);
    chart.draw();
  }

  /**
   * Draw the progress of the measurement, or of the chosen width.
   * @param {Pen} pen
   * @param {string} d
   */
  progress(pen, d) {
    if (!this.measurement) return;
    const { state, width, total } = this.measurement;
    const running = state === "running";
    const { length } = this.points(running ? width : d);
    if (!running && !length) return;
    pen.fill(0, 4, pen.width, 6, pen.theme.line);
    pen.fill(0, 4, (pen.width * length) / total, 6, running ? pen.theme.kinds.encoder : pen.theme.muted);
  }

  /** @type {Scene["say"]} */
  say({ d }) {
    const { measurement, texts } = this;
    const idle = fillText(texts.timed_idle, { d });
    if (!measurement) return idle;
    const { state, width, total, machine } = measurement;
    const running = state === "running";
    const chosen = width === Number(d);
    const progress =
      running || (chosen && this.points(d).length)
        ? fillText(texts[`timed_${state}`], { d: width, done: this.points(width).length, total })
        : "";
    if (!this.points(d).length) return progress || idle;
    const outcome = running && chosen ? "" : this.outcome(measurement, d);
    const where = running || !machine ? "" : `${fillText(texts.machine, machine)}.`;
    const surprise = outcome && this.isConvolutionFastest(d) ? texts.timed_convolution : "";
    return [progress, outcome, surprise, where].filter(Boolean).join(" ");
  }

  /**
   * Whether convolution was the fastest at every length, against Table 1.
   * @param {string} d
   */
  isConvolutionFastest(d) {
    const points = this.points(d);
    const own = points.filter(({ kind }) => kind === "convolution");
    return own.every(({ n, seconds }) => points.every((other) => other.n !== n || other.seconds >= seconds));
  }

  /**
   * Compare self-attention and recurrence; empty before both have several points.
   * @param {Measurement} measurement
   * @param {string} d
   */
  outcome({ crossings }, d) {
    const { texts } = this;
    const range = crossings[d];
    if (range) return fillText(texts.timed_crossing, { low: formatCount(range[0]), high: formatCount(range[1]) });
    const points = this.points(d);
    const both = this.lesson.values.timed.lengths
      .map((n) => ["attention", "recurrent"].map((kind) => secondsOf(points, kind, n) ?? 0))
      .filter(([one, other]) => one && other);
    if (both.length < 2) return "";
    if (both.every(([one, other]) => one <= other)) return texts.timed_faster;
    const [one, other] = both[both.length - 1];
    return one > other ? texts.timed_slower : "";
  }

  /** @type {Scene["table"]} */
  table({ d }) {
    const points = this.points(d);
    if (!points.length) return null;
    const lengths = [...new Set(points.map(({ n }) => n))];
    const rows = lengths.map((n) => [n, ...KINDS.map((kind) => precise(secondsOf(points, kind, n)))]);
    return { columns: ["n", ...KINDS.map((kind) => this.texts[`layer_${kind}`])], rows };
  }
}

/**
 * @param {Timing[]} points
 * @param {string} kind
 * @param {number} n
 */
function secondsOf(points, kind, n) {
  return points.find((point) => point.kind === kind && point.n === n)?.seconds;
}

/**
 * @param {Theme} theme
 * @param {string} kind
 */
function look(theme, kind) {
  if (kind === "recurrent") return { colour: theme.kinds.decoder };
  if (kind === "convolution") return { colour: theme.muted };
  const restricted = kind === "restricted";
  return { colour: theme.kinds.encoder, dash: restricted ? [5, 4] : [], hollow: restricted };
}

/**
 * 0.0012345 -> "1.23 ms"
 * @param {number | undefined} seconds
 */
function precise(seconds) {
  if (seconds === undefined) return "";
  /** @type {[number, string]} */
  const [size, unit] = seconds >= 1 ? [1, "s"] : seconds >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
  return `${(seconds * size).toPrecision(3)}\u202f${unit}`;
}
