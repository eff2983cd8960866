// A whole head as pixels.

import { colourIndex } from "../data/colourmapping.js";
import { visibleTokens } from "../data/visibletokens.js";

const HATCH = 5; // distance of two hatch lines, in CSS pixels
const LEVELS = 65536; // steps between the weights 0 and 1 that are told apart

/**
 * What all thumbnails of a view have in common: which rows and columns are drawn, and how a weight becomes a colour.
 *
 * Colours are looked up by level: of the weight itself, or with the scale "row" of its share of the largest weight that
 * is drawn in its row.
 */
export class Look {
  /**
   * @param {View} view
   * @param {Pick<State, "scale" | "threshold" | "special">} state
   * @param {Theme} theme
   * @param {number | null} from The first token whose row is painted, of those that are there; null for all.
   */
  constructor(view, state, theme, from) {
    const { rows, columns } = visibleTokens(view, state);
    this.first = from && rows.findIndex((query) => view.queries[query].last >= from);
    this.queries = rows; // all that are drawn, also those that are not written yet
    this.keys = Uint16Array.from(columns.filter((key) => key < view.columns));
    this.rows = rows.filter((query) => query < view.rows).length;
    this.allKeys = columns.length;
    this.hatch = theme.hatchPixel;
    this.byRow = state.scale === "row";
    this.least = state.threshold / 100 / view.scale; // in the unit of `values`
    this.toLevel = view.scale * (LEVELS - 1);
    this.colours = colours(theme, state);
    this.peaks = new Int32Array(this.keys.length);
    /** @type {Map<string, { columns: ReturnType<typeof bins>, rows: number[][] }>} */
    this.sizes = new Map();
  }

  /**
   * How a canvas is shared among the columns and rows.
   * @param {number} width
   * @param {number} height
   */
  cells(width, height) {
    const key = `${width} ${height}`;
    const cells = this.sizes.get(key) ?? {
      columns: bins(width, this.allKeys),
      rows: ranges(height, this.queries.length),
    };
    this.sizes.set(key, cells);
    return cells;
  }
}

const tables = new Map();

/**
 * The colour of each level.
 * @param {Theme} theme
 * @param {Pick<State, "scale" | "threshold">} state
 */
function colours(theme, { scale, threshold }) {
  const byRow = scale === "row"; // a share; what lies under the threshold has been taken out before
  const key = `${theme.key} ${scale} ${byRow || threshold}`;
  let table = tables.get(key);
  if (!table) {
    table = new Uint32Array(LEVELS);
    for (let level = 0; level < LEVELS; level++) {
      table[level] = theme.pixels[colourIndex(level / (LEVELS - 1), 1, scale, byRow ? 0 : threshold)];
    }
    if (tables.size > 8) tables.clear();
    tables.set(key, table);
  }
  return table;
}

/**
 * Paints one head to fill a canvas context, every device pixel once.
 *
 * Where a pixel covers several cells it shows the largest of their weights, so a single sharp look never disappears.
 * Masked cells are hatched, also those of a fully masked row; rows that are not generated yet stay empty, or in a draft as
 * they are.
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 * @param {number} layer
 * @param {number} head
 * @param {Look} look
 */
export function paintHead(context, view, layer, head, look) {
  const { width, height } = context.canvas;
  const { queries, rows, keys } = look;
  const cells = look.cells(width, height);
  const top = cells.rows.findIndex(([, end]) => end > (look.first ?? 0));
  const bottom = look.first === null ? height : cells.rows.filter(([first]) => first < rows).length;
  if (bottom <= top || !width) return; // on a page that is being left nothing has a width
  const image = context.createImageData(width, bottom - top);
  const pixels = new Uint32Array(image.data.buffer);
  const { binAt, firstOf } = cells.columns;
  const levels = new Uint16Array(firstOf.length);
  const period = Math.max(3, Math.round(HATCH * (window.devicePixelRatio || 1)));
  pixels.fill(look.colours[0]);
  let above = -1;
  let stop = width; // where masked pixels begin
  for (let y = top; y < bottom; y++) {
    const [first, end] = cells.rows[y];
    if (first >= rows) break;
    const last = Math.min(end, rows) - 1;
    const line = (y - top) * width;
    if (above === first) pixels.copyWithin(line, line - width, line - width + stop);
    else {
      look.peaks.fill(0);
      for (let row = first; row < Math.min(end, rows); row++) {
        collect(look, view.values, view.offset(layer, head, queries[row]), view.causal ? row + 1 : keys.length);
      }
      stop = view.causal ? firstMasked(cells.columns, last, width) : width;
      if (!merge(levels, look.peaks, firstOf) && blind(view, view.offset(layer, head, queries[last]))) stop = 0;
      for (let x = 0; x < stop; x++) pixels[line + x] = look.colours[levels[binAt[x]]];
    }
    above = end - first === 1 ? first : -1;
    for (let x = stop; x < width && firstOf[binAt[x]] < keys.length; x++) {
      if ((x + y) % period === 0) pixels[line + x] = look.hatch;
    }
  }
  context.putImageData(image, 0, top);
}

