// What is known of each head: by how much its absence changes every token, measured or estimated, beside random vectors.

import { numberedHeads } from "../../../stage/js/headgrid.js";
import { bySize } from "../../js/order.js";

/** @typedef {import("../../js/effectbars.js").Band} Band */

/** Effects in nats, of heads numbered as Python counts them; -1 as the token stands for the whole translation. */
export class HeadEffects {
  /**
   * @param {Partial<Pick<import("./off.js").Numbers, "layers" | "heads" | "measured">>} own
   * @param {Arrays} arrays Of `bench.py`.
   */
  constructor({ layers = 0, heads = 0, measured = null }, arrays) {
    const { all, list } = numberedHeads(layers, heads);
    this.all = all;
    this.list = list;
    this.perLayer = heads;
    this.measured = measured;
    this.arrays = arrays;
  }

  /**
   * Whether a head was switched off to know its effect; of a large model others are estimated by the gradient.
   * @param {number} number
   */
  isMeasured(number) {
    return this.measured === null || this.measured[Math.floor(number / this.perLayer)];
  }

  /**
   * The effect of a head on the token, or on the whole translation; 0 where it is not known.
   * @param {number} number
   * @param {number} token
   */
  value(number, token) {
    const { effects, estimates } = this.arrays;
    if (!this.isMeasured(number)) return token < 0 ? estimates.data[number] : 0;
    const row = effects.part(number).data;
    return token < 0 ? Array.from(row).reduce((sum, each) => sum + each, 0) : row[token];
  }

  /**
   * The effect of every head, the heads from the largest to the smallest without its sign, and the largest.
   * @param {number} token
   */
  ranked(token) {
    const values = this.list.map(({ number }) => this.value(number, token));
    const order = bySize(values);
    return { values, order, most: Math.max(1e-6, Math.abs(values[order[0]])) };
  }

  /** Whether random vectors were tried. */
  get hasBands() {
    return Boolean(this.arrays.low);
  }

  /**
   * From where to where random vectors move the token, or the whole; null when nobody asked.
   * @param {number} number
   * @param {number} token
   * @returns {Band}
   */
  band(number, token) {
    const { low, high, total_low, total_high } = this.arrays;
    if (!this.hasBands || !this.isMeasured(number)) return null;
    if (token < 0) return { low: total_low.data[number], high: total_high.data[number] };
    return { low: low.part(number).data[token], high: high.part(number).data[token] };
  }

  /**
   * The effect of a head on each token, and the ranges of random vectors.
   * @param {number} number
   */
  ofTokens(number) {
    const { data } = this.arrays.effects.part(number);
    return { values: data, bands: Array.from(data, (_, at) => this.band(number, at)) };
  }
}
