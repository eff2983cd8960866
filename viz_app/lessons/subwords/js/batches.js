// Real sentence pairs in batches: each line is a sentence, each block a batch, hatched what only fills it up. From the order
// of the file every sentence moves to where training puts it, among sentences of its own length.

import { fillText, percent } from "../../../components/common/dom.js";
import { write } from "../../../components/common/plot.js";
import { frame } from "../../stage/js/grid.js";
import { Scene } from "../../stage/js/scene.js";

const HEAD = 56;
const GAP = 7; // between batches
const ROW = 0.85; // height of a line, in positions

export class Batches extends Scene {
  get playhead() {
    return {
      name: "sorted",
      label: this.texts.sort,
      min: 0,
      max: 1,
      step: 1,
      rate: 0.4,
      start: 0,
      /** @param {number} value */
      show: (value) => `${Math.round(100 * value)}\u202f%`,
    };
  }

  get controls() {
    return [
      {
        name: "budget",
        kind: "range",
        label: this.texts.budget,
        min: 128,
        max: 512,
        step: 32,
        start: 256,
        server: true,
      },
      {
        name: "side",
        kind: "choice",
        label: this.texts.shown,
        options: [
          ["0", this.texts.source],
          ["1", this.texts.target],
        ],
        start: "0",
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < 520 ? 520 : Math.max(390, Math.min(620, room));
  }

  lit() {
    return "padding";
  }

  /** @param {Settings} settings */
  fresh({ budget }) {
    return this.lesson.answers.budget === budget;
  }

  /**
   * Where each batch stands, with the largest size of a position at which both orders fit.
   * @param {number} width
   * @param {number} height
   * @param {number} side
   */
  layout(width, height, side) {
    const { plain, sorted } = this.lesson.arrays;
    for (let unit = 16; unit > 1; unit -= 0.25) {
      const both = [plain, sorted].map((shapes) => shelves(shapes, side, unit, width, height));
      if (both.every(Boolean)) return { unit, both };
    }
    return { unit: 1, both: [plain, sorted].map((shapes) => shelves(shapes, side, 1, width, Infinity)) };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height, theme } = pen;
    context.globalAlpha = this.fresh(settings) ? 1 : 0.35;
    const share = settings.sorted;
    const side = Number(settings.side);
    const eased = share * share * (3 - 2 * share);
    const { unit, both } = this.layout(width, height - HEAD, side);
    this.drawHead(pen, share);
    const strength = [Math.max(0, 1 - 2 * share), Math.max(0, 2 * share - 1)];
    both.forEach(
      (corners, order) => strength[order] && this.drawBlocks(pen, corners, order, side, unit, strength[order]),
    );
    const { lengths, places } = this.lesson.arrays;
    context.fillStyle = theme.kinds.encoder;
    for (let pair = 0; pair < lengths.shape[0]; pair++) {
      const [from, to] = both.map((corners, order) => {
        const [x, y] = corners?.[places.at(order, pair, 0)] ?? [0, 0];
        return [x, y + places.at(order, pair, 1) * unit * ROW];
      });
      const x = from[0] + (to[0] - from[0]) * eased;
      const y = HEAD + from[1] + (to[1] - from[1]) * eased;
      context.fillRect(x, y + 0.1 * unit, (lengths.at(pair, side) + 1) * unit, Math.max(0.8, (ROW - 0.2) * unit)); // with </s>
    }
    context.globalAlpha = 1;
  }

  /**
   * @param {Pen} pen
   * @param {number} share
   */
  drawHead({ context, theme, width }, share) {
    const small = width < 520;
    ["plain", "sorted"].forEach((name, order) => {
      const [padded, positions, batches] = this.lesson.values.padding[order];
      const x = order ? width / 2 + 8 : 0;
      const now = order === Math.round(share);
      const style = { colour: now ? theme.text : theme.muted, font: theme.font, most: width / 2 - 12 };
      write(context, this.texts[name], x, 10, { ...style, size: small ? 13 : 15, weight: now ? 650 : 400 });
      write(context, fillText(this.texts.waste, { share: percent(padded / positions), batches }), x, 32, {
        ...style,
        size: small ? 13 : 15,
        weight: now ? 650 : 400,
      });
    });
  }

  /**
   * The batches of one order, hatched all over; the sentences cover what is not padding.
   * @param {Pen} pen
   * @param {any} corners
   * @param {number} order
   * @param {number} side
   * @param {number} unit
   * @param {number} strength
   */
  drawBlocks({ context, theme }, corners, order, side, unit, strength) {
    const shapes = order ? this.lesson.arrays.sorted : this.lesson.arrays.plain;
    context.save();
    context.globalAlpha *= strength;
    corners.forEach(([x, y], batch) => {
      const [wide, tall] = [shapes.at(batch, 1 + side) * unit, shapes.at(batch, 0) * unit * ROW];
      context.save();
      context.beginPath();
      context.rect(x, HEAD + y, wide, tall);
      context.clip();
      context.strokeStyle = theme.hatch;
      context.lineWidth = 1.2;
      context.beginPath();
      for (let at = -tall; at < wide; at += 5) {
        context.moveTo(x + at, HEAD + y + tall);
        context.lineTo(x + at + tall, HEAD + y);
      }
      context.stroke();
      context.restore();
      frame(context, x - 1, HEAD + y - 1, wide + 2, tall + 2, theme.mark);
    });
    context.restore();
  }

  /** @type {Scene["say"]} */
  say({ sorted }) {
    const [padded, positions] = this.lesson.values.padding[Math.round(sorted)];
    return fillText(sorted < 0.5 ? this.texts.plain_say : this.texts.sorted_say, {
      share: percent(padded / positions),
    });
  }

  table() {
    const { padding } = this.lesson.values;
    const rows = ["plain", "sorted"].map((name, order) => [
      this.texts[name],
      padding[order][2],
      padding[order][1],
      padding[order][0],
      padding[order][0] / padding[order][1],
    ]);
    return { columns: ["", this.texts.batches, this.texts.positions, this.texts.padded, this.texts.padding], rows };
  }
}

/**
 * Upper left corner of each batch, side by side on shelves; null when they do not fit.
 * @param {NdArray} shapes
 * @param {any} side
 * @param {number} unit
 * @param {number} width
 * @param {number} height
 */
function shelves(shapes, side, unit, width, height) {
  const corners = [];
  let [x, y, tallest] = [1, 1, 0];
  for (let batch = 0; batch < shapes.shape[0]; batch++) {
    const [wide, tall] = [shapes.at(batch, 1 + side) * unit, shapes.at(batch, 0) * unit * ROW];
    if (x > 1 && x + wide > width - 1) [x, y, tallest] = [1, y + tallest + GAP, 0];
    corners.push([x, y]);
    x += wide + GAP;
    tallest = Math.max(tallest, tall);
    if (x - GAP > width || y + tall > height - 1) return null;
  }
  return corners;
}
