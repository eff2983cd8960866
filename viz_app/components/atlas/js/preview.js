// A small map of a head on the reader's own sentence.

import { blank, hatch, paintCells } from "../../common/draw/canvas.js";

const HATCH = 4; // CSS pixels between two strokes

/**
 * Draws the map into a square as large as fits; masked cells are hatched.
 * @param {HTMLCanvasElement} canvas
 * @param {AtlasMap} map
 * @param {Theme} theme
 * @param {number} size CSS pixels of the longer side.
 */
export function drawPreview(canvas, { rows, columns, values, causal }, theme, size) {
  const cell = size / Math.max(rows, columns);
  const [width, height] = [Math.round(cell * columns), Math.round(cell * rows)];
  const context = blank(canvas, width, height);
  const cells = document.createElement("canvas");
  paintCells(cells, rows, columns, (row, column) =>
    causal && column > row ? 0 : theme.pixels[values[row * columns + column]],
  );
  if (causal) hatch(context, [0, 0, width, height], theme.hatch, HATCH);
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, 0, 0, width, height);
  context.strokeStyle = theme.line;
  context.strokeRect(0.5, 0.5, width - 1, height - 1);
}
