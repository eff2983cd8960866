// The sentence on its way through Figure 1: its tokens as dots, and the encoder's output that flows into the decoder.

import { ease } from "../../../components/common/text/format.js";
import { mix } from "./parts.js";
import { acrossOf, boxOf, RAISED } from "./route.js";

/** @typedef {import("./flow.js").Flow} Flow */

const DOT = 3.2;

/**
 * The tokens of the sentence as dots, on the way to the next station.
 * @param {Pen} pen
 * @param {import("./numbers").Places} places
 * @param {import("./numbers").Moment} moment
 * @param {Flow} scene
 */
export function drawSentence(pen, places, { station, next, share }, scene) {
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
 * Place the dots of a station at the upper edge of its box.
 * @param {import("./numbers").Places} places
 * @param {import("./numbers").Stop} station
 */
function pointOf({ boxes, middle }, station) {
  const { y } = boxes[boxOf(station)];
  return [middle[station.side], station.name === "ids" ? y - 2 : y];
}
