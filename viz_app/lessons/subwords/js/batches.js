// Real sentence pairs in batches: each line is a sentence, each block a batch, hatched what only fills it up. From the order
// of the file every sentence moves to where training puts it, among sentences of its own length.

import { hatch } from "../../../components/common/draw/canvas.js";
import { ease, fillText, percent } from "../../../components/common/text/format.js";
import { choice, playhead, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const HEAD = 56;
const GAP = 7; // between batches
const ROW = 0.85; // height of a line, in positions
const ORDERS = ["plain", "sorted"];

/** @typedef {[x: number, y: number, width: number, height: number]} Block A batch in one order. */

/** @extends {Scene<import("./numbers").Values>} */
export class Batches extends Scene {
  size = { narrow: 520, least: 390, most: 620 };
  term = "padding";

  get playhead() {
    return playhead({ name: "sorted", label: this.texts.sort, max: 1, rate: 0.4, show: percent });
  }

  get controls() {
    const { texts } = this;
    return [
      slider({ name: "budget", label: texts.budget, min: 128, max: 512, step: 32, start: 256, server: true }),
      choice("side", texts.shown, { 0: texts.source, 1: texts.target }),
    ];
  }

  /**
   * The batches of both orders, with the largest size of a position at which both fit.
   * @param {Pen} pen
   * @param {number} side
   * @returns {{ unit: number, both: Block[][] }}
   */
  layout({ width, height }, side) {
    const shapes = ORDERS.map((order) => this.lesson.arrays[order]);
    for (let unit = 16; ; unit -= 0.25) {
      const most = unit > 1 ? height - HEAD : Infinity;
      const both = shapes.flatMap((each) => {
        const blocks = shelves(each, side, unit, width, most);
        return blocks ? [blocks] : [];
      });
      if (both.length === shapes.length || unit <= 1) return { unit, both };
    }
  }

  /** @type {Scene["draw"]} */
  draw(pen, { sorted, budget, side }) {
    const { context, theme } = pen;
    const { lengths, places } = this.lesson.arrays;
    const { unit, both } = this.layout(pen, Number(side));
    const share = ease(sorted);
    context.globalAlpha = this.lesson.answers.budget === budget ? 1 : 0.35;
    this.drawHead(pen, sorted);
    this.drawBlocks(pen, both[0], Math.max(0, 1 - 2 * sorted));
    this.drawBlocks(pen, both[1], Math.max(0, 2 * sorted - 1));
    for (let pair = 0; pair < lengths.shape[0]; pair++) {
      const [from, to] = both.map((blocks, order) => {
        const [x, y] = blocks[places.at(order, pair, 0)];
        return [x, y + places.at(order, pair, 1) * unit * ROW];
      });
      const x = from[0] + (to[0] - from[0]) * share;
      const y = from[1] + (to[1] - from[1]) * share + 0.1 * unit;
      const long = (lengths.at(pair, Number(side)) + 1) * unit; // with </s>
      pen.fill(x, y, long, Math.max(0.8, (ROW - 0.2) * unit), theme.kinds.encoder);
    }
    context.globalAlpha = 1;
  }

  /**
   * @param {Pen} pen
   * @param {number} sorted
   */
  drawHead(pen, sorted) {
    const { theme, width } = pen;
    const size = isNarrow(width) ? 13 : 15;
    ORDERS.forEach((name, order) => {
      const [padded, positions, batches] = this.lesson.values.padding[order];
      const x = order ? width / 2 + 8 : 0;
      const look =
        order === Math.round(sorted) ? { colour: theme.text, weight: 650 } : { colour: theme.muted, weight: 400 };
      const style = { ...look, size, most: width / 2 - 12 };
      pen.write(this.texts[name], x, 10, style);
      pen.write(fillText(this.texts.waste, { share: percent(padded / positions), batches }), x, 32, style);
    });
  }

  /**
   * The batches of one order, hatched all over; the sentences cover what is not padding.
   * @param {Pen} pen
   * @param {Block[]} blocks
   * @param {number} strength
   */
  drawBlocks(pen, blocks, strength) {
    const { context, theme } = pen;
    if (!strength) return;
    context.save();
    context.globalAlpha *= strength;
    for (const [x, y, wide, tall] of blocks) {
      hatch(context, [x, y, x + wide, y + tall], theme.hatch, 5);
      pen.frame(x - 1, y - 1, wide + 2, tall + 2, theme.mark);
    }
    context.restore();
  }

  /** @type {Scene["say"]} */
  say({ sorted }) {
    const [padded, positions] = this.lesson.values.padding[Math.round(sorted)];
    const text = sorted < 0.5 ? this.texts.plain_say : this.texts.sorted_say;
    return fillText(text, { share: percent(padded / positions) });
  }

  table() {
    const { texts } = this;
    const rows = ORDERS.map((name, order) => {
      const [padded, positions, batches] = this.lesson.values.padding[order];
      return [texts[name], batches, positions, padded, padded / positions];
    });
    return { columns: ["", texts.batches, texts.positions, texts.padded, texts.padding], rows };
  }
}

/**
 * The batches side by side on shelves; null when they do not fit.
 * @param {NdArray} shapes
 * @param {number} side
 * @param {number} unit
 * @param {number} width
 * @param {number} height
 * @returns {Block[] | null}
 */
function shelves(shapes, side, unit, width, height) {
  /** @type {Block[]} */
  const blocks = [];
  let [x, y, tallest] = [1, 1, 0];
  for (let batch = 0; batch < shapes.shape[0]; batch++) {
    const [wide, tall] = [shapes.at(batch, 1 + side) * unit, shapes.at(batch, 0) * unit * ROW];
    if (x > 1 && x + wide > width - 1) [x, y, tallest] = [1, y + tallest + GAP, 0];
    blocks.push([x, HEAD + y, wide, tall]);
    x += wide + GAP;
    tallest = Math.max(tallest, tall);
    if (x - GAP > width || y + tall > height - 1) return null;
  }
  return blocks;
}
