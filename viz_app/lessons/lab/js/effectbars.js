// The effect of a change on each token of a translation, as bars; behind each the range of random changes, if known.

import { Axis } from "../../../components/common/draw/plot.js";
import { signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";

const LEFT = 44; // for the numbers of the axis
const LABELS = 64; // below the bars
const MIN = 70; // height of the bars
const SMALL = 9; // pixels below which a bar has no label of its own

/** @typedef {{ low: number, high: number } | null} Band */

export class EffectBars {
  /**
   * @param {ArrayLike<number>} effects In nats, one for each token.
   * @param {Box} place With the labels below and the name of the axis above.
   * @param {Band[]} [bands]
   */
  constructor(effects, { x, y, width, height }, bands = []) {
    this.effects = Array.from(effects);
    this.bands = bands;
    const all = [0, ...this.effects, ...bands.flatMap((band) => (band ? [band.low, band.high] : []))];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const spare = 0.08 * (high - low || 0.1);
    this.bottom = y + Math.max(MIN, height - LABELS);
    this.axis = new Axis(low - spare, high + spare, this.bottom, y + 18);
    this.across = new Axis(0, this.effects.length, x + LEFT, x + width - 4);
  }

  get step() {
    return this.across.place(1) - this.across.place(0);
  }

  /**
   * @param {Pen} pen
   * @param {{ tokens: string[], marked: number, colour: string, title: string }} what `marked`: a token, or -1.
   */
  draw(pen, { tokens, marked, colour, title }) {
    const { theme } = pen;
    const { axis, across, bottom, step } = this;
    pen.note(title, across.from - LEFT, axis.to - 12, { size: 11 });
    for (const tick of axis.ticks(3)) {
      pen.line(across.from, axis.place(tick), across.to, axis.place(tick), { colour: theme.line, width: 1 });
      pen.note(signed(tick, 2), across.from - 6, axis.place(tick), { align: "right", size: 11 });
    }
    const size = Math.max(8, Math.min(13, step - 2));
    tokens.forEach((token, at) => {
      this.drawBar(pen, at, colour);
      if (at === marked) pen.frame(across.place(at), axis.to - 2, step, bottom - axis.to + 4, theme.text, 1.5);
      if (step < SMALL && at !== marked) return;
      const style = { font: theme.code, size, weight: at === marked ? 700 : 400, turn: -Math.PI / 3.2, align: "right" };
      pen.write(tokenText(token), across.place(at + 0.6), bottom + 8, { ...style, most: LABELS - 8 });
    });
    pen.line(across.from, axis.place(0), across.to, axis.place(0), { colour: theme.text, width: 1 });
  }

  /**
   * @param {Pen} pen
   * @param {number} at
   * @param {string} colour
   */
  drawBar(pen, at, colour) {
    const { axis, across, step, bands } = this;
    const left = across.place(at) + step * 0.14;
    const [from, to] = [axis.place(0), axis.place(this.effects[at])];
    const band = bands[at];
    if (band) {
      const top = axis.place(band.high);
      const tall = Math.max(2, axis.place(band.low) - top);
      pen.fill(left - step * 0.1, top, step * 0.92, tall, pen.theme.muted, 0.35);
    }
    pen.fill(left, Math.min(from, to), step * 0.72, Math.max(1, Math.abs(to - from)), colour);
  }

  /**
   * The middle of a token's label.
   * @param {number} at
   */
  label(at) {
    return { x: this.across.place(at + 0.5), y: this.bottom + 20 };
  }

  /**
   * The token at a place, its label included; null beside all.
   * @param {number} x
   * @param {number} y
   */
  at(x, y) {
    const { axis, across, bottom } = this;
    if (y < axis.to || y > bottom + LABELS || x < across.from || x >= across.to) return null;
    return Math.min(this.effects.length - 1, Math.floor(across.value(x)));
  }
}

/**
 * Whether an effect is larger, without its sign, than that of any random vector.
 * @param {number} value
 * @param {Band} band
 */
export function isBeyond(value, band) {
  return band !== null && Math.abs(value) > Math.max(Math.abs(band.low), Math.abs(band.high));
}
