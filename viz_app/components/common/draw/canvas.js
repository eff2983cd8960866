// Canvases: their context and size, one pixel for each cell of a matrix, hatching.

/**
 * The 2D context, which every browser has that runs the app.
 * @param {HTMLCanvasElement} canvas
 */
export function context2d(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/**
 * Gives a canvas its size on the page and in device pixels; returns its context.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width In CSS pixels.
 * @param {number} height
 */
export function resize(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [deviceWidth, deviceHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== deviceWidth) canvas.width = deviceWidth;
  if (canvas.height !== deviceHeight) canvas.height = deviceHeight;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return context2d(canvas);
}

/**
 * The same for a drawing that starts afresh, in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function blank(canvas, width, height) {
  const context = resize(canvas, width, height);
  const ratio = window.devicePixelRatio || 1;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
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

/**
 * A 32-bit pixel as CSS.
 * @param {number} pixel
 */
export function cssColour(pixel) {
  return `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
}

/**
 * Hatches a rectangle; the lines lie at the same places wherever its corner is.
 * @param {CanvasRenderingContext2D} context
 * @param {number[]} box Left, top, right, bottom.
 * @param {string} colour
 * @param {number} [distance] Of two lines.
 */
export function hatch(context, [left, top, right, bottom], colour, distance = 6) {
  context.save();
  context.beginPath();
  context.rect(left, top, right - left, bottom - top);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let sum = Math.floor((left + top) / distance) * distance; sum < right + bottom; sum += distance) {
    context.moveTo(sum - bottom, bottom);
    context.lineTo(sum - top, top);
  }
  context.stroke();
  context.restore();
}
