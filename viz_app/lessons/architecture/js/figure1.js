// Draws Figure 1 with the sentence at one of its stations.

import { arrow, box, faint } from "./parts.js";
import { acrossOf, boxOf, layersOf, placesOf, SIDES } from "./route.js";
import { drawSentence } from "./sentence.js";

/** @typedef {import("./flow.js").Flow} Flow */

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
 * Draw inputs and outputs.
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
