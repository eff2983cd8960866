// Layers and positions as tiles: a block for each stack, a row for each layer, a column for each token.

import { tokenText } from "../../../../components/common/text/tokens.js";
import { NARROW } from "../../../stage/js/headgrid.js";

const NUMBERS = 18; // left of a block: its layers
const TITLE = 18;
const TOKENS = 66; // above a block
const BETWEEN = 16;
const MAX = 34; // side of a tile

/** @typedef {{ stack: string, tokens: string[] }} Block */

export class PositionGrid {
  /**
   * Fits the blocks above each other into the upper left corner.
   * @param {Block[]} blocks
   * @param {number} layers
   * @param {{ width: number, height: number }} picture
   * @param {number} share Of the width.
   */
  constructor(blocks, layers, picture, share) {
    const narrow = picture.width < NARROW;
    const width = narrow ? picture.width : picture.width * share;
    const height = narrow ? 360 : picture.height;
    const most = Math.max(...blocks.map(({ tokens }) => tokens.length));
    const down = blocks.length * (TITLE + TOKENS) + (blocks.length - 1) * BETWEEN;
    this.layers = layers;
    this.wide = Math.min(MAX, (width - NUMBERS) / most);
    this.tall = Math.max(6, Math.min(MAX, (height - down) / (blocks.length * layers)));
    let y = 0;
    this.blocks = blocks.map((block) => {
      const top = y + TITLE + TOKENS;
      y = top + layers * this.tall + BETWEEN;
      return { ...block, x: NUMBERS, y: top };
    });
    this.width = NUMBERS + most * this.wide;
    this.height = y - BETWEEN;
  }

  /**
   * @param {number} place Number of the block.
   * @param {number} layer
   * @param {number} at
   */
  tile(place, layer, at) {
    const { x, y } = this.blocks[place];
    return { x: x + at * this.wide, y: y + layer * this.tall, width: this.wide - 1, height: this.tall - 1 };
  }

  /**
   * Calls `each` for all tiles.
   * @param {(cell: [number, number, number], tile: Box) => void} each
   */
  forEach(each) {
    this.blocks.forEach(({ tokens }, place) => {
      for (let layer = 0; layer < this.layers; layer++)
        for (let at = 0; at < tokens.length; at++) each([place, layer, at], this.tile(place, layer, at));
    });
  }

  /**
   * The tile at a place, or null.
   * @param {number} x
   * @param {number} y
   * @returns {[number, number, number] | null}
   */
  at(x, y) {
    for (const [place, block] of this.blocks.entries()) {
      const [layer, at] = [Math.floor((y - block.y) / this.tall), Math.floor((x - block.x) / this.wide)];
      if (layer >= 0 && layer < this.layers && at >= 0 && at < block.tokens.length) return [place, layer, at];
    }
    return null;
  }

  /**
   * Names of the blocks, the numbers of their layers, their tokens.
   * @param {Pen} pen
   * @param {Texts} texts
   */
  drawLabels(pen, texts) {
    const { theme } = pen;
    const size = Math.max(8, Math.min(12, this.wide - 1));
    for (const { stack, tokens, x, y } of this.blocks) {
      pen.write(texts[stack], x, y - TOKENS - 8, { size: 12, weight: 600, colour: theme.kinds[stack] });
      for (let layer = 0; layer < this.layers; layer++)
        pen.note(String(layer + 1), x - 5, y + (layer + 0.5) * this.tall, { size: 11, align: "right" });
      tokens.forEach((token, at) => {
        const style = { font: theme.code, size, turn: -Math.PI / 3.2, most: TOKENS - 8 };
        pen.write(tokenText(token), x + (at + 0.5) * this.wide, y - 6, style);
      });
    }
  }
}
