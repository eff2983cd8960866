// What stands beside Figure 1: the tensor at the station, its shape, and the lengths along the whole way.

import { ease, grouped, signed } from "../../../components/common/format.js";
import { Axis, dot, trace, write } from "../../../components/common/plot.js";
import { frame } from "../../stage/js/grid.js";
import { pixelOf, plain, share, value } from "./parts.js";

const HEAD = 84;
const FOOT = 108; // of the chart along the way
const LABEL = 78;
const NORM = 58;

/**
 * @param {Pen} pen
 * @param {{ x: number, y: number, width: number, height: number }} area
 * @param {any} moment
 * @param {any} scene
 */
export function drawPanel(pen, area, moment, scene) {
  const { context, theme } = pen;
  const { station } = moment;
  const fading = moment.share > 0.75 ? 1 - ease((moment.share - 0.75) / 0.25) * 0.6 : 1;
  const { x, y, width, height } = area;
  const colour = theme.kinds[station.name === "cross_attention" ? "cross" : station.side];
  write(context, scene.title(station), x, y + 13, {
    colour: theme.text,
    font: theme.font,
    size: 18,
    weight: 650,
    most: width,
  });
  write(context, `${scene.where(station)} \u00b7 ${scene.more(station)}`, x, y + 35, {
    colour: theme.muted,
    font: theme.font,
    size: 12.5,
    most: width,
  });
  drawNumbers(pen, area, station, scene, colour);
  const place = { x, y: y + HEAD, width, height: height - HEAD - FOOT - 12 };
  context.globalAlpha = fading;
  if (station.name === "ids") drawIds(pen, place, station, scene);
  else if (station.name === "linear" || station.name === "softmax") drawWords(pen, place, station, scene);
  else drawTensor(pen, place, station, scene, colour);
  context.globalAlpha = 1;
  drawAlong(pen, chartOf(area), moment, scene);
}

/**
 * Shape and mean length, large.
 * @param {Pen} pen
 * @param {{ x: number, y: number, width: number }} given
 * @param {any} station
 * @param {any} scene
 * @param {string} colour
 */
function drawNumbers({ context, theme }, { x, y, width }, station, scene, colour) {
  const big = { colour, font: theme.font, size: 19, weight: 650 };
  const small = { colour: theme.muted, font: theme.font, size: 12 };
  const text = scene.shape(station);
  write(context, text, x, y + 62, big);
  context.font = `${big.weight} ${big.size}px ${theme.font}`;
  const wide = context.measureText(text).width;
  const about = scene.texts[station.shape.length > 1 ? "positions_by_numbers" : "positions_only"];
  context.font = `400 12px ${theme.font}`;
  const half = Math.max(x + width * 0.5, x + wide + 9 + context.measureText(about).width + 18);
  write(context, about, x + wide + 9, y + 63, { ...small, most: x + width - wide - 9 });
  if (station.norm === null) return;
  write(context, station.norm.toFixed(2), half, y + 62, big);
  context.font = `${big.weight} ${big.size}px ${theme.font}`;
  const used = context.measureText(station.norm.toFixed(2)).width;
  write(context, scene.texts.mean_length, half + used + 8, y + 63, { ...small, most: x + width - half - used - 10 });
}

/**
 * Where the rows of tokens stand.
 * @param {{ x: number, y: number, width: number, height: number }} given
 * @param {number} count
 */
function rowsOf({ x, y, width, height }, count) {
  const row = Math.min(42, (height - 18) / count);
  return {
    left: x + LABEL,
    wide: width - LABEL - NORM,
    row,
    /** @param {number} index */
    at: (index) => y + 16 + index * row,
    size: Math.max(9, Math.min(row > 34 ? 15 : 13, row - 2)),
  };
}

/**
 * @param {Pen} pen
 * @param {string} token
 * @param {{ left: number, at: any, row: number, size: number }} given
 * @param {number} index
 */
