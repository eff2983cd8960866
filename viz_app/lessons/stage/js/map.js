// Attention maps: a small one in one colour, and a large one with the labels of both axes.

import { hatch } from "../../../components/common/draw/canvas.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { Grid } from "./grid.js";

const READABLE = 7; // pixels below which a row or column has no label of its own

/**
 * Bytes (Q, K) -> a grid of Q x K cells; `paint(weight)` gives a 32-bit pixel for 0 to 255.
 * @param {NdArray} weights
 * @param {(weight: number) => number} paint
 */
export function picture(weights, paint) {
  const [rows, columns] = weights.shape;
  const grid = new Grid();
  grid.paint("", rows, columns, (row, column) => paint(weights.data[row * columns + column]));
  return grid;
}

/**
 * Paints weights as more or less of one colour, "#rrggbb".
 * @param {string} colour
 */
export function tint(colour) {
  const [red, green, blue] = [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
  return (/** @type {number} */ weight) =>
    ((Math.round(255 * Math.sqrt(weight / 255)) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/**
 * Labels and titles of the axes of a kind of attention.
 * @param {Record<AxisName, string[]>} axes
 * @param {Kind} kind
 * @param {Texts} texts
 */
export function mapAxes({ source, inputs, outputs }, kind, texts) {
  return {
    queries: kind === "encoder" ? source : kind === "decoder" ? inputs : outputs,
    keys: kind === "decoder" ? inputs : source,
    titles: [texts[`query_${kind}`], texts[`key_${kind}`]],
  };
}

/**
 * A large map.
 * @param {Pen} pen
 * @param {NdArray} weights Bytes (Q, K).
 * @param {{ queries: string[], keys: string[], titles: string[] }} axes
 * @param {Box & { row?: number | null, masked?: boolean }} place With the labels; `row` is lit, or null; `masked`: keys after the query are.
 * @returns {{ left: number, top: number, cell: number }} Of the cells.
 */
export function drawMap(pen, weights, { queries, keys, titles }, place) {
  const { context, theme } = pen;
  const { x, y, width, height, row = null, masked = false } = place;
  const side = Math.min(92, width * 0.28);
  const head = Math.min(74, height * 0.26);
  const cell = Math.min((width - side) / keys.length, (height - head) / queries.length, 72);
  const [left, top, wide, tall] = [x + side, y + head, cell * keys.length, cell * queries.length];
  picture(weights, (weight) => theme.pixels[weight]).draw(context, left, top, wide, tall);
  for (let query = 0; masked && query < Math.min(queries.length, keys.length - 1); query++) {
    const y = top + query * cell;
    hatch(context, [left + (query + 1) * cell, y, left + wide, y + cell], theme.hatch);
  }
  pen.frame(left - 0.5, top - 0.5, wide + 1, tall + 1, theme.line);
  const size = Math.max(8, Math.min(cell > 44 ? 16 : 13, cell - 1));
  const weightsOfRow = row === null ? null : weights.part(row).data;
  const lit = weightsOfRow ? weightsOfRow.indexOf(Math.max(...weightsOfRow)) : -1;
  /** @param {boolean} on */
  const style = (on) => ({
    colour: on || row === null ? theme.text : theme.muted,
    font: theme.code,
    size,
    weight: on ? 700 : 400,
  });
  queries.forEach((token, query) => {
    if (cell < READABLE && query !== row) return;
    const beside = { ...style(query === row), align: "right", most: side - 22 };
    pen.write(tokenText(token), left - 7, top + (query + 0.5) * cell, beside);
  });
  keys.forEach((token, key) => {
    if (cell < READABLE && key !== lit) return;
    const above = { ...style(key === lit), turn: -Math.PI / 3.2, most: head + 6 };
    pen.write(tokenText(token), left + (key + 0.5) * cell, top - 7, above);
  });
  const title = { size: 11, align: "center" };
  pen.note(titles[0], x + 7, top + tall / 2, { ...title, turn: -Math.PI / 2 });
  pen.note(titles[1], left + wide / 2, top + tall + 12, title);
  if (row !== null) pen.frame(left - 1, top + row * cell, wide + 2, cell, theme.text, 1.5);
  return { left, top, cell };
}
