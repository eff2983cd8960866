// Made of: the flow of each token, and how far its log-probability falls without the edges that the flow names.

import { Axis } from "../../../../components/common/draw/plot.js";
import { fillText, percentSign, signed } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";
import { choice } from "../../../stage/js/describe.js";
import { drawFlow, flowPlaces, flowToken, flowWord, largestParts, namedParts } from "../../../stage/js/foldedflow.js";
import { isNarrow, split } from "../../../stage/js/layout.js";
import { Bench } from "../../js/bench.js";
import { writeEnds } from "../../js/check.js";

/**
 * Numbers of `bench.py`. `rivals`: the most probable other token at each step. `start`: the position that is chosen at
 * first; `word`: the one that was cut, compared with `against`. `edges`: their number; `shares`: of them that were cut.
 * @typedef {{
 *   source: string[];
 *   outputs: string[];
 *   rivals: string[];
 *   start: number;
 *   word: number;
 *   against: "mean" | "rival";
 *   edges: number;
 *   shares: number[];
 *   log_p: number;
 * }} Numbers
 */

const CURVES = 250; // height on a phone
const GAP = 30;
const [LEFT, RIGHT, TOP, FOOT] = [40, 78, 44, 42]; // around the curves: numbers, names, title, the axis below
const SHARES = [0.005, 0.01, 0.02, 0.05]; // as the library cuts them

/** @extends {Bench<Numbers>} */
export class Flow extends Bench {
  name = "flow";
  term = "parts";

  get controls() {
    const { texts } = this;
    const against = { mean: texts.flow_mean, rival: texts.flow_rival };
    const shares = Object.fromEntries(SHARES.map((share) => [String(share), percentage(share)]));
    return [
      choice("against", texts.flow_against, against, { server: true }),
      choice("share", texts.flow_share, shares, { start: "0.01" }),
      { name: "word", kind: "held", start: -1, server: true },
    ];
  }

  /** @type {Scene["height"]} A long sentence stands beside its translation. */
  height(width, room) {
    const { source, outputs } = this.known ?? { source: [], outputs: [] };
    const stands = isNarrow(width) || Math.max(...[source, outputs].map(wide)) > 0.6 * width;
    const flow = stands ? 30 + (isNarrow(width) ? 24 : 19) * (Math.max(source.length, outputs.length) + 2) : 0;
    return isNarrow(width) ? flow + GAP + CURVES : Math.max(360, Math.min(room, 460), flow);
  }

  get tokens() {
    return { ...this.own, biases: this.texts.flow_biases };
  }

  /** @param {Settings} settings */
  chosen({ word }) {
    const { outputs, start } = this.own;
    return word < 0 ? start : Math.min(Math.round(word), outputs.length - 1);
  }

  /**
   * The token that the chosen one is compared with, once Python has answered; null for the mean.
   * @param {Settings} settings
   */
  rival(settings) {
    const { word, against, rivals } = this.own;
    const compared = settings.against === "rival" && against === "rival" && word === this.chosen(settings);
    return compared ? rivals[word] : null;
  }

  /** @param {Settings} settings */
  words(settings) {
    const { flow_parts, flow_rival } = this.lesson.arrays;
    const compared = this.rival(settings) === null ? -1 : this.chosen(settings);
    return this.own.outputs.map((_, at) =>
      flowWord(at === compared ? flow_rival.data : flow_parts.part(at).data, this.own),
    );
  }

  /** @param {Settings} settings */
  parts(settings) {
    const at = this.chosen(settings);
    return namedParts(this.words(settings)[at], at, this.tokens);
  }

  /** @param {Pen} pen */
  places(pen) {
    const { width, height } = pen;
    const [flow, curves] = split({ x: 0, y: 0, width, height }, { gap: GAP, share: 0.66, top: height - CURVES - GAP });
    return { flow: flowPlaces(pen, this.tokens, flow), curves: { ...curves, height: Math.min(curves.height, 360) } };
  }

  /** @param {Box} box */
  axes({ x, y, width, height }) {
    const { data } = this.lesson.arrays.flow_cuts;
    const [low, high] = [1.06 * Math.min(-0.1, ...data), Math.max(0, ...data)];
    return {
      across: new Axis(0, Math.max(...this.own.shares), x + LEFT, x + width - RIGHT),
      up: new Axis(low, high, y + height - FOOT, y + TOP),
    };
  }

  /** @type {Bench<Numbers>["picture"]} */
  picture(pen, settings) {
    const { flow, curves } = this.places(pen);
    this.drawCurves(pen, settings, curves);
    drawFlow(pen, flow, this.words(settings), this.chosen(settings));
  }