/**
 * Whether a row looks nowhere, as all its keys are masked.
 * @param {View} view
 * @param {number} start
 */
function blind({ values, keys }, start) {
  for (let i = start; i < start + keys.length; i++) if (values[i]) return false;
  return true;
}

/**
 * The first pixel whose keys all lie behind a row, which may not look at them.
 * @param {ReturnType<typeof bins>} bins
 * @param {number} row
 * @param {number} width
 */
function firstMasked({ binAt, firstOf }, row, width) {
  for (let x = 0; x < width; x++) if (firstOf[binAt[x]] > row) return x;
  return width;
}

/**
 * Takes one row into the largest level of each key. This loop sees every cell, so it has no branch to mispredict.
 * @param {Look} look
 * @param {ArrayLike<number>} values
 * @param {number} start
 * @param {number} end Of the keys that the row may look at.
 */
function collect({ keys, byRow, least, toLevel, peaks }, values, start, end) {
  let factor = toLevel;
  if (byRow) {
    let most = 0;
    for (let i = 0; i < end; i++) if (values[start + keys[i]] > most) most = values[start + keys[i]];
    factor = most && (LEVELS - 1) / most;
  }
  for (let i = 0; i < end; i++) {
    const value = values[start + keys[i]];
    if (value < least) continue; // also where the colours know the threshold: a level is rounded
    const more = ((value * factor + 0.5) | 0) - peaks[i];
    peaks[i] += more & ~(more >> 31); // what is positive
  }
}

/**
 * Takes the largest level of each bin; returns the largest of all.
 * @param {Uint16Array} levels
 * @param {Int32Array} peaks
 * @param {Uint16Array} firstOf
 */
function merge(levels, peaks, firstOf) {
  let most = 0;
  for (let bin = 0; bin < firstOf.length; bin++) {
    const end = Math.min(peaks.length, firstOf[bin + 1] ?? peaks.length);
    let largest = 0;
    for (let i = firstOf[bin]; i < end; i++) if (peaks[i] > largest) largest = peaks[i];
    levels[bin] = Math.min(largest, LEVELS - 1); // rounded weights of a word may sum to more than 1
    if (largest > most) most = largest;
  }
  return most;
}

/**
 * Shares `size` pixels among `count` cells: a bin is a cell, or several where there are more cells than pixels.
 *
 * @returns binAt: the bin of each pixel; firstOf: the first cell of each bin.
 * @param {number} size
 * @param {number} count
 */
function bins(size, count) {
  const number = Math.min(size, count);
  const binAt = Uint16Array.from({ length: size }, (_, x) => Math.floor(((x + 0.5) * number) / size));
  const firstOf = Uint16Array.from({ length: number }, (_, bin) => Math.ceil((bin * count) / number));
  return { binAt, firstOf };
}

/**
 * For each of `size` pixels the cells [first, end) that it shows.
 * @param {number} size
 * @param {number} count
 */
function ranges(size, count) {
  return Array.from({ length: size }, (_, y) => {
    if (size < count) return [Math.ceil((y * count) / size), Math.ceil(((y + 1) * count) / size)];
    const cell = Math.floor(((y + 0.5) * count) / size);
    return [cell, cell + 1];
  });
}
