// One head after the other: the log-probability of the translation while heads go, and what is generated then.

import { Axis } from "../../../../components/common/draw/plot.js";
import { fillText, signed } from "../../../../components/common/text/format.js";
import { choice, playhead } from "../../../stage/js/describe.js";
import { crossOut, HeadGrid, leastHeight, NARROW, numberedHeads, ring } from "../../../stage/js/headgrid.js";
import { Bench, beside } from "../../js/bench.js";
import { TwoTranslations } from "../../js/twotranslations.js";

/**
 * Numbers of `bench.py`. `order`: numbers of the heads as they go; `texts`: what is generated without the first `count` of them.
 * @typedef {{
 *   text: string;
 *   tokens: number;
 *   layers: number;
 *   heads: number;
 *   order: number[];
 *   texts: ({ count: number } & import("../../js/numbers").Compared)[];
 * }} Numbers
 */

const LEFT = 48; // for the numbers of the axis
const FOOT = 46; // for the numbers and the name of the other one
const GRID = 165; // height of the tiles where they stand beside each other

/** @extends {Bench<Numbers>} */
export class Cumulative extends Bench {
  name = "cumulative";
  term = "off";

  get controls() {
    const { texts } = this;
    const orders = { effect: texts.order_effect, gradient: texts.order_gradient };
    return [choice("order", texts.order, orders, { server: true })];
  }

  get playhead() {
    const most = this.known?.order.length ?? 144;
    return playhead({ name: "gone", label: this.texts.heads_off, max: most, rate: most / 12 });
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 760 : Math.max(430, Math.min(room, 600), leastHeight(this.known?.layers ?? 0));
  }

  /** @param {Settings} settings */
  gone({ gone }) {
    return Math.max(0, Math.min(this.own.order.length, Math.floor(gone + 1e-6)));
  }

  get heads() {
    const { layers, heads } = this.own;
    return numberedHeads(layers, heads);
  }

  /** @param {{ width: number, height: number }} picture */
  places(picture) {
    const grid = new HeadGrid(this.heads.all, picture, 0.26, GRID);
    return { grid, side: beside(picture, grid, { right: 40, below: 16 }) };
  }

  /**
   * The axes of the curves above the translations.
   * @param {Pen} pen
   * @param {Box} side
   * @param {TwoTranslations} translations
   */
  axes(pen, { x, y, width, height }, translations) {
    const { log_p, random } = this.lesson.arrays;
    const values = [...log_p.data, ...random.data];
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const spare = 0.06 * (high - low || 1);
    const bottom = y + Math.max(120, height - translations.height(pen, width) - FOOT - 10);
    return {
      across: new Axis(0, Math.max(1, log_p.data.length - 1), x + LEFT, x + width - 10),
      up: new Axis(low - spare, high + spare, bottom, y + 30),
    };
  }

  /** @type {Bench<Numbers>["picture"]} */
  picture(pen, settings) {
    const { own, texts } = this;
    const { theme } = pen;
    const { grid, side } = this.places(pen);
    const gone = this.gone(settings);
    const translations = this.translations(gone);
    const off = new Set(own.order.slice(0, gone));
    grid.drawLabels(pen, texts);
    grid.forEach(({ kind, number }, tile) => {
      pen.fill(tile.x, tile.y, tile.size, tile.size, theme.kinds[kind], off.has(number) ? 0.08 : 0.6);
      if (off.has(number)) crossOut(pen, tile);
      if (gone > 0 && number === own.order[gone - 1]) ring(pen, tile, theme.text, 2.5);
    });
    this.drawCurves(pen, this.axes(pen, side, translations), gone);
    const { count } = this.textAt(gone);
    const after = count ? fillText(texts.without, { count }) : texts.cumulative_hint;
    translations.draw(pen, { before: texts.all_heads, after }, side);
  }