  /**
   * @param {Pen} pen
   * @param {Settings} settings
   * @param {Box} box
   */
  drawCurves(pen, settings, box) {
    const { own, texts } = this;
    const { theme } = pen;
    const { flow_cuts } = this.lesson.arrays;
    const { across, up } = this.axes(box);
    pen.write(texts.flow_matters, box.x, box.y + 8, { weight: 650, most: box.width });
    const token = tokenText(own.outputs[own.word]);
    pen.note(fillText(texts.flow_change, { token }), box.x, box.y + 27, { most: box.width });
    for (const tick of up.ticks(4)) {
      pen.line(across.from, up.place(tick), across.to, up.place(tick), { colour: theme.line, width: 1 });
      pen.note(signed(tick, up.low > -2 ? 1 : 0), across.from - 6, up.place(tick), { align: "right", size: 11 });
    }
    const ticks = [0, 0.01, 0.02, 0.05];
    pen.axis(across, "bottom", up.from, { ticks, show: (share) => String(100 * share) });
    pen.note(texts.flow_edges, (across.from + across.to) / 2, up.from + 34, { align: "center", most: box.width });
    const here = across.place(Number(settings.share));
    pen.line(here, up.from, here, up.to, { colour: theme.muted, width: 1 });
    for (const { row, colour, width, dash } of [...this.lines(theme)].reverse()) {
      const values = [...flow_cuts.part(row).data];
      const points = [0, ...values].map((value, at) => [across.place([0, ...own.shares][at]), up.place(value)]);
      pen.trace(points, { colour, width, dash });
      if (row < 2) for (const [x, y] of points) pen.dot(x, y, 3, colour);
    }
    const ends = this.lines(theme)
      .filter(({ name }) => name)
      .map(({ row, ...line }) => ({ ...line, y: up.place(flow_cuts.at(row, own.shares.length - 1)) }));
    writeEnds(pen, ends, across.to + 7, RIGHT - 8);
  }

  /**
   * The curves: by flow, by attention, and in random orders, of which one has a name.
   * @param {Theme} theme
   */
  lines(theme) {
    const { texts } = this;
    const [rows] = this.lesson.arrays.flow_cuts.shape;
    const drawn = Array.from({ length: rows - 2 }, (_, order) => ({
      row: 2 + order,
      name: order ? "" : texts.flow_random,
      colour: theme.muted,
      width: 1.3,
      dash: [4, 3],
    }));
    return [
      { row: 0, name: texts.flow_by_flow, colour: theme.text, width: 2.5, dash: [] },
      { row: 1, name: texts.flow_by_attention, colour: theme.kinds.encoder, width: 2, dash: [] },
      ...drawn,
    ];
  }

  /** @type {Scene["grab"]} A token, or a share. */
  grab(x, y, pen) {
    const { flow, curves } = this.places(pen);
    const { across } = this.axes(curves);
    if (x >= curves.x && y >= curves.y) {
      const near = (/** @type {number} */ share) => Math.abs(across.place(share) - x);
      return { share: String([...SHARES].sort((a, b) => near(a) - near(b))[0]) };
    }
    const hit = pen.first ? flow.at({ x, y }) : null;
    return hit && "output" in hit ? { word: hit.output } : null;
  }

  /** @type {Scene["hit"]} "3", a token; "cut 0.05", a share. */
  hit(name, pen) {
    const { flow, curves } = this.places(pen);
    const [what, share] = name.split(" ");
    if (what !== "cut") return flowToken(flow, Number(what));
    const { across, up } = this.axes(curves);
    return { x: across.place(Number(share)), y: (up.from + up.to) / 2 };
  }

  /** @type {Scene["stepped"]} */
  stepped(count, settings) {
    const { length } = this.own.outputs;
    return { word: (this.chosen(settings) + count + length) % length };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { own, texts } = this;
    const at = this.chosen(settings);
    const { biases, logit } = this.words(settings)[at];
    const rival = this.rival(settings);
    const parts = largestParts(this.parts(settings), (value) => signed(value, 1));
    const [token, other] = [own.outputs[at], rival ?? ""].map(tokenText);
    const values = { token, other, parts, biases: signed(biases, 1), logit: signed(logit, 1) };
    const made = fillText(rival === null ? texts.flow_say : texts.flow_say_rival, values);
    return this.waits(settings) ? made : `${made} ${this.cutText(settings)}`;
  }

  /** @param {Settings} settings */
  cutText(settings) {
    const { own, texts } = this;
    const at = own.shares.indexOf(Number(settings.share));
    const [flow, attention, ...random] = this.changes(at).map((value) => -value);
    const mean = random.reduce((sum, value) => sum + value, 0) / random.length;
    const fall = { flow: signed(flow, 1), attention: signed(attention, 1), random: signed(mean, 1) };
    return fillText(texts.flow_say_cut, {
      ...fall,
      token: tokenText(own.outputs[own.word]),
      share: percentage(own.shares[at]),
    });
  }

  /**
   * Changes of the log-probability in all orders.
   * @param {number} at Number of the share.
   */
  changes(at) {
    const { flow_cuts } = this.lesson.arrays;
    return Array.from({ length: flow_cuts.shape[0] }, (_, row) => flow_cuts.at(row, at));
  }

  /** @type {Scene["table"]} */
  table() {
    const { own, texts } = this;
    const drawn = this.changes(0).slice(2);
    const random = drawn.map((_, order) => `${texts.flow_random} ${order + 1}`);
    const columns = [texts.flow_share, texts.flow_count, texts.flow_by_flow, texts.flow_by_attention, ...random];
    const count = (/** @type {number} */ share) => Math.max(1, Math.round(share * own.edges));
    return { columns, rows: own.shares.map((share, at) => [percentage(share), count(share), ...this.changes(at)]) };
  }
}

/** 0.005 -> "0.5 %", with a space that does not break. */
const percentage = (/** @type {number} */ share) => `${Number((100 * share).toFixed(2))}${percentSign()}`;

/** About the width of a line of small tokens. */
const wide = (/** @type {string[]} */ tokens) =>
  tokens.reduce((sum, token) => sum + Math.max(34, 10 * token.length + 14), 80);
