// The layers of Table 1 timed by the server: points as they are measured, and where two of their lines cross.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, formatCount } from "../../../components/common/text/format.js";
import { choice } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";

const KINDS = ["attention", "recurrent", "convolution", "restricted"];
const [LEFT, RIGHT, FOOT] = [58, 22, 50];
const HEAD = 62; // progress and key
const FIELD = [1e-5, 1e-1]; // seconds on the axis, at least
const NEAR = 18; // pixels from which on a point tells its time

/** @typedef {import("./numbers").Measurement} Measurement */
/** @typedef {{ kind: string, n: number, seconds: number }} Timing */

/** @extends {Scene<import("./numbers").Values>} */
export class Timed extends Scene {
  /**
   * @param {LessonData<import("./numbers").Values>} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    /** @type {Measurement | null} As far as the server has sent it. */
    this.measurement = null;
  }

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

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(340, Math.min(560, room, width * 0.75));
  }

  /** @param {string | number} d */
  points(d) {
    return (this.measurement?.points[d] ?? []).map(([kind, n, seconds]) => ({ kind, n, seconds }));
  }

  /**
   * @param {Pen} pen
   * @param {Timing[]} points
   */
  axes({ width, height }, points) {
    const { lengths } = this.lesson.values.timed;
    const powers = points.map(({ seconds }) => Math.log10(seconds));
    const low = Math.min(FIELD[0], ...powers.map((power) => 10 ** Math.floor(power)));
    const high = Math.max(FIELD[1], ...powers.map((power) => 10 ** Math.ceil(power)));
    const [first, last] = [lengths[0] / 1.15, lengths[lengths.length - 1] * 1.15];
    return {
      across: new Axis(first, last, LEFT, width - RIGHT, { log: true }),
      up: new Axis(low, high, height - FOOT, HEAD + 8, { log: true }),
    };
  }

  /** @type {Scene["draw"]} */
  draw(pen, { d }) {
    const { width, height, theme, pointer } = pen;
    const points = this.points(d);
    const { across, up } = this.axes(pen, points);
    const crossing = this.measurement?.crossings[d];
    if (crossing) {
      // Between these two measured lengths the lines cross; what lies between is not known.
      const [from, to] = crossing.map((n) => across.place(n));
      pen.fill(from, up.to, to - from, up.from - up.to, theme.kinds.decoder, theme.dark ? 0.22 : 0.13);
    }
    const ticks = this.lesson.values.timed.lengths.filter((_, index) => width > 480 || index % 2 === 0);
    pen.axis(across, "bottom", height - FOOT, { ticks, show: formatCount, title: this.texts.length });
    pen.axis(up, "left", LEFT, { show: time, grid: width - RIGHT - LEFT });
    const predicted = across.place(Number(d));
    pen.line(predicted, up.to, predicted, up.from, { colour: theme.muted, width: 1, dash: [3, 4] });
    pen.note(this.texts.table1_says, predicted + 6, up.to + 10);
    const places = points.map((point) => ({ ...point, x: across.place(point.n), y: up.place(point.seconds) }));
    for (const kind of KINDS) {
      const own = places.filter((point) => point.kind === kind).map(({ x, y }) => [x, y]);
      pen.trace(own, { ...look(theme, kind), width: 1.2, alpha: 0.6 });
      for (const [x, y] of own) mark(pen, kind, x, y);
    }
    this.progress(pen, d);
    this.key(pen);
    if (!pointer) return;
    const far = (/** @type {Point} */ { x, y }) => Math.hypot(x - pointer.x, y - pointer.y);
    const [nearest] = places.sort((one, other) => far(one) - far(other));
    if (nearest && far(nearest) < NEAR) this.label(pen, nearest);
  }

  /**
   * How far what goes on is, or else what was measured of the chosen width.
   * @param {Pen} pen
   * @param {string} d
   */
  progress(pen, d) {
    if (!this.measurement) return;
    const { state, width, total } = this.measurement;
    const running = state === "running";
    const { length } = this.points(running ? width : d);
    if (!running && !length) return;
    const room = pen.width - RIGHT - LEFT;
    pen.fill(LEFT, 4, room, 6, pen.theme.line);
    pen.fill(LEFT, 4, (room * length) / total, 6, running ? pen.theme.kinds.encoder : pen.theme.muted);
  }

  /**
   * Names of the lines, in rows that fit.
   * @param {Pen} pen
   */
  key(pen) {
    let [x, y] = [LEFT, 28];
    for (const kind of KINDS) {
      const text = this.texts[`layer_${kind}`];
      const long = pen.measure(text, { weight: 500 }) + 22;
      if (x > LEFT && x + long > pen.width - 4) [x, y] = [LEFT, y + 20];
      mark(pen, kind, x + 5, y);
      pen.write(text, x + 15, y, { weight: 500 });
      x += long + 10;
    }
  }

  /**
   * Length and time of a point, beside it.
   * @param {Pen} pen
   * @param {Timing & Point} point
   */
  label(pen, { n, seconds, x, y }) {
    const text = `n = ${formatCount(n)}: ${precise(seconds)}`;
    const long = pen.measure(text, { weight: 600 });
    const right = x > pen.width - 150;
    pen.fill(right ? x - 16 - long : x + 8, y - 22, long + 8, 20, pen.theme.background);
    pen.write(text, right ? x - 12 : x + 12, y - 12, { weight: 600, align: right ? "right" : "left" });
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
    const where = running ? "" : `${fillText(texts.machine, machine)}.`;
    return [progress, outcome, where].filter(Boolean).join(" ");
  }

  /**
   * What the points say of self-attention and recurrence; nothing before both are there at several lengths.
   * @param {Measurement} measurement
   * @param {string} d
   */
  outcome({ crossings }, d) {
    const { texts } = this;
    const found = crossings[d];
    if (found) return fillText(texts.timed_crossing, { low: formatCount(found[0]), high: formatCount(found[1]) });
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
  return { colour: theme.kinds.encoder, dash: kind === "restricted" ? [5, 4] : [] };
}

/**
 * A point; of restricted attention a ring, of recurrence a square, since colours alone are not enough for everybody.
 * @param {Pen} pen
 * @param {string} kind
 * @param {number} x
 * @param {number} y
 */
function mark(pen, kind, x, y) {
  const { colour } = look(pen.theme, kind);
  if (kind === "recurrent") pen.fill(x - 4, y - 4, 8, 8, colour);
  else if (kind === "restricted") pen.dot(x, y, 4.5, pen.theme.background, colour);
  else pen.dot(x, y, 4.5, colour);
}

/**
 * 0.001 -> "1 ms"
 * @param {number} seconds
 */
function time(seconds) {
  if (seconds >= 0.9995) return `${Math.round(seconds)}\u202fs`;
  return seconds >= 0.9995e-3 ? `${Math.round(seconds * 1e3)}\u202fms` : `${Math.round(seconds * 1e6)}\u202fµs`;
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
