// On many pairs: the circuit of a task, the heads and networks that carry it, and the share of the behaviour that it keeps.

import { parseHead } from "../../../../components/common/heads/heads.js";
import { fillText, percent, signed } from "../../../../components/common/text/format.js";
import { Chart } from "../../../stage/js/chart.js";
import { choice, playhead } from "../../../stage/js/describe.js";
import { drawRows } from "../../../stage/js/dots.js";
import { isNarrow, split } from "../../../stage/js/layout.js";
import { comparedHeight, comparedWords } from "../../../stage/js/paragraph.js";
import { Bench } from "../../js/bench.js";
import { after } from "../../js/order.js";
import { colourOf, drawCircuit } from "./circuitpicture.js";
import { CircuitPlaces } from "./circuitplaces.js";

/** @typedef {import("../../js/numbers").Compared} Compared
 * @typedef {import("./circuitplaces.js").Edge} Edge
 * @typedef {[node: string, score: number, low: number | null, high: number | null, limit: number | null]} Node
 */

/**
 * Numbers of `bench.py`. `problem`: why there is no circuit; unless it is `weak` there is nothing else. `example`: a pair
 * of sentences, and the beginnings of their translations up to where these part. `nodes` and `edges`: the strongest first;
 * `limit`: what the null reaches. `curve`: numbers of edges, shares that these keep, and as many random ones, in rows.
 * @typedef {{
 *   problem: "none" | "unlike" | "weak" | null;
 *   example: [Compared, Compared];
 *   pairs: number;
 *   groups: number;
 *   right: number;
 *   difference: number;
 *   layers: number;
 *   heads: number;
 *   nodes: Node[];
 *   edges: Edge[];
 *   curve: number[][];
 *   smallest: number | null;
 * }} Numbers
 */

const [LISTED, NAMED] = [8, 3]; // nodes, and edges of one
const [CIRCUIT, PAIR, ROWS, CURVE] = [460, 190, 240, 190]; // heights on a phone
const [SIZE, LANE, AXIS] = [14, 13, 80]; // of the sentences, of a row at least, and of what stands around the rows
const LOW = 460; // pixels, with room for rows alone
const LEVELS = [0, 0.8, 1]; // of what is kept

/** @extends {Bench<Numbers>} */
export class Circuit extends Bench {
  name = "circuit";
  term = "kept";
  showsHead = true;

  get controls() {
    const { tasks } = this.lesson.values;
    const chosen = { name: "chosen", kind: /** @type {const} */ ("held"), start: "" };
    return Object.keys(tasks).length ? [choice("task", this.texts.task, tasks, { server: true }), chosen] : [chosen];
  }

  get playhead() {
    if (this.known?.problem) return null;
    return playhead({ name: "edges", label: this.texts.edges, min: 5, max: 200, step: 5, rate: 15, start: 50 });
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return isNarrow(width) ? CIRCUIT + PAIR + ROWS + CURVE : Math.max(418, Math.min(room, 660));
  }

  get isEmpty() {
    return super.isEmpty || Boolean(this.known?.problem);
  }

  /** @type {Scene["missing"]} */
  missing(settings) {
    const { problem = null, pairs = 0 } = this.known ?? {};
    if (!problem) return super.missing(settings);
    return `${pairs ? `${this.behaviour} ` : ""}${this.texts[`circuit_${problem}`]}`;
  }

  /** What the model does on the pairs, in words. */
  get behaviour() {
    const { pairs, groups, right, difference } = this.own;
    return fillText(this.texts.circuit_pairs, { pairs, groups, right: percent(right), gap: signed(difference, 1) });
  }

  /**
   * @param {{ width: number, height: number }} pen
   * @param {Settings} settings
   */
  places({ width, height }, { edges }) {
    const [box, side] = split({ x: 0, y: 0, width, height }, { gap: 34, share: 0.63, top: CIRCUIT });
    return { places: new CircuitPlaces(this.own, this.own.edges.slice(0, Math.round(edges)), box), side };
  }

  /** @type {Bench<Numbers>["picture"]} */
  picture(pen, settings) {
    const { texts } = this;
    const { encoder, decoder, circuit_network: ffn } = texts;
    const { places, side } = this.places(pen, settings);
    const [source, logits] = this.own.example.map(
      ({ original, words }) => `${contrast(original)} / ${contrast(words)}`,
    );
    drawCircuit(pen, places, settings.chosen, { source, logits, encoder, decoder, ffn });
    const down = this.drawPair(pen, side);
    const foot = side.y + side.height - Math.min(CURVE, 0.34 * side.height);
    drawRows(pen, { ...side, y: down, height: foot - down }, this.rows(pen.theme, settings.chosen, foot - down));
    this.drawCurve(pen, { ...side, y: foot, height: side.y + side.height - foot }, settings.edges);
  }

