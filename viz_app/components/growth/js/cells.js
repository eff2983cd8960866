// A head on a canvas: a rectangle of whole device pixels for each weight.

import { context2d } from "../../common/canvas.js";

const HATCH = 4; // CSS pixels between two strokes

/**
 * Gives a canvas a size in CSS pixels, sharp on every screen.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = context2d(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

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
  const [rows, columns] = [map.queries.length, map.keys.length];
  const ratio = window.devicePixelRatio || 1;
  /** @param {number} value */
  const sharp = (value) => Math.round(value * ratio) / ratio;
  /** @param {number} key */
  const x = (key) => sharp(left + (key * width) / columns);
  /** @param {number} query */
  const y = (query) => sharp(top + (query * height) / rows);
  for (let query = 0; query < rows; query++) {
    for (let key = 0; key < columns; key++) {
      const box = [x(key), y(query), x(key + 1) - x(key), y(query + 1) - y(query)];
      if (map.masked(query, key)) continue;
      context.fillStyle = css(theme.pixels[map.values[query * columns + key]]);
      context.fillRect(box[0], box[1], box[2], box[3]);
    }
  }
  hatch(context, map, theme, x, y);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {GrowthMap} map
 * @param {Theme} theme
 * @param {(key: number) => number} x
 * @param {(query: number) => number} y
 */
function hatch(context, map, theme, x, y) {
  const [rows, columns] = [map.queries.length, map.keys.length];
  context.save();
  context.beginPath();
  for (let query = 0; query < rows; query++) {
    for (let key = 0; key < columns; key++) {
      if (map.masked(query, key)) context.rect(x(key), y(query), x(key + 1) - x(key), y(query + 1) - y(query));
    }
  }
  context.clip();
  context.beginPath();
  const [from, to, down] = [x(0), x(columns), y(rows) - y(0)];
  for (let start = from - down; start < to; start += HATCH) {
    context.moveTo(start, y(rows));
    context.lineTo(start + down, y(0));
  }
  context.strokeStyle = theme.hatch;
  context.lineWidth = 0.8;
  context.stroke();
  context.restore();
}

/** @param {any} pixel */
function css(pixel) {
  return `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
}
