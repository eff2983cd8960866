// Curves on two axes, from a description that Python sends (chart_data.py), or that a scene makes.

import { Axis } from "../../../components/common/draw/plot.js";
import { formatCount, raised } from "../../../components/common/text/format.js";

/**
 * One curve. `names`: a label beside each point; `look`: what differs from the colours and lines of its place.
 * @typedef {{ x: number[], y: (number | null)[], label?: string, dashed?: boolean, marked?: boolean, names?: string[],
 *   look?: Partial<LineStyle> & { line?: boolean, hollow?: boolean, radius?: number } }} Series
 */

/**
 * One axis. `ends` and `ticks` follow from the numbers where they are not given.
 * @typedef {{ title: string, log?: boolean, ends?: [low: number, high: number], ticks?: [at: number, label: string][],
 *   show?: (value: number) => string }} AxisData
 */

/**
 * A chart. `key`: whether the curves are named above it; `cut`: where a line crosses them; `fade`: what lies after the cut
 * is pale; `left`: room for the labels of the axis at least; `paired`: lines join the points of two curves.
 * @typedef {{ series: Series[], x: AxisData, y: AxisData, key?: boolean, cut?: number | null, fade?: boolean,
 *   left?: number, paired?: boolean }} CurvesData
 */

const KEY = 20; // height of a line of the key
const NEAR = 18; // pixels from which on a point tells its numbers
const PALE = 0.2;
const GAP = 6; // pixels between two labels of an axis
/** @type {[dx: number, dy: number, align: "left" | "right" | "center"][]} Places for the name of a point, the best first. */
const BESIDE = [
  [12, 0, "left"],
  [-12, 0, "right"],
  [12, -16, "left"],
  [12, 16, "left"],
  [-12, -16, "right"],
  [-12, 16, "right"],
  [12, 30, "left"],
  [-12, 30, "right"],
];
/** @type {typeof BESIDE} Of a point on a line, which would run through a name beside it. */
const ABOVE = [[0, -18, "center"], [0, 18, "center"], ...BESIDE];

export class Chart {
  /**
   * @param {Pen} pen
   * @param {Box} box
   * @param {CurvesData} data
   */
  constructor(pen, box, data) {
    this.pen = pen;
    this.box = box;
    this.data = data;
    const { x, y, series } = data;
    this.keyed = this.key(false);
    const top = box.y + (y.title ? 24 : 10) + this.keyed;
    const foot = box.y + box.height - (x.title ? 42 : 22);
    this.up = axis(y, numbers(series, true), foot, top, 0.05);
    /** @type {[number, string][]} */
    this.levels = y.ticks ?? labelled(y, this.up, Math.max(2, Math.min(7, (foot - top) / 36)));
    const left = Math.max(data.left ?? 20, ...this.levels.map(([, text]) => pen.measure(text, { size: 12 }))) + 12;
    const marked = series.some((each) => each.marked);
    const end = box.x + box.width - 22;
    this.across = axis(x, numbers(series, false), box.x + left, end, marked && !x.log ? 0.03 : 0);
    this.places = x.ticks ?? labelled(x, this.across, (end - box.x - left) / 80);
    this.slanted = !this.fits(this.places);
    if (this.slanted && x.ticks) this.up = axis(y, numbers(series, true), foot - 34, top, 0.05);
    else if (this.slanted) this.places = this.places.filter((_, index) => index % 2 === 0);
  }

  /**
   * Tell whether the labels of the axis below stand beside each other.
   * @param {[number, string][]} places
   */
  fits(places) {
    const { pen, across } = this;
    const ends = places.map(([at, text]) => [across.place(at), pen.measure(text, { size: 12 }) / 2]);
    return ends.every(([at, half], index) => !index || at - half > ends[index - 1][0] + ends[index - 1][1] + GAP);
  }

  /** Draw everything: axes, key, curves, the cut, and the numbers of the point under the pointer. */
  draw() {
    this.frame();
    if (this.data.paired) this.join(this.data.series);
    this.data.series.forEach((series, index) => this.curve(series, index));
    this.names();
    const { cut } = this.data;
    if (cut !== undefined && cut !== null) this.cutAt(cut);
    this.hover();
  }

  /** Draw the axes with their titles, and the key. */
  frame() {
    const { pen, across, up, box, data } = this;
    const { x, y } = data;
    const texts = new Map(this.levels);
    const show = (/** @type {number} */ value) => texts.get(value) ?? "";
    pen.axis(up, "left", across.from, { grid: across.to - across.from, ticks: [...texts.keys()], show });
    pen.line(across.from, up.from, across.to, up.from, { colour: pen.theme.line, width: 1 });
    for (const [at, text] of this.places) {
      const words = this.slanted && x.ticks;
      const style = words ? { align: "right", turn: -Math.PI / 3.4, most: 60 } : { align: "center" };
      pen.note(text, across.place(at) + (words ? 4 : 0), up.from + 12, style);
    }
    if (y.title) pen.note(y.title, box.x, box.y + 8, { most: box.width });
    pen.note(x.title, across.to, box.y + box.height - 8, { align: "right", most: box.width - 12 });
    if (this.keyed) this.key(true);
  }

