// Panel beside Figure 1: the tensor at the station, its shape, and the lengths along the whole way.

import { Axis } from "../../../components/common/draw/plot.js";
import { ease, formatCount, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { pixelOf, share, value } from "./parts.js";

/** @typedef {import("./flow.js").Flow} Flow */

const HEAD = 84;
const FOOT = 108; // of the chart along the way
const LABEL = 78;
const NORM = 58;

/**
 * @param {Pen} pen
 * @param {Box} area
 * @param {import("./numbers").Moment} moment
 * @param {Flow} scene
 */
export function drawPanel(pen, area, moment, scene) {
  const { context, theme } = pen;
  const { station } = moment;
  const fading = moment.share > 0.75 ? 1 - ease((moment.share - 0.75) / 0.25) * 0.6 : 1;
  const { x, y, width, height } = area;
  const colour = theme.kinds[station.name === "cross_attention" ? "cross" : station.side];
  pen.write(scene.title(station), x, y + 13, { size: 18, weight: 650, most: width });
  pen.note(`${scene.where(station)} \u00b7 ${scene.more(station)}`, x, y + 35, { size: 12.5, most: width });
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
 * @param {Box} area
 * @param {import("./numbers").Stop} station
 * @param {Flow} scene
 * @param {string} colour
 */
function drawNumbers(pen, { x, y, width }, station, scene, colour) {
  const big = { colour, size: 19, weight: 650 };
  const shape = scene.shape(station);
  pen.write(shape, x, y + 62, big);
  const about = scene.texts[station.shape.length > 1 ? "positions_by_numbers" : "positions_only"];
  const left = x + pen.measure(shape, big) + 9;
  pen.note(about, left, y + 63, { most: x + width - left });
  if (station.norm === null) return;
  const half = Math.max(x + width * 0.5, left + pen.measure(about, { size: 12 }) + 18);
  const norm = station.norm.toFixed(2);
  pen.write(norm, half, y + 62, big);
  const next = half + pen.measure(norm, big) + 8;
  pen.note(scene.texts.mean_length, next, y + 63, { most: x + width - next - 2 });
}

/**
 * Place the rows of tokens.
 * @param {Box} area
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
 * @param {ReturnType<typeof rowsOf>} rows
 * @param {number} index
 */
function label(pen, token, { left, at, row, size }, index) {
  const style = { font: pen.theme.code, size, align: "right", most: LABEL - 12 };
  pen.write(tokenText(token), left - 8, at(index) + row / 2, style);
}

/**
 * The vectors of all tokens as colours, with the length of each.
 * @param {Pen} pen
 * @param {Box} area
 * @param {import("./numbers").Stop} station
 * @param {Flow} scene
 * @param {string} colour
 */
function drawTensor(pen, area, station, scene, colour) {
  const { context, theme } = pen;
  const { arrays, values } = scene.lesson;
  const tokens = values.tokens[station.side];
  const rows = rowsOf(area, tokens.length);
  const at = Number(station.index); // what has a tensor has a number
  const data = arrays.tensors.part(at);
  const columns = data.shape[1];
  scene.tensors
    .grid(at, theme.key, tokens.length, columns, (row, column) => pixelOf(theme, value(data.at(row, column))))
    .draw(context, rows.left, rows.at(0), rows.wide, rows.row * tokens.length);
  pen.frame(rows.left - 0.5, rows.at(0) - 0.5, rows.wide + 1, rows.row * tokens.length + 1, theme.line);
  const right = rows.left + rows.wide;
  pen.note(scene.texts.length, right + NORM, area.y + 5, { size: 11, align: "right", most: NORM });
  pen.note(`1 \u2026 ${formatCount(columns)}`, rows.left, area.y + 5, { size: 11 });
  const strong = { colour, size: rows.size, weight: 600, align: "right" };
  tokens.forEach((token, index) => {
    label(pen, token, rows, index);
    pen.write(arrays.stats.at(at, index, 2).toFixed(1), right + NORM, rows.at(index) + rows.row / 2, strong);
    const gap = { colour: theme.background, width: rows.row > 12 ? 1.5 : 0.5 };
    if (index) pen.line(rows.left, rows.at(index), right, rows.at(index), gap);
  });
}

/**
 * Before the embedding a token is a number.
 * @param {Pen} pen
 * @param {Box} area
 * @param {import("./numbers").Stop} station
 * @param {Flow} scene
 */
function drawIds(pen, area, station, scene) {
  const tokens = scene.lesson.values.tokens[station.side];
  const rows = rowsOf(area, tokens.length);
  pen.note(scene.texts.in_vocabulary, rows.left, area.y + 5, { size: 11, most: rows.wide });
  const style = { colour: pen.theme.kinds[station.side], size: rows.size, weight: 600, align: "right" };
  tokens.forEach((token, index) => {
    label(pen, token, rows, index);
    const id = formatCount(scene.lesson.values.ids[station.side][index]);
    pen.write(id, rows.left + 54, rows.at(index) + rows.row / 2, style);
  });
}

/**
 * The likeliest words behind each position: their logits, or their probabilities as bars.
 * @param {Pen} pen
 * @param {Box} area
 * @param {import("./numbers").Stop} station
 * @param {Flow} scene
 */
function drawWords(pen, area, station, scene) {
  const { theme } = pen;
  const tokens = scene.lesson.values.tokens.decoder;
  const rows = rowsOf(area, tokens.length);
  const soft = station.name === "softmax";
  const width = rows.wide + NORM;
  const title = scene.texts[soft ? "likely_probability" : "likely_logit"];
  pen.note(title, rows.left, area.y + 5, { size: 11, most: width });
  const most = width > 300 ? 3 : 2;
  const cell = width / most;
  tokens.forEach((token, index) => {
    label(pen, token, rows, index);
    const candidates = scene.lesson.values.likely[index].slice(0, most);
    candidates.forEach(([token, probability, logit], number) => {
      const x = rows.left + number * cell;
      const up = rows.at(index) + rows.row / 2;
      const long = Math.max(1, (cell - 8) * probability);
      if (soft) pen.fill(x, rows.at(index) + 1.5, long, rows.row - 3, theme.kinds.decoder, 0.25);
      const style = { font: theme.code, size: rows.size, weight: number ? 400 : 700, most: cell - 58 };
      pen.write(tokenText(token), x + 4, up, style);
      const colour = number ? theme.muted : theme.kinds.decoder;
      const figure = soft ? share(probability) : signed(logit, 1);
      pen.write(figure, x + cell - 14, up, { colour, size: rows.size, weight: 600, align: "right" });
    });
  });
}

/** @param {Box} area */
function chartOf({ x, y, width, height }) {
  return { x: x + 26, y: y + height - FOOT + 16, width: width - 34, height: FOOT - 36 };
}

/**
 * The mean length at every station; the stream as a line, what sub-layers give as dots.
 * @param {Pen} pen
 * @param {Box} area
 * @param {import("./numbers").Moment} moment
 * @param {Flow} scene
 */
function drawAlong(pen, area, { number }, scene) {
  const { theme } = pen;
  const { route } = scene;
  const measured = route.flatMap(({ side, name, norm }, at) => (norm === null ? [] : [{ side, name, norm, at }]));
  const most = Math.max(...measured.map(({ norm }) => norm));
  const across = new Axis(0, route.length - 1, area.x, area.x + area.width);
  const up = new Axis(0, most, area.y + area.height, area.y + 4);
  pen.note(scene.texts.along, area.x - 26, area.y - 10, { most: area.width + 34 });
  for (const tick of up.ticks(2)) {
    pen.line(area.x, up.place(tick), area.x + area.width, up.place(tick), { colour: theme.line, width: 1, alpha: 0.7 });
    pen.note(String(tick), area.x - 6, up.place(tick), { size: 11, align: "right" });
  }
  const now = across.place(number);
  pen.line(now, area.y, now, area.y + area.height, { colour: theme.text, width: 1.3 });
  for (const side of ["encoder", "decoder"]) {
    const own = measured.filter((station) => station.side === side);
    const isStream = (/** @type {string} */ name) => ["positions", "add_norm", "embedding"].includes(name);
    const points = own.filter(({ name }) => isStream(name)).map(({ at, norm }) => [across.place(at), up.place(norm)]);
    pen.trace(points, { colour: theme.kinds[side], width: 2 });
    for (const { at, norm, name } of own)
      if (!isStream(name))
        pen.dot(across.place(at), up.place(norm), 2.2, theme.kinds[name === "cross_attention" ? "cross" : side]);
    const middle = (across.place(own[0].at) + across.place(own[own.length - 1].at)) / 2;
    const style = { colour: theme.kinds[side], size: 12, weight: 600, align: "center" };
    pen.write(scene.texts[side], middle, area.y + area.height + 11, style);
  }
  const here = measured.find(({ at }) => at === number);
  if (here) pen.dot(now, up.place(here.norm), 4.5, theme.text, theme.background);
}

/**
 * The station at a point of the chart, or null.
 * @param {Box} area
 * @param {number} x
 * @param {number} y
 * @param {Flow} scene
 */
export function panelAt(area, x, y, { route }) {
  const chart = chartOf(area);
  if (y < chart.y - 4 || y > chart.y + chart.height + 18 || x < chart.x - 10 || x > chart.x + chart.width + 10)
    return null;
  return Math.round(new Axis(0, route.length - 1, chart.x, chart.x + chart.width).value(x));
}
