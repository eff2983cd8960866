// All heads as tiles: a block for each kind, a row for each layer.

import { byLayer } from "../../../components/common/heads/headrows.js";
import { allHeads, KINDS } from "../../../components/common/heads/heads.js";
import { PHONE } from "./layout.js";

export const NARROW = PHONE;
const TITLE = 30;
const NUMBERS = 15; // room for the numbers of the layers
const BETWEEN = 10;
const SMALLEST = 7; // a tile of a model with many layers

/** @typedef {{ x: number, y: number, size: number }} Tile */

/** @typedef {Head & { number: number }} NumberedHead */

/**
 * All heads by kind and layer, and in one list; numbers as Python counts them.
 * @param {number} layers
 * @param {number} heads
 */
export function numberedHeads(layers, heads) {
  const list = allHeads(layers, heads).map((head, number) => ({ ...head, number }));
  const [encoder, decoder, cross] = KINDS.map((kind) =>
    byLayer(
      list.filter((head) => head.kind === kind),
      heads,
    ),
  );
  return { all: { encoder, decoder, cross }, list };
}

/**
 * Return the least height of stacked blocks in which the heads of many layers can be told apart.
 * @param {number} layers
 */
export function leastHeight(layers) {
  return 3 * (SMALLEST * layers + TITLE) + 2 * BETWEEN + 4;
}

/** @template Head What the grid holds for each head. */
export class HeadGrid {
  /**
   * Fits the blocks into the upper left corner: above each other, or beside each other where it is narrow.
   * @param {Record<Kind, Head[][]>} all
   * @param {{ width: number, height: number }} picture
   * @param {number} share Of the width, where they are above each other.
   * @param {number} low The height, where they are beside each other.
   */
  constructor(all, picture, share, low) {
    const stacked = picture.width >= NARROW;
    const [width, height] = stacked ? [picture.width * share, picture.height - 4] : [picture.width, low];
    this.all = all;
    const layers = Math.max(...KINDS.map((kind) => all[kind].length));
    const heads = Math.max(...KINDS.map((kind) => all[kind][0].length));
    const [across, down] = stacked ? [1, 3] : [3, 1];
    const wide = (width - (across - 1) * BETWEEN) / across - NUMBERS;
    const high = (height - (down - 1) * BETWEEN) / down - TITLE;
    this.cell = Math.max(5, Math.min(wide / heads, high / layers));
    this.blocks = KINDS.map((kind, number) => ({
      kind,
      x: NUMBERS + (stacked ? 0 : number * (heads * this.cell + NUMBERS + BETWEEN)),
      y: TITLE + (stacked ? number * (layers * this.cell + TITLE + BETWEEN) : 0),
      layers: all[kind].length,
      heads: all[kind][0].length,
    }));
    this.width = across * (heads * this.cell + NUMBERS) + (across - 1) * BETWEEN;
    this.height = down * (layers * this.cell + TITLE) + (down - 1) * BETWEEN;
  }

  /**
   * { x, y, size } of a tile.
   * @param {string} kind
   * @param {number} layer
   * @param {number} head
   */
  tile(kind, layer, head) {
    const block = this.blocks.find((each) => each.kind === kind) ?? this.blocks[0];
    return {
      x: block.x + head * this.cell,
      y: block.y + layer * this.cell,
      size: this.cell - (this.cell > 12 ? 2 : 1),
    };
  }

  /**
   * Find the middle of a tile by its head, such as "cross 1 2".
   * @param {string} name
   */
  hit(name) {
    const [kind, layer, head] = name.split(" ");
    const { x, y, size } = this.tile(kind, Number(layer), Number(head));
    return { x: x + size / 2, y: y + size / 2 };
  }

  /**
   * The head at a place, or null.
   * @param {number} x
   * @param {number} y
   */
  at(x, y) {
    for (const { kind, x: left, y: top, layers, heads } of this.blocks) {
      const [layer, head] = [Math.floor((y - top) / this.cell), Math.floor((x - left) / this.cell)];
      if (layer >= 0 && layer < layers && head >= 0 && head < heads) return this.all[kind][layer][head];
    }
    return null;
  }

  /**
   * Calls `each` for all heads in the order in which Python counts them.
   * @param {(held: Head, tile: Tile, number: number) => void} each
   */
  forEach(each) {
    let number = 0;
    for (const { kind, layers, heads } of this.blocks) {
      for (let layer = 0; layer < layers; layer++) {
        for (let head = 0; head < heads; head++, number++)
          each(this.all[kind][layer][head], this.tile(kind, layer, head), number);
      }
    }
  }

  /**
   * Names of the blocks and the numbers of their layers.
   * @param {Pen} pen
   * @param {Texts} texts
   */
  drawLabels(pen, texts) {
    const { theme } = pen;
    for (const { kind, x, y, layers, heads } of this.blocks) {
      pen.fill(x, y - 4, heads * this.cell - 2, 2, theme.kinds[kind]);
      pen.write(texts[kind], x, y - 24, { size: 12, weight: 600, most: heads * this.cell });
      if (this.cell < 9) continue;
      const size = Math.min(11, this.cell);
      for (let layer = 0; layer < layers; layer++)
        pen.note(String(layer + 1), x - 5, y + (layer + 0.5) * this.cell, { size, align: "right" });
      for (let head = 0; head < heads; head++)
        pen.note(String(head + 1), x + (head + 0.5) * this.cell - 1, y - 10, { size, align: "center" });
    }
  }
}

/**
 * A frame around a tile.
 * @param {Pen} pen
 * @param {Tile} tile
 * @param {string} colour
 * @param {number} [width]
 */
export function ring(pen, { x, y, size }, colour, width = 2) {
  pen.frame(x - 1, y - 1, size + 2, size + 2, colour, width);
}

/**
 * Crosses a tile out.
 * @param {Pen} pen
 * @param {Tile} tile
 */
export function crossOut(pen, { x, y, size }) {
  const { context, theme } = pen;
  pen.frame(x + 0.5, y + 0.5, size - 1, size - 1, theme.text, 1.5);
  context.beginPath();
  context.moveTo(x + 3, y + 3);
  context.lineTo(x + size - 3, y + size - 3);
  context.moveTo(x + size - 3, y + 3);
  context.lineTo(x + 3, y + size - 3);
  context.stroke();
}
