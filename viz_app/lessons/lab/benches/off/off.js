// Switch off: every head by what the translation loses without it, for the whole of it or one token; and what is written
// without the heads that are switched off.

import { headAddress } from "../../../../components/common/heads/heads.js";
import { fillText, signed } from "../../../../components/common/text/format.js";
import { choice } from "../../../stage/js/describe.js";
import { crossOut, HeadGrid, leastHeight, NARROW, ring } from "../../../stage/js/headgrid.js";
import { bits, digits } from "../../../stage/js/headset.js";
import { wrapped } from "../../../stage/js/paragraph.js";
import { beside, drawTones, TokenBench, tone } from "../../js/bench.js";
import { drawCheck } from "../../js/check.js";
import { EffectBars, isBeyond } from "../../js/effectbars.js";
import { after } from "../../js/order.js";
import { TwoTranslations } from "../../js/twotranslations.js";
import { HeadEffects } from "./headeffects.js";
import { offTable, offText } from "./offtext.js";

/**
 * Numbers of `bench.py`.
 * `draws`: of random vectors.
 * `measured`: of each kind and layer, whether its heads are measured and not estimated; null where all are.
 * @typedef {{
 *   tokens: string[];
 *   text: string;
 *   layers: number;
 *   heads: number;
 *   draws: number;
 *   measured: boolean[] | null;
 *   without: import("../../js/numbers").Compared | null;
 *   check: import("../../js/numbers").Check | null;
 * }} Numbers
 */

const LEGEND = 56; // height below the tiles
const FRAMED = 58; // more, where layers that are measured have a frame
const TITLE = 50; // above the bars
const CHECK = 140; // below them: what happens without several heads

/** @typedef {import("../../../stage/js/headgrid.js").NumberedHead} Head */

/** @extends {TokenBench<Numbers>} */
export class Off extends TokenBench {
  name = "off";
  showsHead = true;
  term = "effect";

