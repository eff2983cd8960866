// Draws Figure 1 with the sentence at one of its stations.

import { ease } from "../../../components/common/format.js";
import { arrow, box, faint, mix } from "./parts.js";
import { boxOf, layersOf, placesOf } from "./route.js";

/** @typedef {import("./flow.js").Flow} Flow */

/** @type {import("./numbers").Side[]} */
const SIDES = ["encoder", "decoder"];
const DOT = 3.2;
const RAISED = 13; // how far above a stack the sentence goes before the next layer takes it in

/**
 * `scene` has route, texts, lesson; `moment` comes from the scene.
 * @param {Pen} pen
 * @param {Box} area
 * @param {import("./numbers").Moment} moment
 * @param {Flow} scene
 */
export function drawFigure(pen, area, moment, scene) {
  const places = placesOf(area);
  drawStacks(pen, places, scene, moment);
  drawWays(pen, places, moment);
  for (const [name, place] of Object.entries(places.boxes)) drawBox(pen, name, place, moment, scene);
  drawEnds(pen, places, scene);
  drawSentence(pen, places, moment, scene);
}

/**
 * The frames of the N layers, and the layers as numbers.
 * @param {Pen} pen
 * @param {import("./numbers").Places} places
 * @param {Flow} scene
 * @param {import("./numbers").Moment} moment
 */
function drawStacks(pen, places, scene, { station }) {
  const { theme } = pen;
  const count = scene.lesson.values.model.num_layers;
  for (const side of SIDES) {
    const { x, y, width, height } = places.frames[side];
    pen.box(x, y, width, height, { fill: faint(theme.muted, 0.07), line: theme.line, thick: 1, radius: 10 });
    layersOf(places, side, count).forEach(({ layer, x: at, y: up }) => {
      const here = station.side === side && station.layer === layer;
      if (here) pen.dot(at, up, 9, theme.kinds[side]);
      pen.write(String(layer + 1), at, up + 0.5, {
        colour: here ? theme.background : theme.muted,
        size: 11.5,
        weight: here ? 700 : 400,
        align: "center",
      });
    });
  }
}

/**
 * Arrows up both columns, round the sub-layers, and from the encoder into the decoder.
 * @param {Pen} pen
 * @param {import("./numbers").Places} places
 * @param {import("./numbers").Moment} moment
 */
function drawWays(pen, places, { station }) {
  const { boxes, middle, gap } = places;
  const { kinds, mark: quiet } = pen.theme;
  for (const side of SIDES) {
    const x = middle[side];
    /** @param {string} name */
    const at = (name) => boxes[`${side} ${name}`];
    const chain = [
      "ids",
      "embedding",
      "positions",
      "self_attention",
      ...(side === "decoder" ? ["cross_attention"] : []),
      "feed_forward",
      ...(side === "decoder" ? ["linear", "softmax"] : []),
    ];
    chain.slice(1).forEach((name, index) => {
      const from = at(`add_norm ${chain[index]}`) ?? at(chain[index]);
      arrow(pen, [x, from.y, x, at(name).y + at(name).height], quiet);
    });
    for (const name of ["self_attention", "cross_attention", "feed_forward"]) {
      if (!at(name)) continue;
      const lit = station.side === side && station.name === "add_norm" && station.sublayer === name;
      const out = side === "encoder" ? at(name).x - 8 : at(name).x + at(name).width + 8;
      const norm = at(`add_norm ${name}`);
      const edge = side === "encoder" ? norm.x : norm.x + norm.width;
      const low = at(name).y + at(name).height + Math.min(7, gap * 0.4);
      const high = norm.y + norm.height / 2;
      arrow(pen, [x, low, out, low, out, high, edge, high], lit ? kinds[side] : quiet, lit ? 2.4 : 1.3);
    }
  }
  const out = boxes["decoder softmax"];
  arrow(pen, [middle.decoder, out.y, middle.decoder, out.y - 9], quiet);
  const lit = station.name === "cross_attention";
  arrow(pen, acrossOf(places).flat(), lit ? kinds.cross : quiet, lit ? 2.4 : 1.3);
}

/**
 * The way of the encoder's output into the decoder.
 * @param {import("./numbers").Places} places
 */