  /**
   * A pair with the beginnings of its translations; returns how far down it stands.
   * @param {Pen} pen
   * @param {Box} box
   */
  drawPair(pen, { x, y, width, height }) {
    const { encoder, decoder } = pen.theme.kinds;
    let down = y + 8;
    for (const side of /** @type {const} */ (["original", "words"])) {
      if (height > LOW) {
        pen.note(this.texts[side === "original" ? "clean" : "corrupted"], x, down);
        down += 22;
      }
      for (const [at, colour] of [encoder, decoder].entries()) {
        const words = this.own.example[at][side];
        comparedWords(pen, words, x, down, width, colour, SIZE);
        down += comparedHeight(pen, words, width, SIZE);
      }
    }
    return down + 8;
  }

  /**
   * The strongest nodes, with intervals and what the null reaches.
   * @param {Theme} theme
   * @param {string} chosen
   * @param {number} room Pixels.
   */
  rows(theme, chosen, room) {
    const listed = this.own.nodes.slice(0, Math.min(LISTED, (room - AXIS) / LANE));
    const rows = listed.map(([node]) => node);
    const values = listed.map(([, score]) => score);
    const column = {
      title: this.texts.circuit_nodes,
      axis: this.texts.circuit_tick,
      values,
      texts: values.map((value) => signed(value, 1)),
      ends: /** @type {[number, number]} */ ([Math.min(0, ...values), 1.1 * Math.max(...values)]),
      ticks: /** @type {[number, string][]} */ ([[0, "0"]]),
      low: listed.map(([, , low]) => low),
      high: listed.map(([, , , high]) => high),
      marks: listed.map(([, , , , limit]) => (limit === null ? [] : [limit])),
      colours: rows.map((node) => colourOf(theme, node)),
    };
    return { rows, columns: [column], strong: [rows.indexOf(chosen)] };
  }

  /**
   * @param {Pen} pen
   * @param {Box} box
   * @param {number} cut
   */
  drawCurve(pen, box, cut) {
    const { texts } = this;
    const { text, muted } = pen.theme;
    const [[, ...x], ...rows] = this.own.curve; // without any edge nothing is kept
    const series = rows.map(([, ...y], row) => ({
      x,
      y,
      label: [texts.circuit_strongest, texts.circuit_random][row],
      dashed: row > 0,
      look: { colour: row ? muted : text, width: row ? 1.3 : 2.5 },
    }));
    const ticks = LEVELS.map((level) => /** @type {[number, string]} */ ([level, percent(level)]));
    const up = { title: texts.circuit_kept, ticks, ends: /** @type {[number, number]} */ ([0, 1.05]) };
    new Chart(pen, box, { series, x: { title: texts.circuit_edges, log: true }, y: up, cut }).draw();
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    const node = pen.first ? this.places(pen, settings).places.at({ x, y }) : null;
    return node === null ? null : { chosen: node === settings.chosen ? "" : node };
  }

  /** @type {Scene["hit"]} "cross.6.3", a node. */
  hit(name, pen, settings) {
    return this.places(pen, settings).places.point(name);
  }

  /** @type {Scene["lowered"]} From the strongest node to the weakest that is listed, round and round. */
  lowered(count, { chosen }) {
    const names = this.own.nodes.slice(0, LISTED).map(([node]) => node);
    return { chosen: after(names, names.indexOf(chosen), count) };
  }

  /** @type {Scene["say"]} */
  say({ edges: most, chosen }) {
    const { own, texts } = this;
    const [edges, ...rows] = own.curve;
    const at = edges.findLastIndex((size) => size <= most);
    const [kept, ...random] = rows.map((row) => row[at]);
    const mean = random.reduce((sum, value) => sum + value, 0) / random.length;
    const node = own.nodes.find(([name]) => name === chosen);
    return [
      node ? this.nodeText(node) : this.behaviour,
      fillText(texts.circuit_say, { count: edges[at], kept: percent(kept), random: percent(mean) }),
      own.smallest === null ? "" : fillText(texts.circuit_smallest, { count: own.smallest }),
    ].join(" ");
  }

  /**
   * A node with its interval, what the null reaches, and its largest edges.
   * @param {Node} node
   */
  nodeText([node, ...numbers]) {
    const [value, low, high, limit] = numbers.map((each) => (each === null ? "\u2013" : signed(each, 1)));
    const edges = this.own.edges.filter((edge) => edge.sender === node || edge.node === node).slice(0, NAMED);
    const named = edges.map(
      ({ sender, node: to, input, score }) => `${sender} \u2192 ${to}${input && ` (${input})`} ${signed(score, 1)}`,
    );
    const title = /\d$/.test(node) ? this.headTitle(parseHead(node)) : node;
    return fillText(this.texts.circuit_say_node, { node: title, value, low, high, limit, edges: named.join(", ") });
  }

  /** @type {Scene["table"]} */
  table() {
    const { texts } = this;
    const columns = [texts.part, texts.effect, texts.circuit_low, texts.circuit_high, texts.circuit_null];
    return { columns, rows: this.own.nodes.map((row) => row.map((cell) => cell ?? "")) };
  }
}

/**
 * The words that differ.
 * @param {[string, boolean][]} words
 */
function contrast(words) {
  return words.flatMap(([word, differs]) => (differs ? [word.replace(/[.,]$/, "")] : [])).join(" ");
}