  get controls() {
    const { texts } = this;
    const changes = Object.fromEntries(["zero", "mean", "resample"].map((name) => [name, texts[`change_${name}`]]));
    return [
      choice("change", texts.change, changes, { server: true }),
      { name: "frozen", kind: "switch", label: texts.frozen, start: false, server: true },
      { name: "band", kind: "switch", label: texts.band, start: false, server: true },
      { name: "check", kind: "switch", label: texts.check_heads_label, start: false, server: true },
      { name: "measure", kind: "button", label: texts.measure, where: () => Boolean(this.known?.measured) },
      { name: "toggle", kind: "button", label: texts.toggle },
      { name: "all", kind: "button", label: texts.all_on },
      { name: "chosen", kind: "held", start: "" },
      { name: "token", kind: "held", start: -1 },
      { name: "off", kind: "held", start: "h0", server: true },
      { name: "layers", kind: "held", start: "h0", server: true },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    if (width < NARROW) return 720 + (this.known?.check ? CHECK : 0);
    return Math.max(430, Math.min(room, 600), leastHeight(this.known?.layers ?? 0) + this.legend);
  }

  /** Height below the tiles. */
  get legend() {
    return LEGEND + (this.known?.measured ? FRAMED : 0);
  }

  get effects() {
    return new HeadEffects(this.own, this.lesson.arrays);
  }

  /**
   * The head that is shown: the one that was pressed, else the one with the largest effect.
   * @param {Settings} settings
   * @param {number[]} order
   */
  shown({ chosen }, order) {
    const { list } = this.effects;
    return list.find((each) => chosen === headAddress(each)) ?? list[order[0]];
  }

  /** @param {Settings} settings */
  off({ off }) {
    const on = bits(off.slice(1));
    return this.effects.list.map(({ number }) => Boolean(on[number]));
  }

  /** @param {{ width: number, height: number }} picture */
  places({ width, height }) {
    const grid = new HeadGrid(this.effects.all, { width, height: height - this.legend }, 0.3, 165);
    return { grid, side: beside({ width, height }, grid, { right: 44, below: this.legend + 14 }) };
  }

  /** @type {TokenBench<Numbers>["picture"]} */
  picture(pen, settings) {
    const { own, effects, texts } = this;
    const { theme } = pen;
    const { grid, side } = this.places(pen);
    const token = this.token(settings);
    const { values, order, most } = effects.ranked(token);
    const shown = this.shown(settings, order);
    const off = this.off(settings);
    grid.drawLabels(pen, texts);
    grid.forEach(({ number }, tile) => {
      pen.fill(tile.x, tile.y, tile.size, tile.size, tone(theme, values[number] / most));
      pen.frame(tile.x + 0.5, tile.y + 0.5, tile.size - 1, tile.size - 1, theme.line);
      if (isBeyond(values[number], effects.band(number, token)))
        pen.dot(tile.x + tile.size - 5, tile.y + 5, 2, theme.text);
      if (off[number]) crossOut(pen, tile);
      if (number === shown.number) ring(pen, tile, theme.text, 2.5);
    });
    this.frameMeasured(pen, grid);
    this.drawLegend(pen, most, grid);
    const count = off.filter(Boolean).length;
    const titles = { before: texts.all_heads, after: count ? fillText(texts.without, { count }) : texts.off_hint };
    this.translations.draw(pen, titles, side);
    const height = this.barsHeight(pen, side);
    this.drawHead(pen, { shown, token, order, value: values[shown.number] }, { ...side, height });
    const place = { ...side, y: side.y + height, height: CHECK - 16 };
    if (own.check) drawCheck(pen, texts, texts.check_heads_title, own.check, place);
  }

  /**
   * Frames around the layers that are measured, where others are not.
   * @param {Pen} pen
   * @param {HeadGrid<Head>} grid
   */
  frameMeasured(pen, grid) {
    const { measured, heads } = this.own;
    measured?.forEach((is, row) => {
      if (!is) return;
      const { kind, layer } = this.effects.list[row * heads];
      const { x, y, size } = grid.tile(kind, layer, 0);
      pen.frame(x - 1.5, y - 1.5, heads * grid.cell + 2, size + 3, pen.theme.text, 1.5);
    });
  }

  /**
   * What the colours mean.
   * @param {Pen} pen
   * @param {number} most
   * @param {HeadGrid<Head>} grid
   */
  drawLegend(pen, most, grid) {
    const { texts } = this;
    const wide = Math.min(220, Math.max(120, grid.width - 20));
    const y = grid.height + 8;
    drawTones(pen, { x: 15, y, width: wide, height: 10 });
    pen.frame(15, y, wide, 10, pen.theme.line);
    const ends = { size: 11, most: wide / 2 };
    for (const [name, value, x, align] of /** @type {[string, number, number, string][]} */ ([
      [texts.hindered, -most, 15, "left"],
      [texts.helped, most, 15 + wide, "right"],
    ])) {
      pen.note(signed(value, 2), x, y + 20, { ...ends, align });
      pen.note(name, x, y + 35, { ...ends, align });
    }
    if (this.effects.hasBands && pen.width >= NARROW + 200) pen.note(texts.dotted, wide + 30, y + 5, { size: 11 });
    if (this.own.measured) {
      const style = { size: 11, colour: pen.theme.muted };
      wrapped(pen, texts.framed, 15, y + 54, Math.max(wide, grid.width - 20), style);
    }
  }

  /**
   * The effects of one head, a bar for each token.
   * @param {Pen} pen
   * @param {{ shown: Head, token: number, order: number[], value: number }} what
   * @param {Box} place
   */
  drawHead(pen, { shown, token, order, value }, place) {
    const { theme } = pen;
    const { texts } = this;
    const { x, y, width } = place;
    const colour = theme.kinds[shown.kind];
    pen.write(this.headTitle(shown), x, y + 10, { size: 17, weight: 650, colour, most: width });
    const what = { effect: signed(value, 2), rank: order.indexOf(shown.number) + 1, heads: order.length };
    const total = token < 0 ? `${fillText(texts.total, what)}, ` : "";
    const line = `${total}${fillText(texts.rank, what)}`;
    if (!this.effects.isMeasured(shown.number)) {
      const hint = fillText(token < 0 ? texts.estimate : texts.not_measured, { effect: signed(value, 2) });
      wrapped(pen, `${hint} ${texts.measure_hint}`, x, y + 32, width, { size: 13, colour: theme.muted });
      return;
    }
    pen.note(line, x, y + 32, { size: 13, most: width });
    this.bars(shown, place).draw(pen, {
      tokens: this.own.tokens,
      marked: token,
      colour,
      title: texts.effect,
    });
  }

  /**
   * The effects of a head as bars.
   * @param {Head} shown
   * @param {Box} place
   */
  bars(shown, { x, y, width, height }) {
    const { values, bands } = this.effects.ofTokens(shown.number);
    return new EffectBars(values, { x, y: y + TITLE, width, height: height - TITLE }, bands);
  }

  /**
   * How high the head and its bars are, above the check and the translations.
   * @param {Pen} pen
   * @param {Box} side
   */
  barsHeight(pen, { width, height }) {
    return height - this.translations.height(pen, width) - (this.own.check ? CHECK : 0);
  }

  get translations() {
    return new TwoTranslations(this.own.text, this.own.without);
  }

  /**
   * The bars of the head that is shown, where they are drawn; null for one that is not measured.
   * @param {Pen} pen
   * @param {Settings} settings
   */
  shownBars(pen, settings) {
    const { side } = this.places(pen);
    const shown = this.shown(settings, this.effects.ranked(this.token(settings)).order);
    const measured = this.effects.isMeasured(shown.number);
    return measured ? this.bars(shown, { ...side, height: this.barsHeight(pen, side) }) : null;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    if (!pen.first) return null;
    const head = this.places(pen).grid.at(x, y);
    if (head) return { chosen: headAddress(head) };
    return this.toggled(this.shownBars(pen, settings)?.at(x, y) ?? null, settings);
  }

  /** @type {Scene["hit"]} "cross 1 2", a head; "token 3", a bar. */
  hit(name, pen, settings) {
    const words = name.split(" ");
    if (words[0] === "token") return this.shownBars(pen, settings)?.label(Number(words[1])) ?? null;
    return this.places(pen).grid.hit(name);
  }

  /** @type {Scene["press"]} */
  press(name, settings) {
    const { measured, heads } = this.own;
    if (name === "all") return { off: "h0" };
    const { number } = this.shown(settings, this.effects.ranked(this.token(settings)).order);
    if (name === "measure" && measured)
      return { layers: `h${digits(measured.map((is, row) => is || row === Math.floor(number / heads)))}` };
    const off = this.off(settings);
    off[number] = !off[number];
    return { off: `h${digits(off)}` };
  }

  /** @type {Scene["stepped"]} From the largest effect to the smallest, round and round. */
  stepped(count, settings) {
    const { effects } = this;
    const { order } = effects.ranked(this.token(settings));
    const at = order.indexOf(this.shown(settings, order).number);
    return { chosen: headAddress(effects.list[after(order, at, count)]) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    return offText(this, settings);
  }

  /** @type {Scene["table"]} */
  table(settings) {
    return offTable(this, settings);
  }
}
