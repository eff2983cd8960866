// The places of dropout in both stacks, and what it does there to a real vector of the model.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText } from "../../../components/common/text/format.js";
import { playhead, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

/** @type {{ name: string, parts: [part: string, place?: number][] }[]} The parts from below, with the number of their dropout. */
const STACKS = [
  { name: "encoder", parts: [["embedding", 0], ["self", 1], ["norm"], ["feed", 2], ["norm"]] },
  {
    name: "decoder",
    parts: [["embedding", 3], ["masked", 4], ["norm"], ["cross", 5], ["norm"], ["feed", 6], ["norm"]],
  },
];
const MAX_PARTS = 7;

/** @extends {Scene<import("./numbers").Values>} */
export class Dropout extends Scene {
  size = { narrow: 520, least: 360, share: 0.6 };
  term = "dropout";

  get playhead() {
    const { length } = this.lesson.values.places;
    return playhead({ name: "place", label: this.texts.place, min: 1, max: length, rate: 0.7 });
  }

  get controls() {
    const show = (/** @type {number} */ value) => value.toFixed(2);
    return [slider({ name: "p", label: "P", max: 0.5, step: 0.05, start: 0.1, show })];
  }

  /** @param {Settings} settings */
  index({ place }) {
    return Math.min(this.lesson.values.places.length, Math.floor(place)) - 1;
  }

  /**
   * Values of a place, and what dropout makes of them with one draw.
   * @param {Settings} settings
   */
  dropped(settings) {
    const index = this.index(settings);
    const { p } = settings;
    const { vectors, drawn } = this.lesson.arrays;
    return Array.from(vectors.part(index).data, (value, at) => {
      const kept = drawn.at(index, at) >= p;
      return { value, kept, after: kept ? value / (1 - p) : 0 };
    });
  }

  /**
   * The rectangle of both stacks, which have the left half or the upper part.
   * @param {Pen} pen
   */
  diagram({ width, height }) {
    return !isNarrow(width) ? { width: width * 0.5, height } : { width, height: 330 };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height } = pen;
    const diagram = this.diagram(pen);
    const half = diagram.width / 2;
    STACKS.forEach((_, index) => {
      const box = { x: index * (half + 6), y: 0, width: half - 12, height: diagram.height };
      this.stack(pen, index, box, this.index(settings));
    });
    const vector = !isNarrow(width)
      ? { x: diagram.width + 34, y: 0, width: diagram.width - 34, height }
      : { x: 0, y: 340, width, height: height - 340 };
    this.vector(pen, vector, settings);
  }

  /**
   * @param {Pen} pen
   * @param {number} number
   * @param {Box} box
   * @param {number} current
   */
  stack(pen, number, box, current) {
    const { theme } = pen;
    const { name, parts } = STACKS[number];
    const each = (box.height - 28) / MAX_PARTS;
    const middle = box.x + box.width / 2;
    pen.write(this.texts[name], middle, 10, { colour: theme.kinds[name], size: 14, weight: 650, align: "center" });
    const high = Math.min(30, each - 20);
    const at = (/** @type {number} */ index) => box.height - (index + 0.5) * each;
    pen.line(middle, at(0), middle, at(parts.length - 1), { colour: theme.mark });
    parts.forEach(([part, place], index) => {
      const y = at(index);
      const colour = theme.kinds[part === "cross" ? "cross" : name];
      const norm = part === "norm";
      pen.box(box.x + 4, y - high / 2, box.width - 8, high, {
        fill: norm ? theme.background : `color-mix(in srgb, ${colour} 14%, ${theme.background})`,
        line: norm ? theme.line : colour,
        thick: 1.25,
      });
      pen.write(this.texts[`part_${part}`], middle, y, { align: "center", most: box.width - 16 });
      if (place !== undefined) this.mark(pen, middle, y - each / 2, place, place === current);
    });
  }

  /**
   * A place of dropout: on the way out of its part, before the sum.
   * @param {Pen} pen
   * @param {number} x
   * @param {number} y
   * @param {number} place
   * @param {boolean} current
   */
  mark(pen, x, y, place, current) {
    const { text, background } = pen.theme;
    const [fill, colour] = current ? [text, background] : [background, text];
    const radius = current ? 11 : 8.5;
    pen.box(x - radius, y - radius, 2 * radius, 2 * radius, { fill, line: text, thick: 2, radius });
    pen.write(String(place + 1), x, y + 0.5, { colour, size: current ? 13 : 11, weight: 700, align: "center" });
  }

  /**
   * @param {Pen} pen
   * @param {Box} box
   * @param {Settings} settings
   */
  vector(pen, box, settings) {
    const { theme } = pen;
    const values = this.dropped(settings);
    const largest = Math.max(...values.map(({ value }) => Math.abs(value))) * 1.25;
    const across = new Axis(0, values.length, box.x, box.x + box.width);
    const lane = (box.height - 8) / 2;
    const colour = theme.kinds.encoder;
    const width = Math.max(1.5, box.width / values.length - 2.5);
    ["before", "after"].forEach((name, index) => {
      const top = box.y + index * lane;
      const up = new Axis(-largest, largest, top + lane - 4, top + 26);
      const zero = up.place(0);
      const title = fillText(this.texts[name], { p: settings.p.toFixed(2) });
      pen.note(title, box.x, top + 12, { size: 13, most: box.width });
      pen.line(box.x, zero, box.x + box.width, zero, { colour: theme.line, width: 1 });
      values.forEach(({ value, kept, after }, at) => {
        const x = across.place(at + 0.5);
        if (name === "before") pen.line(x, zero, x, up.place(value), { colour, width, alpha: kept ? 0.9 : 0.3 });
        else if (kept) pen.line(x, zero, x, up.place(after), { colour, width, alpha: 0.9 });
        else pen.cross(x, zero, 2.5, { colour: theme.text });
      });
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    const box = this.diagram(pen);
    if (x > box.width || y > box.height) return null;
    const { parts } = STACKS[x < box.width / 2 ? 0 : 1];
    const each = (box.height - 28) / MAX_PARTS;
    const index = Math.round((box.height - y) / each - 1);
    const [, place] = parts[Math.max(0, Math.min(parts.length - 1, index))];
    return place === undefined ? null : { place: place + 1 };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { places, own_dropout: own } = this.lesson.values;
    const values = this.dropped(settings);
    const gone = values.filter(({ kept }) => !kept).length;
    const factor = (1 / (1 - settings.p)).toFixed(2);
    return [
      this.texts[`place_${places[this.index(settings)]}`],
      fillText(this.texts.dropout_say, { gone, count: values.length, factor }),
      fillText(this.texts.own_dropout, { own }),
    ].join(" ");
  }

  /** @type {Scene["table"]} */
  table(settings) {
    return {
      columns: [this.texts.column, this.texts.before_short, this.texts.after_short],
      rows: this.dropped(settings).map(({ value, after }, index) => [index, value, after]),
    };
  }
}
