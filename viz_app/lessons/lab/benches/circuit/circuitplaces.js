// Where a circuit stands: encoder left, decoder right, layers upwards; ribbons side by side where they leave and arrive.

import { single } from "../../../../components/explorer/js/flow/curves.js";

/**
 * `node` receives, through its `input` Q, K or V if it is a head.
 * @typedef {{ sender: string, node: string, input: string, score: number }} Edge
 */

const [TOP, FOOT, EDGE] = [62, 44, 16]; // around the stacks: logits, names of the stacks, numbers of the layers
const ROWS = /** @type {Record<string, number>} */ ({ encoder: 0.26, decoder: 0.16, cross: 0.47, ffn: 0.79 }); // of a layer
const [WIDEST, PLATE, NETWORK] = [26, 26, 44]; // pixels of the strongest ribbon, of a head and of a network
const [BOW, FARTHEST] = [0.3, 0.6]; // how far a ribbon swings aside, as a share of its height, and of the stack at most

export class CircuitPlaces {
  /**
   * @param {{ layers: number, heads: number }} model
   * @param {Edge[]} edges The strongest first.
   * @param {Box} box
   */
  constructor({ layers, heads }, edges, { x, y, width, height }) {
    this.layers = layers;
    this.heads = heads;
    this.edges = edges;
    this.lanes = Math.max(40, Math.min(90, 0.15 * width));
    this.wide = (width - 2 * EDGE - this.lanes) / 2; // of a stack
    this.starts = { encoder: x + EDGE, decoder: x + EDGE + this.wide + this.lanes };
    this.top = y + TOP;
    this.foot = y + height - FOOT;
    this.pitch = this.wide / heads;
    this.tall = (this.foot - this.top) / layers;
    this.scale = Math.min(WIDEST, 0.06 * width) / Math.abs(edges[0].score); // pixels of a nat
    /** @type {Map<string, Point & { half: number }>} Half of the width of each node. */
    this.nodes = new Map();
    for (const name of new Set(edges.flatMap(({ sender, node }) => [sender, node]))) {
      const least = /\d$/.test(name) ? Math.min(PLATE, this.pitch - 1) : NETWORK;
      this.nodes.set(name, { ...this.point(name), half: least / 2 });
    }
    /** @type {Record<"sender" | "node", Map<Edge, number>>} How far a ribbon lies from the middle of its ends. */
    this.shifts = { sender: this.sides("sender"), node: this.sides("node") };
  }

  /** @param {"sender" | "node"} end */
  sides(end) {
    const shifts = new Map();
    for (const [name, place] of this.nodes) {
      const group = this.edges.filter((edge) => edge[end] === name);
      group.sort((one, other) => this.aim(one, end) - this.aim(other, end));
      const half = group.reduce((sum, edge) => sum + this.width(edge), 0) / 2;
      place.half = Math.max(place.half, half + 3);
      let at = -half;
      for (const edge of group) {
        shifts.set(edge, at + this.width(edge) / 2);
        at += this.width(edge);
      }
    }
    return shifts;
  }

  /**
   * The order of ribbons at an end, from left to right.
   * @param {Edge} edge
   * @param {"sender" | "node"} end
   */
  aim(edge, end) {
    const [from, to] = [this.point(edge.sender), this.point(edge.node)];
    const bow = 4 * this.bow(from, to);
    if (this.crosses(edge)) return end === "node" ? from.y : 1e4 + to.x;
    return (end === "node" ? from.x : to.x) + bow;
  }

  /** @param {Edge} edge */
  width({ score }) {
    return Math.max(0.6, this.scale * Math.abs(score));
  }

  /** @param {string} name */
  stack(name) {
    return name === "source" || name.startsWith("encoder") ? "encoder" : "decoder";
  }

  /** @param {Edge} edge */
  crosses({ sender, node }) {
    return this.stack(sender) !== this.stack(node);
  }

  /**
   * The middle of a node, such as "cross.6.3", "encoder.1.ffn", "source".
   * @param {string} name
   * @returns {Point}
   */
  point(name) {
    const [kind, layer, head] = name.split(".");
    const left = this.starts[this.stack(name)];
    const middle = left + this.wide / 2;
    if (!layer) return { x: middle, y: name === "source" ? this.foot + 6 : this.top - 44 };
    const row = ROWS[head === "ffn" ? head : kind];
    const x = head === "ffn" ? middle : left + (Number(head) - 0.5) * this.pitch;
    return { x, y: this.foot - (Number(layer) - 1 + row) * this.tall };
  }

  /**
   * How far a ribbon swings aside, so that it passes what stands between its ends.
   * @param {Point} from
   * @param {Point} to
   */
  bow(from, to) {
    const high = from.y - to.y;
    const clear = Math.abs(from.x - to.x) > this.pitch || high < 1.2 * this.tall;
    return clear ? 0 : -Math.min(BOW * high, FARTHEST * this.wide);
  }

  /**
   * The way of a ribbon: upwards, or over the top of the encoder and down to a layer of the decoder.
   * @param {Edge} edge
   */
  way(edge) {
    const [from, to] = [this.point(edge.sender), this.point(edge.node)];
    const [out, into] = [this.shifts.sender, this.shifts.node].map((shifts) => Number(shifts.get(edge)));
    const x = from.x + out;
    if (this.crosses(edge)) {
      const lane =
        this.starts.decoder - EDGE - ((this.lanes - EDGE) * (this.foot - to.y)) / (this.foot - this.top) - into;
      const [y, crown, turn] = [to.y + into, this.top - 40 + 1.3 * into, this.top + 0.1 * this.tall];
      const aside = Math.min(lane - x, 1.1 * BOW * (from.y - this.top));
      return [x, from.y, x + aside, this.top, lane, crown, lane, turn, lane, y, lane, y, to.x, y];
    }
    const [bow, bend, end] = [this.bow(from, to), 0.5 * (from.y - to.y), to.x + into];
    return single(x, from.y, x + bow, from.y - bend, end + bow, to.y + bend, end, to.y);
  }

  /**
   * The node at a place, or null.
   * @param {Point} place
   */
  at(place) {
    const near = [...this.nodes].find(
      ([, { x, y, half }]) => Math.abs(place.x - x) < half + 3 && Math.abs(place.y - y) < 13,
    );
    return near ? near[0] : null;
  }
}
