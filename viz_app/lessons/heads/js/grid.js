// All heads as tiles: a block for each kind, a row for each layer.

import { write } from "../../../components/common/plot.js";
import { KINDS } from "./roles.js";

const TITLE = 19;
const NUMBERS = 15; // room for the numbers of the layers
const BETWEEN = 10;

export class HeadGrid {
  /**
   * Fits the blocks of `roles` into a place, above or beside each other.
   * @param {any} roles
   * @param {{ x: number, y: number, width: number, height: number, stacked: any }} given
   */
  constructor(roles, { x, y, width, height, stacked }) {
    const layers = Math.max(...KINDS.map((kind) => roles[kind].length));
    const heads = Math.max(...KINDS.map((kind) => roles[kind][0].length));
    const [across, down] = stacked ? [1, 3] : [3, 1];
    const wide = (width - (across - 1) * BETWEEN) / across - NUMBERS;
    const high = (height - (down - 1) * BETWEEN) / down - TITLE;
    this.cell = Math.max(5, Math.min(wide / heads, high / layers));
    this.blocks = KINDS.map((kind, number) => ({
      kind,
      x: x + NUMBERS + (stacked ? 0 : number * (heads * this.cell + NUMBERS + BETWEEN)),
      y: y + TITLE + (stacked ? number * (layers * this.cell + TITLE + BETWEEN) : 0),
      layers: roles[kind].length,
      heads: roles[kind][0].length,
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
   * [kind, layer, head] at a place, or null.
   * @param {number} x
   * @param {number} y
   */
  at(x, y) {
    for (const { kind, x: left, y: top, layers, heads } of this.blocks) {
      const [layer, head] = [Math.floor((y - top) / this.cell), Math.floor((x - left) / this.cell)];
      if (layer >= 0 && layer < layers && head >= 0 && head < heads) return [kind, layer, head];
    }
    return null;
  }

  /**
   * Calls `each(kind, layer, head, tile, number)` for all heads in the order in which Python counts them.
   * @param {any} each
   */
  forEach(each) {
    let number = 0;
    for (const { kind, layers, heads } of this.blocks) {
      for (let layer = 0; layer < layers; layer++) {
        for (let head = 0; head < heads; head++, number++)
          each(kind, layer, head, this.tile(kind, layer, head), number);
      }
    }
  }

  /**
   * Names of the blocks and the numbers of their layers.
   * @param {Pen} pen
   * @param {Texts} texts
   */
  drawLabels({ context, theme }, texts) {
    for (const { kind, x, y, layers, heads } of this.blocks) {
      context.fillStyle = theme.kinds[kind];
      context.fillRect(x, y - 4, heads * this.cell - 2, 2);
      write(context, texts[kind], x, y - 12, {
        colour: theme.text,
        font: theme.font,
        size: 12,
        weight: 600,
        most: heads * this.cell,
      });
      if (this.cell < 9) continue;
      for (let layer = 0; layer < layers; layer++) {
        write(context, String(layer + 1), x - 5, y + (layer + 0.5) * this.cell, {
          colour: theme.muted,
          font: theme.font,
          size: Math.min(11, this.cell),
          align: "right",
        });
      }
    }
  }
}

/**
 * A frame around a tile.
 * @param {CanvasRenderingContext2D} context
 * @param {{ x: number, y: number, size: number }} given
 * @param {string} colour
 * @param {number} [width]
 */
export function ring(context, { x, y, size }, colour, width = 2) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(x - 1, y - 1, size + 2, size + 2);
}
