// Canvases: their context, and one pixel for each cell of a matrix.

/**
 * The 2D context, which every browser has that runs the app.
 * @param {HTMLCanvasElement} canvas
 */
export function context2d(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/**
 * Makes a canvas one pixel for each cell of a matrix, and paints it.
 * @param {HTMLCanvasElement} canvas
 * @param {number} rows
 * @param {number} columns
 * @param {(row: number, column: number) => number} pixelAt The colour as a 32-bit pixel, in the byte order of canvases.
 */
export function paintCells(canvas, rows, columns, pixelAt) {
  canvas.width = columns;
  canvas.height = rows;
  const context = context2d(canvas);
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) pixels[row * columns + column] = pixelAt(row, column);
  context.putImageData(image, 0, 0);
}
