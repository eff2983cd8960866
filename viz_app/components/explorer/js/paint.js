// A whole head as pixels.

const HATCH = 5; // distance of two hatch lines, in CSS pixels

/**
 * Paints one head to fill a canvas context, every device pixel once.
 *
 * Where a pixel covers several cells it shows the largest of their weights, so a single sharp look never disappears.
 * Masked cells are hatched; rows that are not written yet stay empty.
 */
export function paintHead(context, view, layer, head, theme) {
  const { width, height } = context.canvas;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const columns = cells(width, view.keys.length);
  const rows = cells(height, view.queries.length);
  const period = Math.max(3, Math.round(HATCH * (window.devicePixelRatio || 1)));
  pixels.fill(theme.pixels[0]);
  let above = null;
  for (let y = 0; y < height; y++) {
    const [first, end] = rows[y];
    if (first >= view.rows) break;
    const last = Math.min(end, view.rows);
    const masked = view.causal ? columns.findIndex(([key]) => key >= last) : -1;
    const stop = masked < 0 ? width : masked;
    if (above && above.first === first && above.last === last) {
      pixels.copyWithin(y * width, above.y * width, above.y * width + stop);
    } else {
      paintRow(pixels.subarray(y * width, y * width + stop), view, layer, head, first, last, columns, theme);
      above = { first, last, y };
    }
    for (let x = stop; x < width && columns[x][0] < view.columns; x++) {
      if ((x + y) % period === 0) pixels[y * width + x] = theme.hatchPixel;
    }
  }
  context.putImageData(image, 0, 0);
}

function paintRow(pixels, view, layer, head, first, last, columns, theme) {
  const { values } = view;
  const toColour = view.scale * 255;
  const largest = new Float64Array(pixels.length);
  for (let query = first; query < last; query++) {
    const offset = view.offset(layer, head, query);
    for (let x = 0; x < pixels.length; x++) {
      const [start, end] = columns[x];
      for (let key = start; key < end; key++) largest[x] = Math.max(largest[x], values[offset + key]);
    }
  }
  for (let x = 0; x < pixels.length; x++) pixels[x] = theme.pixels[Math.min(255, Math.round(largest[x] * toColour))];
}

const known = new Map();

/** For each of `size` pixels the cells [first, end) that it shows, of `count` cells. */
function cells(size, count) {
  const key = `${size} ${count}`;
  let ranges = known.get(key);
  if (!ranges) {
    ranges = Array.from({ length: size }, (_, x) => {
      if (size >= count) {
        const cell = Math.floor(((x + 0.5) * count) / size);
        return [cell, cell + 1];
      }
      return [Math.floor((x * count) / size), Math.ceil(((x + 1) * count) / size)];
    });
    if (known.size > 16) known.clear();
    known.set(key, ranges);
  }
  return ranges;
}

/** Gives a canvas its size on the page and in device pixels; returns its context. */
export function resize(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [deviceWidth, deviceHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== deviceWidth) canvas.width = deviceWidth;
  if (canvas.height !== deviceHeight) canvas.height = deviceHeight;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return canvas.getContext("2d");
}
