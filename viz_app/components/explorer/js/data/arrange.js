// How large the tiles of a block are, and whether several blocks stand side by side or one below the other.

const FRAME = 4; // border and padding of a tile, both sides together
const GAP = 4; // between tiles
const HEADS_GAP = 8; // between the larger tiles of one layer
export const BLOCK_GAP = 24; // between blocks that stand side by side
const STACK_GAP = 10; // between blocks one below the other
const NUMBERS = 18; // a row of head numbers, or a column of layer numbers
const TITLE = 25; // a line of a title, with the space under it
const TEXT = 18; // the line under a tile that tells its name and value
const TEXT_WIDTH = 46; // what that line needs
const AT_EASE = 54; // and in larger letters
const SMALLEST = 20;
const LOWEST = 12; // height where several blocks stand one below the other, so that all can be seen at once
const TIGHT_GAP = 2; // between tiles there
const LOW_WIDTH = 44; // width that such low tiles have at least, where there is room
const LARGEST = 160;
const LARGEST_OF_LAYER = 320;
const STRETCH = 1.5; // a tile may be so much higher than its map, to use the space
const BROAD = 4; // and so much broader
const PHONE = 370; // narrower pages scroll instead of shrinking their tiles

/**
 * @typedef {object} BlockShape
 * @property {number} layers
 * @property {number} heads
 * @property {number} queries
 * @property {number} keys
 * @property {boolean} captioned Whether its tiles flow in reading order, each with a line of text.
 * @property {boolean} one Whether they are the heads of one layer.
 * @property {boolean} titled
 *
 * @typedef {{ columns: number, gap: number, width: number, height: number, titleLines: number, narrow: boolean }} Fit
 */

/**
 * Sizes for all blocks in a space.
 *
 * @param {BlockShape[]} blocks
 * @returns {{ side: boolean, fits: Fit[] }}
 * @param {number} width
 * @param {number} height
 */
export function arrange(blocks, width, height) {
  const number = blocks.length;
  const stretch = width < PHONE ? 1 : STRETCH; // a telephone scrolls, so height is no gain there
  const beside = blocks.map((block) => fit(block, (width - BLOCK_GAP * (number - 1)) / number, height, stretch));
  if (number === 1) return { side: false, fits: beside };
  const each = width < PHONE ? height : (height - STACK_GAP * (number - 1)) / number;
  const below = blocks.map((block) => fit(block, width, each, stretch, width >= PHONE));
  const side = smallest(beside) > smallest(below);
  return { side, fits: alike(side ? beside : below) };
}

/**
 * All blocks with tiles of one size, so that layers of one number stand on one line.
 * @param {Fit[]} fits
 */
function alike(fits) {
  /** @param {"width" | "height"} name */
  const least = (name) => Math.min(...fits.map((fit) => fit[name]));
  const size = { width: least("width"), height: least("height"), narrow: fits.some(({ narrow }) => narrow) };
  return fits.map((fit) => ({ ...fit, ...size }));
}

/** @param {Fit[]} fits */
const smallest = (fits) => Math.min(...fits.map(({ width, height }) => width * height));

/**
 * The largest tiles that keep to a width and, while they stay readable, to a height, at most `stretch` times too high.
 * @param {BlockShape} block
 * @param {number} width
 * @param {number} height
 * @param {number} stretch
 * @param {boolean} [low]
 */
function fit(block, width, height, stretch, low = false) {
  const { layers, heads, captioned, one } = block;
  const gap = one ? HEADS_GAP : low ? TIGHT_GAP : GAP;
  const columns = one ? columnsOfLayer(heads, width, height) : heads;
  const rows = one ? Math.ceil(heads / columns) : layers;
  const numbers = captioned || one ? 0 : NUMBERS;
  const titleLines = block.titled ? (width < 430 ? 2 : 1) : 0;
  const text = captioned || one ? TEXT : 0;
  const widest = Math.floor((width - numbers - gap * (columns - 1)) / columns) - FRAME;
  const tallest = Math.floor((height - numbers - titleLines * TITLE) / rows) - gap - text - FRAME;
  const shape = Math.min(1.5, Math.max(0.8, block.keys / block.queries));
  const limit = one ? LARGEST_OF_LAYER : LARGEST;
  const tileHeight = Math.max(
    low ? LOWEST : SMALLEST,
    Math.min(Math.round((widest / shape) * (one ? 1 : stretch)), tallest, limit),
  );
  const tileWidth = Math.min(
    widest,
    Math.max(Math.round(tileHeight * (one ? BROAD / 2 : BROAD)), text ? TEXT_WIDTH : low ? LOW_WIDTH : 0),
  );
  return { columns, gap, width: tileWidth, height: tileHeight, titleLines, narrow: tileWidth < AT_EASE };
}

/**
 * The heads of one layer stand in as many columns as make them largest.
 * @param {number} heads
 * @param {number} width
 * @param {number} height
 */
function columnsOfLayer(heads, width, height) {
  let best = { columns: 1, size: 0 };
  for (let columns = 1; columns <= heads; columns++) {
    const rows = Math.ceil(heads / columns);
    const size = Math.min(width / columns, (height / rows) * 1.2, LARGEST_OF_LAYER);
    if (size > best.size) best = { columns, size };
  }
  return best.columns;
}