function acrossOf({ boxes, frames, middle, channel }) {
  const cross = boxes["decoder cross_attention"];
  const top = frames.encoder.y - RAISED;
  const y = cross.y + cross.height / 2;
  return [
    [middle.encoder, boxes["encoder add_norm feed_forward"].y],
    [middle.encoder, top],
    [channel, top],
    [channel, y],
    [cross.x, y],
  ];
}

/**
 * @param {import("./numbers").Side} side
 * @param {string} key
 * @param {Theme} theme
 */
function colourOf(side, key, theme) {
  if (key === "cross_attention") return theme.kinds.cross;
  if (key === "self_attention") return theme.kinds[side];
  return key.startsWith("add_norm") ? theme.mark : theme.muted;
}

/**
 * @param {Pen} pen
 * @param {string} name
 * @param {Box} place
 * @param {import("./numbers").Moment} moment
 * @param {Flow} scene
 */
function drawBox(pen, name, place, { station }, scene) {
  const { theme } = pen;
  const side = name.startsWith("encoder") ? "encoder" : "decoder";
  const key = name.slice(side.length + 1);
  const here = boxOf(station) === name;
  if (key === "ids") return;
  if (key === "positions") {
    drawPlus(pen, place, side, here, scene);
    return;
  }
  const norm = key.startsWith("add_norm");
  const own = colourOf(side, key, theme);
  const strong = theme.kinds[key === "cross_attention" ? "cross" : side];
  const masked = key === "self_attention" && side === "decoder";
  const text = scene.texts[`box_${norm ? "add_norm" : masked ? "masked_attention" : key}`];
  const lines = place.height > 26 ? text.split("\n") : [text.replace("\n", " ")];
  box(pen, place, lines, {
    fill: faint(here ? strong : own, here ? 0.3 : norm ? 0.1 : 0.13),
    line: here ? strong : faint(own, 0.75),
    weight: here ? 2.5 : 1,
    size: place.height < 20 ? 11 : 12,
    bold: here ? 650 : 400,
  });
}

/**
 * The sum of embedding and position, with the wave that is added.
 * @param {Pen} pen
 * @param {Box} place
 * @param {import("./numbers").Side} side
 * @param {boolean} here
 * @param {Flow} scene
 */
function drawPlus(pen, { x, y, width, height }, side, here, scene) {
  const { theme } = pen;
  const [middle, up] = [x + width / 2, y + height / 2];
  const way = side === "encoder" ? -1 : 1;
  const wave = middle + way * (width / 2 - 6);
  const colour = here ? theme.kinds[side] : theme.muted;
  pen.line(wave - way * 13, up, middle + way * 9, up, { colour: theme.mark, width: 1.3 });
  const points = Array.from({ length: 25 }, (_, i) => [
    wave - 9 + (18 * i) / 24,
    up - 5 * Math.sin((2 * Math.PI * i) / 24),
  ]);
  pen.dot(wave, up, 12, theme.background, colour);
  pen.trace(points, { colour, width: 1.6 });
  pen.dot(middle, up, 8, here ? theme.kinds[side] : theme.background, colour);
  pen.write("+", middle, up + 0.5, {
    colour: here ? theme.background : colour,
    size: 15,
    weight: 600,
    align: "center",
  });
  const room = Math.abs(wave - middle) - 28;
  pen.write(scene.texts.box_positions, middle - way * 14, up, {
    colour: here ? theme.text : theme.muted,
    size: 11,
    align: side === "encoder" ? "left" : "right",
    most: Math.max(room, width / 2 - 10),
  });
}

/**
 * What goes in and what comes out.
 * @param {Pen} pen
 * @param {import("./numbers").Places} places
 * @param {Flow} scene
 */
function drawEnds(pen, { boxes, middle }, scene) {
  const style = { size: 12, align: "center" };
  for (const side of SIDES) {
    const { y, height, width } = boxes[`${side} ids`];
    pen.write(scene.texts[`box_inputs_${side}`], middle[side], y + height / 2 + 2, { ...style, most: width + 30 });
  }
  const { y, width } = boxes["decoder softmax"];
  pen.write(scene.texts.box_out, middle.decoder, y - 17, { ...style, most: width + 40 });
}

/**
 * The tokens of the sentence as dots, on the way to the next station.
 * @param {Pen} pen
 * @param {import("./numbers").Places} places
 * @param {import("./numbers").Moment} moment
 * @param {Flow} scene
 */
