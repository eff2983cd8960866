// A head on a canvas.

import { hatch, paintCells } from "../../common/draw/canvas.js";

const HATCH = 4; // CSS pixels between two strokes

/**
 * Draws a map into a rectangle; colour by the theme's scale from 0 to 1, what is masked hatched.
 * @param {CanvasRenderingContext2D} context
 * @param {GrowthMap} map
 * @param {Theme} theme
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
export function drawCells(context, map, theme, left, top, width, height) {
  const { queries, keys, values } = map;
  const cells = document.createElement("canvas");
  paintCells(cells, queries.length, keys.length, (query, key) =>
    map.masked(query, key) ? 0 : theme.pixels[values[query * keys.length + key]],
  );
  if (map.causal) hatch(context, [left, top, left + width, top + height], theme.hatch, HATCH);
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, left, top, width, height);
}