function label({ context, theme }, token, { left, at, row, size }, index) {
  write(context, plain(token), left - 8, at(index) + row / 2, {
    colour: theme.text,
    font: theme.code,
    size,
    align: "right",
    most: LABEL - 12,
  });
}

/**
 * The vectors of all tokens as colours, with the length of each.
 * @param {Pen} pen
 * @param {{ x: number, y: number, width: number, height: number }} area
 * @param {any} station
 * @param {any} scene
 * @param {string} colour
 */
function drawTensor(pen, area, station, scene, colour) {
  const { context, theme } = pen;
  const { arrays, values } = scene.lesson;
  const tokens = values.tokens[station.side];
  const rows = rowsOf(area, tokens.length);
  const data = arrays.tensors.part(station.index);
  const grid = scene.tensors.grid(station.index, theme, tokens.length, data.shape[1], (row, column) =>
    pixelOf(theme, value(data.at(row, column))),
  );
  grid.draw(context, rows.left, rows.at(0), rows.wide, rows.row * tokens.length);
  frame(context, rows.left - 0.5, rows.at(0) - 0.5, rows.wide + 1, rows.row * tokens.length + 1, theme.line);
  const quiet = { colour: theme.muted, font: theme.font, size: 11 };
  write(context, scene.texts.length, rows.left + rows.wide + NORM, area.y + 5, {
    ...quiet,
    align: "right",
    most: NORM,
  });
  write(context, `1 \u2026 ${grouped(data.shape[1])}`, rows.left, area.y + 5, quiet);
  tokens.forEach((token, index) => {
    label(pen, token, rows, index);
    const length = arrays.stats.at(station.index, index, 2);
    write(context, length.toFixed(1), rows.left + rows.wide + NORM, rows.at(index) + rows.row / 2, {
      colour: colour,
      font: theme.font,
      size: rows.size,
      weight: 600,
      align: "right",
    });
    if (index)
      trace(
        context,
        [
          [rows.left, rows.at(index)],
          [rows.left + rows.wide, rows.at(index)],
        ],
        { colour: theme.background, width: rows.row > 12 ? 1.5 : 0.5 },
      );
  });
}

/**
 * Before the embedding a token is a number.
 * @param {Pen} pen
 * @param {{ x: number, y: number, width: number, height: number }} area
 * @param {any} station
 * @param {any} scene
 */
function drawIds(pen, area, station, scene) {
  const { context, theme } = pen;
  const tokens = scene.lesson.values.tokens[station.side];
  const rows = rowsOf(area, tokens.length);
  write(context, scene.texts.in_vocabulary, rows.left, area.y + 5, {
    colour: theme.muted,
    font: theme.font,
    size: 11,
    most: rows.wide,
  });
  tokens.forEach((token, index) => {
    label(pen, token, rows, index);
    write(
      context,
      grouped(scene.lesson.values.ids[station.side][index]),
      rows.left + 54,
      rows.at(index) + rows.row / 2,
      { colour: theme.kinds[station.side], font: theme.font, size: rows.size, weight: 600, align: "right" },
    );
  });
}

/**
 * The likeliest words behind each position: their logits, or their probabilities as bars.
 * @param {Pen} pen
 * @param {{ x: number, y: number, width: number, height: number }} area
 * @param {any} station
 * @param {any} scene
 */
