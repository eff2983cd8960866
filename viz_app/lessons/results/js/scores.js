// Table 2: BLEU against the cost of training. The playhead lets the systems appear in the order of their cost.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, raised } from "../../../components/common/text/format.js";
import { choice, playhead } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";

/** @typedef {import("./numbers").Pair} Pair */

const [LEFT, RIGHT, TOP, FOOT] = [56, 24, 24, 56];
/** @type {Record<Pair, [low: number, high: number]>} */
const RANGE = { ende: [23, 29], enfr: [37.5, 42.5] };
/** @type {[dx: number, dy: number, align: "left" | "right"][]} Where the label of a point may stand, the best first. */
const PLACES = [
  [12, 0, "left"],
  [-12, 0, "right"],
  [12, -16, "left"],
  [12, 16, "left"],
  [-12, -16, "right"],
  [-12, 16, "right"],
  [12, 30, "left"],
  [-12, 30, "right"],
];

/** @extends {Scene<import("./numbers").Values>} */
export class Scores extends Scene {
  get playhead() {
    const max = Math.max(this.points("ende").length, this.points("enfr").length);
    return playhead({ name: "upto", label: this.texts.systems, min: 1, max, rate: 1.2, start: max });
  }

  get controls() {
    const { pair, ende, enfr } = this.texts;
    return [choice("pair", pair, { ende, enfr })];
  }

  /**
   * Systems with a score, as the paper lists them; the cost is null where it prints none.
   * @param {Pair} pair
   */
  systems(pair) {
    const cost = /** @type {const} */ (`${pair}_flops`);
    return this.lesson.values.scores.flatMap(({ name, group, [pair]: bleu, [cost]: flops }) =>
      bleu === null ? [] : [{ name, group, bleu, flops }],
    );
  }

  /**
   * Those with a cost, the cheapest first.
   * @param {Pair} pair
   */
  points(pair) {
    return this.systems(pair)
      .flatMap(({ flops, ...system }) => (flops === null ? [] : [{ ...system, flops }]))
      .sort((a, b) => a.flops - b.flops || a.bleu - b.bleu);
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height, theme, pointer } = pen;
    const pair = /** @type {Pair} */ (settings.pair);
    const across = new Axis(1e18, 3e21, LEFT, width - RIGHT, { log: true });
    const up = new Axis(...RANGE[pair], height - FOOT, TOP);
    pen.axis(up, "left", LEFT, { grid: width - RIGHT - LEFT, ticks: up.ticks(6) });
    const show = (/** @type {number} */ value) => `10${raised(Math.round(Math.log10(value)))}`;
    pen.axis(across, "bottom", height - FOOT, { show, title: this.texts.flops });
    pen.note("BLEU", LEFT - 8, TOP - 12, { align: "right" });
    const shown = this.points(pair)
      .slice(0, Math.floor(settings.upto))
      .map((point) => ({ ...point, x: across.place(point.flops), y: up.place(point.bleu) }));
    const taken = shown.map(({ x, y }) => [x - 8, y - 8, x + 8, y + 8]);
    for (const { name, bleu, group, x, y } of shown) {
      const near = pointer && Math.hypot(pointer.x - x, pointer.y - y) < 18;
      const ours = group === "transformer";
      const colour = ours ? theme.kinds.encoder : theme.muted;
      pen.dot(x, y, ours ? 8 : 6, group === "ensemble" ? theme.background : colour, colour);
      const style = { colour: ours ? theme.text : theme.muted, weight: ours || near ? 650 : 400 };
      this.label(pen, `${name}  ${bleu}`, x, y, style, taken);
    }
    pen.dot(width - RIGHT - 130, height - FOOT - 14, 5, theme.background, theme.muted);
    pen.note(this.texts.group_ensemble, width - RIGHT - 118, height - FOOT - 14);
    const ours = shown.filter(({ group }) => group === "transformer").map(({ x, y }) => [x, y]);
    if (ours.length === 2) pen.trace(ours, { colour: theme.kinds.encoder, dash: [3, 4] });
  }

  /**
   * Beside its point, on the side and height where nothing stands yet.
   * @param {Pen} pen
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {{ colour: string, weight: number }} style
   * @param {number[][]} taken
   */
  label(pen, text, x, y, style, taken) {
    const wide = pen.measure(text, style);
    for (const [dx, dy, align] of PLACES) {
      const from = align === "left" ? x + dx : x + dx - wide;
      const box = [from, y + dy - 8, from + wide, y + dy + 8];
      const free =
        box[0] > LEFT + 2 &&
        box[2] < pen.width - 2 &&
        taken.every(([a, b, c, d]) => box[2] < a || box[0] > c || box[3] < b || box[1] > d);
      if (!free) continue;
      taken.push(box);
      pen.write(text, x + dx, y + dy, { ...style, align });
      return;
    }
  }

  /** @type {Scene["say"]} */
  say({ pair, upto }) {
    const points = this.points(pair);
    const { name, bleu, flops } = points[Math.min(Math.floor(upto), points.length) - 1];
    return fillText(this.texts.scores_say, { name, bleu, cost: scientific(flops) });
  }

  /** @type {Scene["table"]} */
  table({ pair }) {
    const { texts } = this;
    const rows = this.systems(pair).map(({ name, group, bleu, flops }) => [
      name,
      texts[`group_${group}`],
      String(bleu),
      flops === null ? "–" : scientific(flops),
    ]);
    return { columns: [texts.system, texts.group, "BLEU", texts.flops], rows };
  }
}

/**
 * 3.3e18 -> "3.3 · 10¹⁸"
 * @param {number} value
 */
export function scientific(value) {
  const power = Math.floor(Math.log10(value) + 1e-12);
  return `${(value / 10 ** power).toFixed(1)}\u202f·\u202f10${raised(power)}`;
}
