// Figure 1 of the paper, drawn anew: every station that a lesson explains opens it.

import { svg } from "../../../components/common/page/dom.js";

const [WIDTH, HEIGHT] = [520, 640];
/** @type {Record<string, number> & { encoder: number, decoder: number }} */
const COLUMNS = { encoder: 66, decoder: 296 }; // left edge of the boxes
const BOX = 158;

// column, top, height, station (and key of its text), kind of attention or look
/** @type {[string, number, number, string, string][]} */
const STATIONS = [
  ["encoder", 552, 34, "embedding_in", "plain"],
  ["decoder", 552, 34, "embedding_out", "plain"],
  ["encoder", 426, 44, "self_attention", "encoder"],
  ["encoder", 392, 24, "add_norm", "faint"],
  ["encoder", 334, 36, "feed_forward", "plain"],
  ["encoder", 300, 24, "add_norm", "faint"],
  ["decoder", 426, 44, "masked_attention", "decoder"],
  ["decoder", 392, 24, "add_norm", "faint"],
  ["decoder", 324, 44, "cross_attention", "cross"],
  ["decoder", 290, 24, "add_norm", "faint"],
  ["decoder", 232, 36, "feed_forward", "plain"],
  ["decoder", 198, 24, "add_norm", "faint"],
  ["decoder", 118, 30, "linear", "plain"],
  ["decoder", 72, 30, "softmax", "plain"],
];

/** @typedef {Record<string, { name: string, title: string }>} AtStation */

/**
 * The figure.
 *
 * @param {{ texts: IndexTexts, sentence: string }} data
 * @param {AtStation} atStation What a station opens; not every station opens something.
 * @param {(name: string) => void} open Called with the name of a lesson.
 */
export function diagram({ texts, sentence }, atStation, open) {
  const figure = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": texts.figure });
  figure.append(marker(), ...frames(texts), ...ways());
  for (const station of STATIONS) figure.append(box(station, texts, atStation, open));
  for (const side of ["encoder", "decoder"]) figure.append(...position(side, texts, atStation, open));
  figure.append(...ends(texts, sentence));
  return figure;
}

function marker() {
  const path = svg("path", { d: "M0 0 L8 4 L0 8 z", class: "arrow-head" });
  return svg(
    "defs",
    {},
    svg(
      "marker",
      { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
      path,
    ),
  );
}

/**
 * @param {string} d
 * @param {boolean} [tip]
 */
function line(d, tip = true) {
  return svg("path", { d, class: "way", "marker-end": tip ? "url(#tip)" : null });
}

/**
 * The two stacks of N layers.
 * @param {IndexTexts} texts
 */
function frames(texts) {
  return [
    svg("rect", { x: 34, y: 284, width: 206, height: 212, rx: 12, class: "stack" }),
    svg("rect", { x: 280, y: 182, width: 206, height: 314, rx: 12, class: "stack" }),
    label(27, 392, texts.layers, "end"),
    label(493, 340, texts.layers, "start"),
  ];
}

/** Arrows along both columns, round the sub-layers, and from the encoder to the decoder. */
function ways() {
  const [left, right] = [COLUMNS.encoder + BOX / 2, COLUMNS.decoder + BOX / 2];
  const straight = [
    [left, 606, 588],
    [left, 552, 533],
    [left, 511, 472],
    [left, 392, 372],
    [right, 606, 588],
    [right, 552, 533],
    [right, 511, 472],
    [right, 392, 370],
    [right, 290, 270],
    [right, 198, 150],
    [right, 118, 104],
    [right, 72, 52],
  ].map(([x, from, to]) => line(`M${x} ${from} V${to}`));
  const [a, b] = [COLUMNS.encoder - 14, COLUMNS.decoder + BOX + 14];
  const residual = [
    `M${left} 486 H${a} V404 H${COLUMNS.encoder - 2}`,
    `M${left} 382 H${a} V312 H${COLUMNS.encoder - 2}`,
    `M${right} 486 H${b} V404 H${COLUMNS.decoder + BOX + 2}`,
    `M${right} 380 H${b} V302 H${COLUMNS.decoder + BOX + 2}`,
    `M${right} 280 H${b} V210 H${COLUMNS.decoder + BOX + 2}`,
  ].map((d) => line(d));
  const across = line(`M${left} 300 V262 H262 V346 H${COLUMNS.decoder - 2}`);
  across.classList.add("across");
  return [...straight, ...residual, across];
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {string} [anchor]
 * @param {string} [name]
 */
function label(x, y, text, anchor = "middle", name = "note") {
  return svg("text", { x, y, "text-anchor": anchor, class: name }, text);
}

/**
 * A station; one that opens something is a button.
 * @param {Element} group
 * @param {string} station
 * @param {string} words
 * @param {AtStation} atStation
 * @param {(name: string) => void} open
 */
function button(group, station, words, atStation, open) {
  if (!atStation[station]) return group;
  const { name, title } = atStation[station];
  group.setAttribute("role", "button");
  group.setAttribute("tabindex", "0");
  group.setAttribute("aria-label", `${words}: ${title}`);
  group.classList.add("opens");
  group.append(svg("title", {}, title));
  group.addEventListener("click", () => open(name));
  group.addEventListener("keydown", (/** @type {any} */ event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open(name);
  });
  return group;
}

/**
 * @param {[string, number, number, string, string]} station
 * @param {IndexTexts} texts
 * @param {AtStation} atStation
 * @param {(name: string) => void} open
 */
function box([column, y, height, station, look], texts, atStation, open) {
  const x = COLUMNS[column];
  const lines = texts[station].split("\n");
  const middle = y + height / 2 + 5 - (lines.length - 1) * 8.5;
  const words = lines.map((text, index) => label(x + BOX / 2, middle + 17 * index, text, "middle", "word"));
  const group = svg("g", { class: `station ${look}` }, svg("rect", { x, y, width: BOX, height, rx: 7 }), ...words);
  return button(group, station, lines.join(" "), atStation, open);
}

/**
 * Draw the sum of waves and embeddings.
 * @param {string} column
 * @param {IndexTexts} texts
 * @param {AtStation} atStation
 * @param {(name: string) => void} open
 */
function position(column, texts, atStation, open) {
  const x = COLUMNS[column] + BOX / 2;
  const side = column === "encoder" ? -1 : 1;
  const at = x + side * 92;
  const wave = `M${at - 11} 522 c4 -13 7 -13 11 0 s7 13 11 0`;
  const group = svg(
    "g",
    { class: "station wave" },
    svg("circle", { cx: at, cy: 522, r: 17 }),
    svg("path", { d: wave, class: "curve" }),
  );
  const plus = svg(
    "g",
    { class: "plus" },
    svg("circle", { cx: x, cy: 522, r: 10 }),
    svg("path", { d: `M${x - 5} 522 h10 M${x} 517 v10` }),
  );
  return [
    line(`M${at - side * 17} 522 H${x + side * 12}`),
    plus,
    button(group, "positions", texts.positions, atStation, open),
  ];
}

/**
 * Draw inputs and outputs.
 * @param {IndexTexts} texts
 * @param {string} sentence
 */
function ends(texts, sentence) {
  const [left, right] = [COLUMNS.encoder + BOX / 2, COLUMNS.decoder + BOX / 2];
  const short = sentence.length > 26 ? `${sentence.slice(0, 25)}\u2026` : sentence;
  return [
    label(left, 622, texts.inputs),
    label(left, 637, short, "middle", "sentence"),
    label(right, 622, texts.outputs),
    label(right, 637, texts.shifted),
    label(right, 42, texts.probabilities),
  ];
}