function drawWords(pen, area, station, scene) {
  const { context, theme } = pen;
  const tokens = scene.lesson.values.tokens.decoder;
  const rows = rowsOf(area, tokens.length);
  const soft = station.name === "softmax";
  write(context, scene.texts[soft ? "likely_probability" : "likely_logit"], rows.left, area.y + 5, {
    colour: theme.muted,
    font: theme.font,
    size: 11,
    most: rows.wide + NORM,
  });
  const most = rows.wide + NORM > 300 ? 3 : 2;
  const cell = (rows.wide + NORM) / most;
  tokens.forEach((token, index) => {
    label(pen, token, rows, index);
    scene.written(index, most).forEach(({ piece, probability, logit }, number) => {
      const x = rows.left + number * cell;
      const up = rows.at(index) + rows.row / 2;
      if (soft) {
        context.fillStyle = theme.kinds.decoder;
        context.globalAlpha *= 0.25;
        context.fillRect(x, rows.at(index) + 1.5, Math.max(1, (cell - 8) * probability), rows.row - 3);
        context.globalAlpha /= 0.25;
      }
      write(context, piece, x + 4, up, {
        colour: theme.text,
        font: theme.code,
        size: rows.size,
        weight: number ? 400 : 700,
        most: cell - 58,
      });
      write(context, soft ? share(probability) : signed(logit, 1), x + cell - 14, up, {
        colour: number ? theme.muted : theme.kinds.decoder,
        font: theme.font,
        size: rows.size,
        weight: 600,
        align: "right",
      });
    });
  });
}

/** @param {{ x: number, y: number, width: number, height: number }} given */
function chartOf({ x, y, width, height }) {
  return { x: x + 26, y: y + height - FOOT + 16, width: width - 34, height: FOOT - 36 };
}

/**
 * The mean length at every station; the stream as a line, what sub-layers give as dots.
 * @param {Pen} pen
 * @param {{ x: number, y: number, width: number, height: number }} area
 * @param {any} place
 * @param {any} scene
 */
function drawAlong({ context, theme }, area, { number }, scene) {
  const { route } = scene;
  const told = route.map((station, at) => ({ ...station, at })).filter(({ norm }) => norm !== null);
  const most = Math.max(...told.map(({ norm }) => norm));
  const across = new Axis(0, route.length - 1, area.x, area.x + area.width);
  const up = new Axis(0, most, area.y + area.height, area.y + 4);
  write(context, scene.texts.along, area.x - 26, area.y - 10, {
    colour: theme.muted,
    font: theme.font,
    size: 12,
    most: area.width + 34,
  });
  for (const tick of up.ticks(2)) {
    trace(
      context,
      [
        [area.x, up.place(tick)],
        [area.x + area.width, up.place(tick)],
      ],
      { colour: theme.line, width: 1, alpha: 0.7 },
    );
    write(context, String(tick), area.x - 6, up.place(tick), {
      colour: theme.muted,
      font: theme.font,
      size: 11,
      align: "right",
    });
  }
  const now = across.place(number);
  trace(
    context,
    [
      [now, area.y],
      [now, area.y + area.height],
    ],
    { colour: theme.text, width: 1.3 },
  );
  for (const side of ["encoder", "decoder"]) {
    const own = told.filter((station) => station.side === side);
    const stream = own.filter(({ name }) => name === "positions" || name === "add_norm" || name === "embedding");
    trace(
      context,
      stream.map(({ at, norm }) => [across.place(at), up.place(norm)]),
      { colour: theme.kinds[side], width: 2 },
    );
    for (const { at, norm, name } of own)
      if (!stream.some((each) => each.at === at))
        dot(context, across.place(at), up.place(norm), 2.2, theme.kinds[name === "cross_attention" ? "cross" : side]);
    const middle = (across.place(own[0].at) + across.place(own.at(-1).at)) / 2;
    write(context, scene.texts[side], middle, area.y + area.height + 11, {
      colour: theme.kinds[side],
      font: theme.font,
      size: 12,
      weight: 600,
      align: "center",
    });
  }
  const here = told.find(({ at }) => at === number);
  if (here) dot(context, now, up.place(here.norm), 4.5, theme.text, theme.background);
}

/**
 * The station at a point of the chart, or null.
 * @param {{ x: number, y: number, width: number, height: number }} area
 * @param {number} x
 * @param {number} y
 * @param {any} scene
 */
export function panelAt(area, x, y, { route }) {
  const chart = chartOf(area);
  if (y < chart.y - 4 || y > chart.y + chart.height + 18 || x < chart.x - 10 || x > chart.x + chart.width + 10)
    return null;
  return Math.round(new Axis(0, route.length - 1, chart.x, chart.x + chart.width).value(x));
}