  /**
   * Name the curves, in lines that fit; return the height.
   * @param {boolean} drawn
   */
  key(drawn) {
    const { pen, box, data } = this;
    const named = data.series.filter(({ label }) => label);
    if (data.key === false || named.length < 2) return 0;
    const style = { size: 12.5, weight: 500 };
    let [x, y] = [box.x, box.y + 28];
    for (const series of named) {
      const long = pen.measure(series.label ?? "", style) + 34;
      if (x > box.x && x + long > box.x + box.width) [x, y] = [box.x, y + KEY];
      if (drawn) {
        const look = this.look(series, data.series.indexOf(series));
        if (look.line) pen.line(x, y, x + 22, y, look);
        if (series.marked) this.mark(data.series.indexOf(series), x + 11, y, { ...look, radius: 4.5 });
        pen.write(series.label ?? "", x + 28, y, { ...style, most: box.width - 28 });
      }
      x += long + 10;
    }
    return y - box.y - 8;
  }

  /**
   * Colour and line of a curve.
   * @param {Series} series
   * @param {number} index
   */
  look(series, index) {
    const { kinds, muted, text } = this.pen.theme;
    const colour = [kinds.encoder, kinds.decoder, kinds.cross, muted, text][index % 5];
    return {
      colour,
      width: 2,
      dash: series.dashed ? [6, 5] : [],
      line: true,
      hollow: false,
      radius: 4.5,
      ...series.look,
    };
  }

  /**
   * Points of a curve in pixels; null where it has a gap.
   * @param {Series} series
   */
  points({ x, y }) {
    return x.map((at, index) => {
      const value = y[index];
      return value === null || !Number.isFinite(value) ? null : [this.across.place(at), this.up.place(value)];
    });
  }

  /**
   * @param {Series} series
   * @param {number} index
   */
  curve(series, index) {
    const { pen, across, up } = this;
    const look = this.look(series, index);
    const points = this.points(series);
    pen.context.save();
    pen.context.beginPath();
    pen.context.rect(across.from - 8, up.to - 8, across.to - across.from + 16, up.from - up.to + 16);
    pen.context.clip();
    if (look.line) pen.trace(points, { ...look, width: series.marked ? 1.4 : look.width });
    const { cut, fade } = this.data;
    points.forEach((point, at) => {
      if (!point || !series.marked) return;
      pen.context.globalAlpha = fade && series.x[at] > Number(cut) ? PALE : 1;
      this.mark(index, point[0], point[1], look);
    });
    pen.context.restore();
  }

  /**
   * Join the points of two curves at the same place.
   * @param {Series[]} pair
   */
  join([one, other]) {
    const ends = this.points(other);
    this.points(one).forEach((start, at) =>
      this.pen.trace([start, ends[at]], { colour: this.pen.theme.line, width: 2 }),
    );
  }

  /**
   * Mark a point; squares and rings too, since colours alone are not enough for everybody.
   * @param {number} index Of the curve.
   * @param {number} x
   * @param {number} y
   * @param {{ colour: string, hollow: boolean, radius: number }} look
   */
  mark(index, x, y, { colour, hollow, radius }) {
    if (radius < 2) this.pen.fill(x - radius, y - radius, 2 * radius, 2 * radius, colour);
    else if (hollow) this.pen.dot(x, y, radius, this.pen.theme.background, colour);
    else if (index % 2) this.pen.fill(x - 4, y - 4, 8, 8, colour);
    else this.pen.dot(x, y, radius, colour);
  }

  /** Write the names of points where nothing stands yet. */
  names() {
    const { pen, across, data } = this;
    const all = data.series.flatMap((series, index) =>
      this.points(series).map((point, at) => ({ point, name: series.names?.[at], look: this.look(series, index) })),
    );
    const taken = all.flatMap(({ point }) => (point ? [[point[0] - 8, point[1] - 8, point[0] + 8, point[1] + 8]] : []));
    for (const { point, name, look } of all) {
      if (!point || !name) continue;
      const style = { colour: look.colour, weight: look.colour === pen.theme.muted ? 400 : 650 };
      const wide = pen.measure(name, style);
      for (const [dx, dy, align] of look.line ? ABOVE : BESIDE) {
        const [x, y] = [point[0] + dx, point[1] + dy];
        const from = align === "left" ? x : align === "right" ? x - wide : x - wide / 2;
        const box = [from, y - 8, from + wide, y + 8];
        if (box[0] < across.from - 8 || box[2] > pen.width - 2) continue;
        if (taken.some(([a, b, c, d]) => box[2] >= a && box[0] <= c && box[3] >= b && box[1] <= d)) continue;
        taken.push(box);
        pen.write(name, x, y, { ...style, align });
        break;
      }
    }
  }

