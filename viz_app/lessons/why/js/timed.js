// The layers of Table 1 timed by the server: points as they are measured, and where two of their lines cross.

import { fillText } from "../../../components/common/dom.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";

const KINDS = ["attention", "recurrent", "convolution", "restricted"];
const [LEFT, RIGHT, FOOT] = [58, 22, 50];
const HEAD = 62; // progress and key
const FIELD = [1e-5, 1e-1]; // seconds on the axis, at least
const NEAR = 18; // pixels from which on a point tells its time

export class Timed extends Scene {
  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    this.news = null; // what the server has told last
  }

  get controls() {
    const { texts, lesson } = this;
    return [
      {
        name: "d",
        kind: "choice",
        label: "d",
        options: lesson.values.timed.widths.map((d) => [String(d), String(d)]),
        start: String(lesson.values.timed.widths[0]),
        server: true,
      },
      { name: "measure", kind: "button", label: texts.measure },
      { name: "stop", kind: "button", label: texts.stop },
    ];
  }

  /** @type {Scene["hear"]} */
  hear({ values }) {
    this.news = values;
    return values.state === "running" ? {} : null; // numbers that run are not read out
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(340, Math.min(560, room, width * 0.75));
  }

  /** @param {Settings} settings */
  points({ d }) {
    return (this.news?.points[d] ?? []).map(([kind, n, seconds]) => ({ kind, n, seconds }));
  }

  /**
   * @param {Pen} pen
   * @param {any[]} points
   */
  axes({ width, height }, points) {
    const { lengths } = this.lesson.values.timed;
    const seconds = points.map((point) => point.seconds);
    const low = Math.min(FIELD[0], ...seconds.map((each) => 10 ** Math.floor(Math.log10(each))));
    const high = Math.max(FIELD[1], ...seconds.map((each) => 10 ** Math.ceil(Math.log10(each))));
    const across = new Axis(lengths[0] / 1.15, lengths.at(-1) * 1.15, LEFT, width - RIGHT, { log: true });
    return [across, new Axis(low, high, height - FOOT, HEAD + 8, { log: true })];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height, theme, pointer } = pen;
    const points = this.points(settings);
    const [across, up] = this.axes(pen, points);
    const lengths = this.lesson.values.timed.lengths.filter((_, index) => width > 480 || index % 2 === 0);
    this.crossing(pen, settings, across, up);
    drawAxis(context, across, "bottom", height - FOOT, {
      theme,
      ticks: lengths,
      show: thousands,
      title: this.texts.length,
    });
    drawAxis(context, up, "left", LEFT, { theme, show: time, grid: width - RIGHT - LEFT });
    this.prediction(pen, settings, across, up);
    for (const kind of KINDS) {
      const own = points
        .filter((point) => point.kind === kind)
        .map(({ n, seconds }) => [across.place(n), up.place(seconds)]);
      const { colour, dash } = look(theme, kind);
      trace(context, own, { colour, width: 1.2, dash, alpha: 0.6 });
      for (const [x, y] of own) mark(context, theme, kind, x, y);
    }
    this.progress(pen, settings);
    this.key(pen);
    const near = pointer && closest(points, pointer, across, up);
    if (near) this.tell(pen, near, across, up);
  }

  /**
   * Between which two measured lengths the lines cross; what lies between is not known.
   * @param {Pen} pen
   * @param {Settings} settings
   * @param {Axis} across
   * @param {Axis} up
   */
  crossing({ context, theme }, { d }, across, up) {
    const found = this.news?.crossings[d];
    if (!found) return;
    const [from, to] = found.map((n) => across.place(n));
    context.save();
    context.globalAlpha = theme.dark ? 0.22 : 0.13;
    context.fillStyle = theme.kinds.decoder;
    context.fillRect(from, up.to, to - from, up.from - up.to);
    context.restore();
  }

  /**
   * Where Table 1 lets them cross.
   * @param {Pen} pen
   * @param {Settings} settings
   * @param {Axis} across
   * @param {Axis} up
   */
  prediction({ context, theme }, { d }, across, up) {
    const x = across.place(Number(d));
    trace(
      context,
      [
        [x, up.to],
        [x, up.from],
      ],
      { colour: theme.muted, width: 1, dash: [3, 4] },
    );
    write(context, this.texts.table1_says, x + 6, up.to + 10, { colour: theme.muted, font: theme.font, size: 12 });
  }

  /**
   * How far what goes on is, or else what was measured of the chosen width.
   * @param {Pen} pen
   * @param {Settings} settings
   */
  progress({ context, width, theme }, { d }) {
    const running = this.news?.state === "running";
    const done = this.done(running ? this.news.width : d);
    if (!running && !done) return;
    const share = done / this.news.total;
    context.fillStyle = theme.line;
    context.fillRect(LEFT, 4, width - RIGHT - LEFT, 6);
    context.fillStyle = running ? theme.kinds.encoder : theme.muted;
    context.fillRect(LEFT, 4, (width - RIGHT - LEFT) * share, 6);
  }

  /**
   * Names of the lines, in rows that fit.
   * @param {Pen} pen
   */
  key({ context, width, theme }) {
    let [x, y] = [LEFT, 28];
    context.font = `500 13px ${theme.font}`;
    for (const kind of KINDS) {
      const text = this.texts[`layer_${kind}`];
      const long = context.measureText(text).width + 22;
      if (x > LEFT && x + long > width - 4) [x, y] = [LEFT, y + 20];
      mark(context, theme, kind, x + 5, y);
      write(context, text, x + 15, y, { colour: theme.text, font: theme.font, size: 13, weight: 500 });
      x += long + 10;
    }
  }

  /**
   * @param {Pen} pen
   * @param {{ n: number, seconds: number }} given
   * @param {Axis} across
   * @param {Axis} up
   */
  tell({ context, width, theme }, { n, seconds }, across, up) {
    const [x, y] = [across.place(n), up.place(seconds)];
    const text = `n = ${thousands(n)}: ${precise(seconds)}`;
    const right = x > width - 150;
    context.font = `600 13px ${theme.font}`;
    const long = context.measureText(text).width;
    context.fillStyle = theme.background;
    context.fillRect(right ? x - 16 - long : x + 8, y - 22, long + 8, 20);
    write(context, text, right ? x - 12 : x + 12, y - 12, {
      colour: theme.text,
      font: theme.font,
      size: 13,
      weight: 600,
      align: right ? "right" : "left",
    });
  }

  /** @param {number} d */
  done(d) {
    return (this.news?.points[d] ?? []).length;
  }

  /** @type {Scene["say"]} */
  say({ d }) {
    const { news, texts } = this;
    const said = [];
    const running = news?.state === "running";
    if (running)
      said.push(fillText(texts.timed_running, { d: news.width, done: this.done(news.width), total: news.total }));
    else if (this.done(d) && news.width === Number(d))
      said.push(fillText(texts[`timed_${news.state}`], { d, done: this.done(d), total: news.total }));
    if (!this.done(d)) return said[0] ?? fillText(texts.timed_idle, { d });
    if (!running || news.width !== Number(d)) said.push(this.outcome(d));
    if (!running) said.push(`${fillText(texts.machine, news.machine)}.`);
    return said.filter(Boolean).join(" ");
  }

  /**
   * What the points say of self-attention and recurrence; nothing before both are there at several lengths.
   * @param {number} d
   */
  outcome(d) {
    const found = this.news.crossings[d];
    if (found) return fillText(this.texts.timed_crossing, { low: thousands(found[0]), high: thousands(found[1]) });
    const points = this.points({ d });
    const both = this.lesson.values.timed.lengths
      .map((n) =>
        ["attention", "recurrent"].map((kind) => points.find((point) => point.kind === kind && point.n === n)?.seconds),
      )
      .filter(([one, other]) => one && other);
    if (both.length < 2) return "";
    if (both.every(([one, other]) => one <= other)) return this.texts.timed_faster;
    const [one, other] = both.at(-1);
    return one > other ? this.texts.timed_slower : "";
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { texts } = this;
    const points = this.points(settings);
    if (!points.length) return null;
    const lengths = [...new Set(points.map(({ n }) => n))];
    const rows = lengths.map((n) => [
      n,
      ...KINDS.map((kind) => precise(points.find((point) => point.kind === kind && point.n === n)?.seconds)),
    ]);
    return { columns: ["n", ...KINDS.map((kind) => texts[`layer_${kind}`])], rows };
  }
}

