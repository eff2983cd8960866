// A sub-layer and what stands around it: x, Sublayer(x), their sum, its norm; and how much of the direction stays.

import { Axis } from "../../../components/common/draw/plot.js";
import { ease, fillText, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { playhead, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { drawTokens, pixelOf, Tensors, tokenAt, value } from "./parts.js";

const TERMS = ["x", "sub", "sum", "norm"];
const TOKENS = { x: 0, y: 0 };

/**
 * @typedef {import("./numbers").Side} Side
 * @typedef {{ side: Side, layer: number, sublayer: import("./numbers").Sublayer, before: number, own: number, after: number }} Step
 */

/** @extends {Scene<import("./numbers").Values>} */
export class Residual extends Scene {
  size = { narrow: 620, least: 430, most: 600 };

  tensors = new Tensors();
  // Each sub-layer with the numbers of the stations before it, its own, and that of its Add & Norm.
  /** @type {Step[]} */
  steps = this.lesson.values.stations.flatMap(({ name, side, layer, sublayer }, index) =>
    name === "add_norm" && layer !== null && sublayer
      ? [{ side, layer, sublayer, before: index - 2, own: index - 1, after: index }]
      : [],
  );

  get playhead() {
    const last = this.steps.length - 1;
    return playhead({
      name: "at",
      label: this.texts.sublayer,
      max: last,
      rate: 0.45,
      show: (at) => `${Math.floor(at + 1e-6) + 1}/${last + 1}`,
    });
  }

  get controls() {
    const { encoder, decoder } = this.lesson.values.tokens;
    const most = Math.max(encoder.length, decoder.length);
    const start = Math.min(2, encoder.length);
    return [slider({ name: "token", label: this.texts.position, min: 1, max: most, start })];
  }

  /**
   * Return the sub-layer, the number of its visible rows, and the progress of the next one.
   * @param {Settings} settings
   */
  moment({ at, token }) {
    const number = Math.min(Math.floor(at + 1e-6), this.steps.length - 1);
    const share = at - number < 1e-6 ? 0 : at - number;
    const step = this.steps[share && number + 1 < this.steps.length ? number + 1 : number];
    const tokens = this.lesson.values.tokens[step.side];
    const phase = share ? Math.min(3, Math.floor(share * 4)) : 3;
    return {
      step,
      index: this.steps.indexOf(step),
      tokens,
      token: Math.min(Math.round(token), tokens.length) - 1,
      phase,
      part: share ? share * 4 - phase : 1,
    };
  }

  /** @type {Scene["lit"]} */
  lit(settings) {
    return TERMS[this.moment(settings).phase];
  }

  /**
   * Return the four rows: numbers for the colours, and mean, deviation and length.
   * @param {{ step: Step, index: number, token: number }} moment
   */
  rows({ step, index, token }) {
    const { arrays } = this.lesson;
    /** @param {number} station */
    const vector = (station) => Array.from(arrays.tensors.part(station, token).data, value);
    /** @param {number} station */
    const stats = (station) => Array.from(arrays.stats.part(station, token).data);
    const [x, sub] = [vector(step.before), vector(step.own)];
    return [
      { values: x, stats: stats(step.before) },
      { values: sub, stats: stats(step.own) },
      { values: x.map((each, i) => each + sub[i]), stats: Array.from(arrays.sums.part(index, token).data) },
      { values: vector(step.after), stats: stats(step.after) },
    ];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, theme } = pen;
    const moment = this.moment(settings);
    const { step, tokens, token, phase, part } = moment;
    const colour = this.colour(step, theme);
    drawTokens(pen, tokens, token, { ...TOKENS, width, colour: theme.kinds[step.side] });
    const title = fillText(this.texts.layer_of, {
      side: this.texts[step.side],
      layer: step.layer + 1,
      layers: this.lesson.values.model.num_layers,
    });
    pen.write(`${title}: ${this.name(step)}`, 0, 44, { colour, size: 14, weight: 650, most: width });
    const place = this.places(pen);
    this.drawHead(pen, place);
    this.rows(moment).forEach((row, index) => {
      if (index > phase) return;
      context.globalAlpha = index === phase ? ease(part) : 1;
      this.drawRow(pen, place, row, index, step, index === 3 ? theme.text : index === 1 ? colour : theme.muted);
      context.globalAlpha = 1;
    });
    this.drawChart(pen, moment);
  }

  /**
   * @param {Step} step
   * @param {Theme} theme
   */
  colour({ side, sublayer }, theme) {
    return sublayer === "feed_forward" ? theme.muted : theme.kinds[sublayer === "cross_attention" ? "cross" : side];
  }

  /** @param {Step} step */
  name({ side, sublayer }) {
    return sublayer === "self_attention" && side === "decoder"
      ? this.texts.masked_attention
      : this.texts[`station_${sublayer}`];
  }

  /** @param {{ width: number, height: number }} given */
  places({ width, height }) {
    const narrow = isNarrow(width);
    const label = narrow ? 0 : 148;
    const numbers = narrow ? 150 : 190;
    const top = 82;
    const row = narrow ? 54 : Math.min(58, (height * 0.56 - top) / 4);
    const wide = width - label - numbers - 12;
    /** @param {number} column */
    const column = (column) => width - (numbers / 3) * (2 - column); // the right edge of one of three
    return { narrow, left: label, wide, numbers, top, row, column };
  }

  /**
   * @param {Pen} pen
   * @param {ReturnType<Residual["places"]>} places
   */
  drawHead(pen, { narrow, numbers, top, column }) {
    const { mean, deviation, length } = this.texts;
    const style = { size: narrow ? 11 : 12, align: "right", most: numbers / 3 - 2 };
    [mean, deviation, length].forEach((name, index) => pen.note(name, column(index), top - 13, style));
  }

  /**
   * @param {Pen} pen
   * @param {ReturnType<Residual["places"]>} places
   * @param {{ values: number[], stats: number[] }} numbers
   * @param {number} index
   * @param {Step} step
   * @param {string} colour
   */
  drawRow(pen, { narrow, left, wide, top, row, column }, { values, stats }, index, step, colour) {
    const { context, theme } = pen;
    const y = top + index * row;
    const [from, tall] = narrow ? [y + 18, row - 26] : [y + 4, row - 12];
    const sub = step.sublayer === "feed_forward" ? "FFN" : "MultiHead";
    const labels =
      this.lesson.values.model.norm === "pre"
        ? ["x", `${sub}(LayerNorm(x))`, "x + \u2026", "x + \u2026"]
        : ["x", `${sub}(x)`, `x + ${sub}(x)`, "LayerNorm(\u2026)"];
    if (narrow) pen.write(labels[index], 0, y + 8, { size: 12.5 });
    else pen.write(labels[index], left - 12, from + tall / 2, { size: 14, align: "right" });
    const key = `${theme.key} ${step.after} ${values.slice(0, 6).join()}`;
    this.tensors
      .grid(`row ${index}`, key, 1, values.length, (_, unit) => pixelOf(theme, values[unit]))
      .draw(context, left, from, wide, tall);
    pen.frame(left - 0.5, from - 0.5, wide + 1, tall + 1, colour, index === 3 ? 1.6 : 1);
    const style = { size: 13.5, align: "right" };
    const [mean, deviation, length] = stats;
    pen.write(signed(mean), column(0), from + tall / 2, style);
    pen.write(signed(deviation), column(1), from + tall / 2, style);
    pen.write(signed(length, 1), column(2), from + tall / 2, { ...style, weight: 650 });
  }

  /** @param {{ width: number, height: number }} given */
  chart({ width, height }) {
    const narrow = isNarrow(width);
    const top = narrow ? 352 : Math.max(82 + 4 * this.places({ width, height }).row + 42, height * 0.64);
    const across = new Axis(-0.5, this.steps.length - 0.5, 40, width - 10);
    return { across, up: new Axis(0, 1, height - 30, top), top, foot: height - 30 };
  }

  /**
   * For every sub-layer how much of the direction is left: of what came in, and of the embedding.
   * @param {Pen} pen
   * @param {{ index: number, token: number }} moment
   */
  drawChart(pen, { index: now, token }) {
    const { theme, width } = pen;
    const { across, up, top, foot } = this.chart(pen);
    const { cosines } = this.lesson.arrays;
    pen.note(this.texts.kept_title, 0, top - 24, { most: width });
    for (const tick of [0, 0.5, 1]) {
      pen.line(across.from, up.place(tick), across.to, up.place(tick), { colour: theme.line, width: 1, alpha: 0.7 });
      pen.note(String(tick), across.from - 8, up.place(tick), { align: "right" });
    }
    const room = across.place(1) - across.place(0);
    this.steps.forEach((step, index) => {
      const y = up.place(Math.max(0, Math.min(1, cosines.at(index, this.inside(step, token), 0))));
      const x = across.place(index) - room * 0.36;
      pen.fill(x, y, room * 0.72, foot - y, this.colour(step, theme), index === now ? 1 : 0.45);
    });
    for (const side of ["encoder", "decoder"]) {
      const own = this.steps.map((step, index) => ({ ...step, index })).filter((step) => step.side === side);
      const points = own.map((step) => [
        across.place(step.index),
        up.place(Math.max(0, cosines.at(step.index, this.inside(step, token), 1))),
      ]);
      pen.trace(points, { colour: theme.background, width: 5 });
      pen.trace(points, { colour: theme.text, width: 2.2 });
      points.forEach(([x, y], index) => own[index].index === now && pen.dot(x, y, 5, theme.text, theme.background));
      const middle = (points[0][0] + points[points.length - 1][0]) / 2;
      pen.note(this.texts[side], middle, foot + 14, { colour: theme.kinds[side], weight: 600, align: "center" });
    }
  }

  /**
   * @param {Step} step
   * @param {number} token
   */
  inside({ side }, token) {
    return Math.min(token, this.lesson.values.tokens[side].length - 1);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    const { tokens, token } = this.moment(settings);
    const clicked = pen.first ? tokenAt(pen, tokens, token, { ...TOKENS, width: pen.width }, [x, y]) : null;
    if (clicked !== null) return { token: clicked + 1 };
    const { across, top } = this.chart(pen);
    return y > top - 8 ? { at: Math.max(0, Math.min(this.steps.length - 1, Math.round(across.value(x)))) } : null;
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const moment = this.moment(settings);
    const { step, tokens, token, index } = moment;
    const [x, sub] = this.rows(moment).map(({ stats }) => stats[2]);
    const { cosines } = this.lesson.arrays;
    return fillText(this.texts.residual_say, {
      token: tokenText(tokens[token]),
      sublayer: this.name(step),
      x: x.toFixed(1),
      sub: sub.toFixed(1),
      step: cosines.at(index, token, 0).toFixed(2),
      start: cosines.at(index, token, 1).toFixed(2),
    });
  }

  /** @type {Scene["table"]} */
  table({ token }) {
    const { texts } = this;
    const { stats, sums, cosines } = this.lesson.arrays;
    const rows = this.steps.map((step, index) => {
      const at = this.inside(step, Math.round(token) - 1);
      const [x, sub, norm] = [step.before, step.own, step.after].map((station) => stats.at(station, at, 2));
      const kept = [cosines.at(index, at, 0), cosines.at(index, at, 1)];
      return [texts[step.side], step.layer + 1, this.name(step), x, sub, sums.at(index, at, 2), norm, ...kept];
    });
    const lengths = ["|x|", "|Sublayer(x)|", "|x + Sublayer(x)|", "|LayerNorm(\u2026)|"];
    const { stack, layer, sublayer, kept_step, kept_start } = texts;
    return { columns: [stack, layer, sublayer, ...lengths, kept_step, kept_start], rows };
  }
}