function drawSentence(pen, places, { station, next, share }, scene) {
  const { context, theme } = pen;
  const moved = ease(share);
  const [from, to] = [pointOf(places, station), next ? pointOf(places, next) : null];
  const side = next && moved > 0.5 ? next.side : station.side;
  const tokens = scene.lesson.values.tokens[side];
  let [x, y] = from;
  let alpha = 1;
  if (to && moved > 0) {
    const climbs =
      station.side === next.side && (station.layer === null || next.layer === null || next.layer === station.layer);
    if (climbs) [x, y] = [mix(from[0], to[0], moved), mix(from[1], to[1], moved)];
    else {
      // Out at the top, and in again below: of the next layer, or of the decoder.
      const leaves = moved < 0.5;
      const part = leaves ? 2 * moved : 2 * moved - 1;
      [x, y] = leaves ? [from[0], from[1] - part * 2 * RAISED] : [to[0], to[1] + (1 - part) * 2 * RAISED];
      alpha = leaves ? 1 - part : part;
    }
  }
  const place = places.boxes[boxOf(station)];
  const step = Math.min(8, (place.width - 16) / tokens.length);
  context.globalAlpha = alpha;
  const radius = Math.min(DOT, step * 0.42);
  const left = x - ((tokens.length - 1) / 2) * step;
  tokens.forEach((_, index) => pen.dot(left + index * step, y, radius, theme.kinds[side], theme.background));
  context.globalAlpha = 1;
  drawMemory(pen, places, station, next, moved, scene);
}

/**
 * The encoder's output flows into every layer's encoder-decoder attention.
 * @param {Pen} pen
 * @param {import("./numbers").Places} places
 * @param {import("./numbers").Stop} station
 * @param {import("./numbers").Stop | null} next
 * @param {number} moved
 * @param {Flow} scene
 */
function drawMemory(pen, places, station, next, moved, scene) {
  const { theme } = pen;
  if (next?.name !== "cross_attention" || moved === 0 || station.side === "encoder") return;
  const way = acrossOf(places);
  const lengths = way.slice(1).map(([x, y], index) => Math.abs(x - way[index][0]) + Math.abs(y - way[index][1]));
  const whole = lengths.reduce((sum, each) => sum + each, 0);
  const count = scene.lesson.values.tokens.encoder.length;
  for (let index = 0; index < count; index++) {
    const gone = moved * (whole + 5 * count) - 5 * index;
    if (gone < 0 || gone > whole) continue;
    let rest = gone;
    let part = 0;
    while (part < lengths.length - 1 && rest > lengths[part]) rest -= lengths[part++];
    const [x, y] = [0, 1].map((axis) => mix(way[part][axis], way[part + 1][axis], rest / lengths[part]));
    pen.dot(x, y, 2.6, theme.kinds.encoder, theme.background);
  }
}

/**
 * Where the dots stand at a station: at the upper edge of its box, out of which they come.
 * @param {import("./numbers").Places} places
 * @param {import("./numbers").Stop} station
 */
function pointOf({ boxes, middle }, station) {
  const { y } = boxes[boxOf(station)];
  return [middle[station.side], station.name === "ids" ? y - 2 : y];
}

/**
 * The number of the station at a point: in the layer that is shown, or in the one whose number was pressed; or null.
 * @param {Box} area
 * @param {number} x
 * @param {number} y
 * @param {number} number
 * @param {Flow} scene
 */
export function stationAt(area, x, y, number, { route, lesson }) {
  const places = placesOf(area);
  const now = route[number];
  const { num_layers: count } = lesson.values.model;
  for (const side of SIDES) {
    const pressed = layersOf(places, side, count).find(
      (each) => Math.abs(each.x - x) < 12 && Math.abs(each.y - y) < 11,
    );
    if (!pressed) continue;
    const same = now.side === side && now.sublayer !== null ? boxOf(now) : `${side} self_attention`;
    return route.findIndex((station) => boxOf(station) === same && station.layer === pressed.layer);
  }
  const margin = 4;
  const found = Object.entries(places.boxes).find(
    ([, place]) =>
      x > place.x - margin &&
      x < place.x + place.width + margin &&
      y > place.y - margin &&
      y < place.y + place.height + margin,
  );
  if (!found) return null;
  const fitting = route.filter((station) => boxOf(station) === found[0]);
  const layer = now.layer ?? (now.name === "linear" || now.name === "softmax" ? count - 1 : 0);
  return route.indexOf(fitting.find((station) => station.layer === layer) ?? fitting[0]);
}
