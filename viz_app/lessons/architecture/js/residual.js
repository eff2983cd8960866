// A sub-layer and what stands around it: x, Sublayer(x), their sum, its norm; and how much of the direction stays.

import { fillText } from "../../../components/common/dom.js";
import { ease, signed } from "../../../components/common/format.js";
import { Axis, dot, trace, write } from "../../../components/common/plot.js";
import { frame } from "../../stage/js/grid.js";
import { Scene } from "../../stage/js/scene.js";
import { drawTokens, NARROW, pixelOf, plain, Tensors, tokenAt, value } from "./parts.js";

const TERMS = ["x", "sub", "sum", "norm"];
const TOKENS = { x: 0, y: 0 };

export class Residual extends Scene {
  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    this.tensors = new Tensors();
    const { stations } = lesson.values;
    // Each sub-layer with the numbers of the stations before it, its own, and that of its Add & Norm.
    this.steps = stations.flatMap((station, index) =>
      station.name === "add_norm" ? [{ ...station, before: index - 2, own: index - 1, after: index }] : [],
    );
  }

  get playhead() {
    const last = this.steps.length - 1;
    return {
      name: "at",
      label: this.texts.sublayer,
      min: 0,
      max: last,
      step: 1,
      rate: 0.45,
      start: 0,
      /** @param {number} at */
      show: (at) => `${Math.floor(at + 1e-6) + 1}/${last + 1}`,
    };
  }

  get controls() {
    const { encoder, decoder } = this.lesson.values.tokens;
    return [
      {
        name: "token",
        kind: "range",
        label: this.texts.position,
        min: 1,
        max: Math.max(encoder.length, decoder.length),
        step: 1,
        start: Math.min(2, encoder.length),
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 620 : Math.max(430, Math.min(room, 600));
  }

  /**
   * Which sub-layer, how many of its four rows are there, and how far the next one has come.
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
   * What the four rows hold: numbers for the colours, and mean, deviation and length.
   * @param {{ step: any, index: number, token: any }} given
   */
  rows({ step, index, token }) {
    const { arrays } = this.lesson;
    /** @param {any} station */
    const vector = (station) => Array.from(arrays.tensors.part(station, token).data, value);
    /** @param {any} station */
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
    write(context, `${title}: ${this.name(step)}`, 0, 44, {
      colour,
      font: theme.font,
      size: 14,
      weight: 650,
      most: width,
    });
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
   * @param {{ side: string, sublayer: any }} given
   * @param {Theme} theme
   */
  colour({ side, sublayer }, theme) {
    return sublayer === "feed_forward" ? theme.muted : theme.kinds[sublayer === "cross_attention" ? "cross" : side];
  }

  /** @param {{ side: string, sublayer: any }} given */
  name({ side, sublayer }) {
    return sublayer === "self_attention" && side === "decoder"
      ? this.texts.masked_attention
      : this.texts[`station_${sublayer}`];
  }

  /** @param {{ width: number, height: number }} given */
  places({ width, height }) {
    const narrow = width < NARROW;
    const label = narrow ? 0 : 148;
    const numbers = narrow ? 150 : 190;
    const top = 82;
    const row = narrow ? 54 : Math.min(58, (height * 0.56 - top) / 4);
    return { narrow, left: label, wide: width - label - numbers - 12, numbers, top, row, right: width };
  }

  /**
   * @param {Pen} pen
   * @param {{ numbers: any, top: number, right: number }} given
   */
  drawHead({ context, theme }, { numbers, top, right }) {
    const style = {
      colour: theme.muted,
      font: theme.font,
      size: numbers < 190 ? 11 : 12,
      align: "right",
      most: numbers / 3 - 2,
    };
    ["mean", "deviation", "length"].forEach((name, index) =>
      write(context, this.texts[name], right - (numbers / 3) * (2 - index), top - 13, style),
    );
  }

  /**
   * @param {Pen} pen
   * @param {{ narrow: boolean, left: number, wide: any, numbers: any, top: number, row: number, right: number }} given
   * @param {{ values: any, stats: any[] }} given3
   * @param {number} index
   * @param {any} step
   * @param {string} colour
   */
  drawRow(
    { context, theme },
    { narrow, left, wide, numbers, top, row, right },
    { values, stats },
    index,
    step,
    colour,
  ) {
    const y = top + index * row;
    const [from, tall] = narrow ? [y + 18, row - 26] : [y + 4, row - 12];
    const sub = { self_attention: "MultiHead", cross_attention: "MultiHead", feed_forward: "FFN" }[step.sublayer];
    const pre = this.lesson.values.model.norm === "pre";
    const labels = pre
      ? ["x", `${sub}(LayerNorm(x))`, "x + \u2026", "x + \u2026"]
      : ["x", `${sub}(x)`, `x + ${sub}(x)`, "LayerNorm(\u2026)"];
    const style = { colour: theme.text, font: theme.font, size: narrow ? 12.5 : 14 };
    if (narrow) write(context, labels[index], 0, y + 8, style);
    else write(context, labels[index], left - 12, from + tall / 2, { ...style, align: "right" });
    const cell = wide / values.length;
    const grid = this.tensors.grid(
      `row ${index}`,
      {
        key: `${theme.key} ${step.after} ${values.slice(0, 6).join()}`,
        background: theme.background,
        dark: theme.dark,
      },
      1,
      values.length,
      (_, column) => pixelOf(theme, values[column]),
    );
    grid.draw(context, left, from, cell * values.length, tall);
    frame(context, left - 0.5, from - 0.5, wide + 1, tall + 1, colour, index === 3 ? 1.6 : 1);
    stats.forEach((number, column) =>
      write(context, signed(number, column === 2 ? 1 : 2), right - (numbers / 3) * (2 - column), from + tall / 2, {
        colour: theme.text,
        font: theme.font,
        size: 13.5,
        weight: column === 2 ? 650 : 400,
        align: "right",
      }),
    );
  }

  /** @param {{ width: number, height: number }} given */
  chart({ width, height }) {
    const narrow = width < NARROW;
    const top = narrow ? 352 : Math.max(82 + 4 * this.places({ width, height }).row + 42, height * 0.64);
    const across = new Axis(-0.5, this.steps.length - 0.5, 40, width - 10);
    return { across, up: new Axis(0, 1, height - 30, top), top, foot: height - 30 };
  }

  /**
   * For every sub-layer how much of the direction is left: of what came in, and of the embedding.
   * @param {Pen} pen
   * @param {any} given
   */
  drawChart(pen, { index: now, token }) {
    const { context, theme, width } = pen;
    const { across, up, top, foot } = this.chart(pen);
    const { cosines } = this.lesson.arrays;
    const style = { colour: theme.muted, font: theme.font, size: 12 };
    write(context, this.texts.kept_title, 0, top - 24, { ...style, most: width });
    for (const tick of [0, 0.5, 1]) {
      trace(
        context,
        [
          [across.from, up.place(tick)],
          [across.to, up.place(tick)],
        ],
        { colour: theme.line, width: 1, alpha: 0.7 },
      );
      write(context, String(tick), across.from - 8, up.place(tick), { ...style, align: "right" });
    }
    const room = across.place(1) - across.place(0);
    this.steps.forEach((step, index) => {
      const tall = Math.max(0, Math.min(1, cosines.at(index, this.inside(step, token), 0)));
      context.globalAlpha = index === now ? 1 : 0.45;
      context.fillStyle = this.colour(step, theme);
      context.fillRect(across.place(index) - room * 0.36, up.place(tall), room * 0.72, foot - up.place(tall));
      context.globalAlpha = 1;
    });
    for (const side of ["encoder", "decoder"]) {
      const own = this.steps.map((step, index) => ({ ...step, index })).filter((step) => step.side === side);
      const points = own.map((step) => [
        across.place(step.index),
        up.place(Math.max(0, cosines.at(step.index, this.inside(step, token), 1))),
      ]);
      trace(context, points, { colour: theme.background, width: 5 });
      trace(context, points, { colour: theme.text, width: 2.2 });
      points.forEach(
        ([x, y], index) => own[index].index === now && dot(context, x, y, 5, theme.text, theme.background),
      );
      write(context, this.texts[side], (points[0][0] + points.at(-1)[0]) / 2, foot + 14, {
        ...style,
        colour: theme.kinds[side],
        weight: 600,
        align: "center",
      });
    }
  }

  /**
   * @param {{ side: string }} given
   * @param {any} token
   */
  inside({ side }, token) {
    return Math.min(token, this.lesson.values.tokens[side].length - 1);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    const { tokens, token } = this.moment(settings);
    const pressed = pen.first ? tokenAt(pen, tokens, token, { ...TOKENS, width: pen.width }, [x, y]) : null;
    if (pressed !== null) return { token: pressed + 1 };
    const { across, top } = this.chart(pen);
    return y > top - 8 ? { at: Math.max(0, Math.min(this.steps.length - 1, Math.round(across.value(x)))) } : null;
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const moment = this.moment(settings);
    const { step, tokens, token, index } = moment;
    const [x, sub] = this.rows(moment).map(({ stats }) => stats[2]);
    const { cosines } = this.lesson.arrays;
    const told = { token: plain(tokens[token]), sublayer: this.name(step), x: x.toFixed(1), sub: sub.toFixed(1) };
    return fillText(this.texts.residual_say, {
      ...told,
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
      return [
        texts[step.side],
        step.layer + 1,
        this.name(step),
        stats.at(step.before, at, 2),
        stats.at(step.own, at, 2),
        sums.at(index, at, 2),
        stats.at(step.after, at, 2),
        cosines.at(index, at, 0),
        cosines.at(index, at, 1),
      ];
    });
    return {
      columns: [
        texts.stack,
        texts.layer,
        texts.sublayer,
        "|x|",
        "|Sublayer(x)|",
        "|x + Sublayer(x)|",
        "|LayerNorm(\u2026)|",
        texts.kept_step,
        texts.kept_start,
      ],
      rows,
    };
  }
}