/**
 * @param {Theme} theme
 * @param {Kind} kind
 */
function look(theme, kind) {
  if (kind === "recurrent") return { colour: theme.kinds.decoder, dash: [] };
  if (kind === "convolution") return { colour: theme.muted, dash: [] };
  return { colour: theme.kinds.encoder, dash: kind === "restricted" ? [5, 4] : [] };
}

/**
 * A point; of restricted attention a ring, of recurrence a square, since colours alone are not enough for everybody.
 * @param {CanvasRenderingContext2D} context
 * @param {Theme} theme
 * @param {string} kind
 * @param {number} x
 * @param {number} y
 */
function mark(context, theme, kind, x, y) {
  const { colour } = look(theme, kind);
  if (kind === "recurrent") {
    context.fillStyle = colour;
    context.fillRect(x - 4, y - 4, 8, 8);
  } else if (kind === "restricted") dot(context, x, y, 4.5, theme.background, colour);
  else dot(context, x, y, 4.5, colour);
}

/**
 * @param {any} points
 * @param {Point} point
 * @param {Axis} across
 * @param {Axis} up
 */
function closest(points, { x, y }, across, up) {
  /** @param {{ n: number, seconds: number }} given */
  const far = ({ n, seconds }) => Math.hypot(across.place(n) - x, up.place(seconds) - y);
  const [first] = [...points].sort((one, other) => far(one) - far(other));
  return first && far(first) < NEAR ? first : null;
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
 * @param {number} seconds
 */
function precise(seconds) {
  if (seconds === undefined) return "";
  const [size, unit] = seconds >= 1 ? [1, "s"] : seconds >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
  return `${(seconds * size).toPrecision(3)}\u202f${unit}`;
}

/** @param {number} number */
function thousands(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}