  /**
   * @param {Pen} pen
   * @param {{ across: Axis, up: Axis }} axes
   * @param {number} gone
   */
  drawCurves(pen, { across, up }, gone) {
    const { texts } = this;
    const { theme } = pen;
    const { log_p, random } = this.lesson.arrays;
    pen.note(texts.log_p, across.from - LEFT, up.to - 18, { size: 12 });
    for (const tick of up.ticks(4)) {
      pen.line(across.from, up.place(tick), across.to, up.place(tick), { colour: theme.line, width: 1 });
      pen.note(signed(tick, 0), across.from - 6, up.place(tick), { align: "right", size: 11 });
    }
    pen.axis(across, "bottom", up.from, { ticks: across.ticks(6), show: String });
    pen.note(texts.heads_off, (across.from + across.to) / 2, up.from + 36, { align: "center", size: 12 });
    const { counts } = this;
    for (let row = 0; row < random.shape[0]; row++) {
      const points = counts.map((count, at) => [across.place(count), up.place(random.at(row, at))]);
      pen.trace(points, { colour: theme.muted, width: 1.3 });
      for (const [x, y] of points) pen.dot(x, y, 2, theme.muted);
    }
    const points = Array.from(log_p.data, (value, at) => [across.place(at), up.place(value)]);
    pen.trace(points, { colour: theme.text, width: 2.5 });
    const low = Math.floor(counts.length / 2);
    const lowest = Math.min(...this.randomAt(low));
    pen.note(texts.random_orders, across.place(counts[low]), up.place(lowest) + 14, { size: 11, align: "right" });
    const here = across.place(gone);
    pen.line(here, up.from, here, up.to, { colour: theme.text, width: 1 });
    pen.dot(here, up.place(log_p.data[gone]), 5, theme.text);
  }

  /** Numbers of heads at which the sentence was translated, and random orders were tried. */
  get counts() {
    return this.own.texts.map(({ count }) => count);
  }

  /**
   * The last of the translations that were made up to this step.
   * @param {number} gone
   */
  textAt(gone) {
    const { texts } = this.own;
    return [...texts].reverse().find(({ count }) => count <= gone) ?? texts[0];
  }

  /** @param {number} gone */
  translations(gone) {
    const ablated = this.textAt(gone);
    return new TwoTranslations(this.own.text, ablated.count ? ablated : null);
  }

  /** How many heads can go until a token keeps less than half of its probability, in the geometric mean. */
  get lasting() {
    const { log_p } = this.lesson.arrays;
    const least = log_p.data[0] - this.own.tokens * Math.LN2;
    const first = Array.from(log_p.data).findIndex((value) => value < least);
    return (first < 0 ? log_p.data.length : first) - 1;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    const { order } = this.own;
    const { grid, side } = this.places(pen);
    const head = pen.first ? grid.at(x, y) : null;
    if (head) return { gone: order.indexOf(head.number) + 1 };
    const { across, up } = this.axes(pen, side, this.translations(this.gone(settings)));
    if (y < up.to - 10 || y > up.from + 20 || x < across.from - 12) return null;
    return { gone: Math.round(across.value(x)) };
  }

  /** @type {Scene["hit"]} "cross 1 2", a head; "off 70", a number of heads on the curve. */
  hit(name, pen, settings) {
    const words = name.split(" ");
    const { grid, side } = this.places(pen);
    if (words[0] !== "off") return grid.hit(name);
    const { across, up } = this.axes(pen, side, this.translations(this.gone(settings)));
    return { x: across.place(Number(words[1])), y: (up.from + up.to) / 2 };
  }

  /**
   * Log-probabilities in the random orders, at one of the counts.
   * @param {number} at
   */
  randomAt(at) {
    const { random } = this.lesson.arrays;
    return Array.from({ length: random.shape[0] }, (_, row) => random.at(row, at));
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { texts } = this;
    const gone = this.gone(settings);
    const value = signed(this.lesson.arrays.log_p.data[gone], 1);
    const said = [fillText(texts.cumulative_say, { count: gone, value })];
    const { count } = this.textAt(gone);
    const drawn = this.randomAt(this.counts.indexOf(count));
    const mean = drawn.reduce((sum, each) => sum + each, 0) / drawn.length;
    if (count) said.push(fillText(texts.cumulative_random, { count, value: signed(mean, 1) }));
    return [...said, fillText(texts.cumulative_lasting, { count: this.lasting })].join(" ");
  }

  /** @type {Scene["table"]} */
  table() {
    const { order } = this.own;
    const { texts } = this;
    const { log_p } = this.lesson.arrays;
    const { list } = this.heads;
    const named = this.randomAt(0).map((_, row) => fillText(texts.random_order, { number: row + 1 }));
    const rows = Array.from(log_p.data, (value, count) => {
      const at = this.counts.indexOf(count);
      const drawn = at < 0 ? named.map(() => "") : this.randomAt(at);
      return [count, count ? this.headTitle(list[order[count - 1]]) : "", value, ...drawn];
    });
    return { columns: [texts.heads_off, texts.column_head, texts.log_p, ...named], rows };
  }
}