  /**
   * Draw a line across all curves, and a dot where it meets each.
   * @param {number} at
   */
  cutAt(at) {
    const { pen, across, up, data } = this;
    const x = across.place(at);
    pen.line(x, up.to, x, up.from, { colour: pen.theme.text, width: 1.2 });
    data.series.forEach((series, index) => {
      const value = valueAt(series, at);
      const { line, colour } = this.look(series, index);
      if (!line || value === null || value > Math.max(up.low, up.high)) return;
      pen.dot(x, up.place(value), 5, colour, pen.theme.background);
    });
  }

  /** Write the numbers of the nearest point beside it while the pointer is there. */
  hover() {
    const { pen, data } = this;
    const { pointer, theme } = pen;
    if (!pointer) return;
    const far = (/** @type {number[]} */ [x, y]) => Math.hypot(x - pointer.x, y - pointer.y);
    const all = data.series.flatMap((series) =>
      this.points(series).flatMap((point, at) => (point ? [{ point, at, series }] : [])),
    );
    const nearest = all.sort((one, other) => far(one.point) - far(other.point))[0];
    if (!nearest || far(nearest.point) > NEAR) return;
    const { point, at, series } = nearest;
    const show = (/** @type {AxisData} */ axis, /** @type {number} */ value) =>
      axis.ticks?.find(([tick]) => tick === value)?.[1] ?? axis.show?.(value) ?? number(value);
    const text = `${show(data.x, series.x[at])}: ${show(data.y, series.y[at] ?? Number.NaN)}`;
    const long = pen.measure(text, { weight: 600 });
    const right = point[0] + long + 24 > this.box.x + this.box.width;
    const from = right ? point[0] - 14 - long : point[0] + 10;
    pen.fill(from - 4, point[1] - 24, long + 8, 20, theme.background, 0.9);
    pen.write(text, from, point[1] - 14, { weight: 600 });
  }
}

/**
 * The value of a curve between its points; null beside them.
 * @param {Series} series
 * @param {number} at
 */
export function valueAt({ x, y }, at) {
  const after = x.findIndex((each) => each >= at);
  if (after < 0 || (after === 0 && x[0] !== at)) return null;
  const [one, other] = [y[Math.max(0, after - 1)], y[after]];
  if (one === null || other === null) return null;
  const wide = x[after] - x[Math.max(0, after - 1)];
  return wide ? one + ((other - one) * (at - x[after - 1])) / wide : other;
}

/**
 * The numbers of a chart as a table: a row for each place, a column for each curve.
 * @param {CurvesData} data
 * @returns {TableData}
 */
export function curvesTable({ series, x }) {
  const ticks = new Map(x.ticks);
  const places = [...new Set(series.flatMap((each) => each.x))].sort((a, b) => a - b);
  const columns = series.map((each) => new Map(each.x.map((at, index) => [at, each.y[index]])));
  const rows = places.map((at) => [ticks.get(at) ?? at, ...columns.map((column) => column.get(at) ?? "\u2013")]);
  return { columns: [x.title, ...series.map(({ label }) => label ?? "")], rows };
}

/**
 * @param {Series[]} series
 * @param {boolean} up
 */
function numbers(series, up) {
  const all = series.flatMap(({ x, y }) => (up ? y : x));
  return /** @type {number[]} */ (all.filter((each) => each !== null && Number.isFinite(each)));
}

/**
 * @param {AxisData} data
 * @param {number[]} values
 * @param {number} from
 * @param {number} to
 * @param {number} spare Share of the axis beside its outermost values.
 */
function axis({ log = false, ends }, values, from, to, spare) {
  if (ends) return new Axis(ends[0], ends[1], from, to, { log });
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (log) return new Axis(low / (high / low) ** spare, high * (high / low) ** spare, from, to, { log });
  const room = spare * (high - low || 1);
  return new Axis(low >= 0 && low < high / 2 && spare ? Math.min(0, low) : low - room, high + room, from, to);
}

/**
 * Round numbers along an axis, with their labels.
 * @param {AxisData} data
 * @param {Axis} axis
 * @param {number} count
 * @returns {[number, string][]}
 */
function labelled({ show }, axis, count) {
  const ticks = axis.ticks(count);
  const every = Math.ceil(ticks.length / Math.max(2, count + 1));
  return ticks.filter((_, index) => index % every === 0).map((tick) => [tick, (show ?? number)(tick)]);
}

/**
 * 12000 -> "12,000"; 0.001 -> "10⁻³"; -0.5 -> "−0.5"
 * @param {number} value
 */
function number(value) {
  const size = Math.abs(value);
  if (size && (size >= 1e6 || size < 1e-3)) {
    const [digits, power] = value.toExponential(1).split("e");
    const short = digits.replace(".0", "");
    return `${short === "1" ? "" : `${short}\u00b7`}10${raised(Number(power))}`;
  }
  if (size >= 1000) return formatCount(value);
  return String(Number(value.toPrecision(4))).replace("-", "\u2212");
}
