// The stations of Figure 1 in the order in which a sentence passes them, and where they stand in a rectangle.

const [BOX, TALL, THIN] = [24, 33, 17]; // heights: a box, one with two lines, Add & Norm
const TIGHT = 3; // between a sub-layer and its Add & Norm
export const RAISED = 13; // how far above a stack the sentence goes before the next layer takes it in
/** @type {import("./numbers").Side[]} */
export const SIDES = ["encoder", "decoder"];

/**
 * All stations: those that the model was listened to at, the ids before them, softmax after them.
 * @param {import("./numbers").Values} values
 */
export function routeOf({ stations }) {
  const none = { layer: null, sublayer: null, norm: null, index: null };
  /** @type {import("./numbers").Stop[]} */
  const all = [];
  stations.forEach((station, index) => {
    const { side, name, shape, norm } = station;
    if (name === "embedding") all.push({ ...none, side, name: "ids", shape: shape.slice(0, 1) });
    all.push({ ...station, norm: name === "linear" ? null : norm, index });
  });
  all.push({ ...none, side: "decoder", name: "softmax", shape: stations[stations.length - 1].shape });
  return all;
}

/**
 * The box of a station: the same for all layers.
 * @param {import("./numbers").Stop} station
 */
export function boxOf({ side, name, sublayer }) {
  return name === "add_norm" ? `${side} add_norm ${sublayer}` : `${side} ${name}`;
}

/**
 * Rectangles of all boxes by the names of `boxOf`, { x, y, width, height }, from bottom to top as in the paper.
 * Also { encoder, decoder } frames and the middles of the columns.
 * @param {Box} area
 */
export function placesOf({ x, y, width, height }) {
  const side = 39; // for the layers' numbers and the way round a sub-layer
  const between = 40;
  const column = (width - 2 * side - between) / 2;
  const left = x + side;
  const right = left + column + between;
  const fixed = 16 + BOX + 18 + 2 * (TALL + THIN + TIGHT) + (BOX + THIN + TIGHT) + 2 * BOX + 16;
  const gap = (height - fixed) / 8.6;
  /** @type {Record<string, Box>} */
  const boxes = {};
  /** @param {import("./numbers").Side} name */
  const stack = (name) => {
    const at = name === "encoder" ? left : right;
    /**
     * @param {string} key
     * @param {number} bottom
     * @param {number} tall
     */
    const put = (key, bottom, tall) => {
      boxes[`${name} ${key}`] = { x: at, y: bottom - tall, width: column, height: tall };
      return bottom - tall;
    };
    let bottom = put("ids", y + height, 16) - 0.7 * gap;
    bottom = put("embedding", bottom, BOX) - gap;
    bottom = put("positions", bottom, 18) - 1.5 * gap;
    const foot = bottom + 0.75 * gap;
    bottom = put("self_attention", bottom, TALL);
    bottom = put("add_norm self_attention", bottom - TIGHT, THIN) - gap;
    if (name === "decoder") {
      bottom = put("cross_attention", bottom, TALL);
      bottom = put("add_norm cross_attention", bottom - TIGHT, THIN) - gap;
    }
    bottom = put("feed_forward", bottom, BOX);
    bottom = put("add_norm feed_forward", bottom - TIGHT, THIN);
    if (name === "decoder") put("softmax", put("linear", bottom - 1.5 * gap, BOX) - 0.8 * gap, BOX);
    return { x: at - 15, y: bottom - 8, width: column + 30, height: foot - bottom + 8 };
  };
  return {
    frames: { encoder: stack("encoder"), decoder: stack("decoder") },
    boxes,
    gap,
    middle: { encoder: left + column / 2, decoder: right + column / 2 },
    channel: left + column + between / 2,
  };
}

/**
 * Place the numbers of the layers beside a stack: [{ layer, x, y }].
 * @param {{ frames: Record<string, Box> }} places
 * @param {string} side
 * @param {number} count
 */
export function layersOf({ frames }, side, count) {
  const frame = frames[side];
  const x = side === "encoder" ? frame.x - 11 : frame.x + frame.width + 11;
  const step = Math.min(21, (frame.height - 14) / count);
  const low = frame.y + frame.height / 2 + (step * (count - 1)) / 2;
  return Array.from({ length: count }, (_, layer) => ({ layer, x, y: low - layer * step }));
}

/**
 * The way of the encoder's output into the decoder.
 * @param {import("./numbers").Places} places
 */
export function acrossOf({ boxes, frames, middle, channel }) {
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
 * The number of the station at a point: in the layer that is shown, or in the one whose number is there; or null.
 * @param {Box} area
 * @param {number} x
 * @param {number} y
 * @param {number} number
 * @param {import("./flow.js").Flow} scene
 */
export function stationAt(area, x, y, number, { route, lesson }) {
  const places = placesOf(area);
  const now = route[number];
  const { num_layers: count } = lesson.values.model;
  for (const side of SIDES) {
    const label = layersOf(places, side, count).find((each) => Math.abs(each.x - x) < 12 && Math.abs(each.y - y) < 11);
    if (!label) continue;
    const same = now.side === side && now.sublayer !== null ? boxOf(now) : `${side} self_attention`;
    return route.findIndex((station) => boxOf(station) === same && station.layer === label.layer);
  }
  const margin = 4;
  const pressed = Object.entries(places.boxes).find(
    ([, place]) =>
      x > place.x - margin &&
      x < place.x + place.width + margin &&
      y > place.y - margin &&
      y < place.y + place.height + margin,
  );
  if (!pressed) return null;
  const fitting = route.filter((station) => boxOf(station) === pressed[0]);
  const layer = now.layer ?? (now.name === "linear" || now.name === "softmax" ? count - 1 : 0);
  return route.indexOf(fitting.find((station) => station.layer === layer) ?? fitting[0]);
}
