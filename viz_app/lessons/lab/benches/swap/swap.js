// Swap: one value of a run put into another one, and how much of the difference between two sentences comes with it.

import { headAddress, KINDS } from "../../../../components/common/heads/heads.js";
import { fillText, percent, signed } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";
import { choice } from "../../../stage/js/describe.js";
import { HeadGrid, leastHeight, NARROW, numberedHeads, ring } from "../../../stage/js/headgrid.js";
import { wrapped } from "../../../stage/js/paragraph.js";
import { Bench, beside, drawTones, tone } from "../../js/bench.js";
import { after } from "../../js/order.js";
import { TwoTranslations } from "../../js/twotranslations.js";
import { PositionGrid } from "./positiongrid.js";

/**
 * Numbers of `bench.py`. `problem`: why two sentences cannot be compared, and then nothing else; `foreign`: the visitor's sentence is neither; `patched`: words of the receiving run's translation and of the changed one.
 * @typedef {{
 *   pair: string;
 *   clean: string;
 *   corrupted: string;
 *   foreign: boolean;
 *   problem: string | null;
 *   texts: [string, string];
 *   answers: [string, string];
 *   prefix: string[];
 *   source: string[];
 *   inputs: string[];
 *   metrics: [number, number];
 *   layers: number;
 *   heads: number;
 *   site: "heads" | "residual" | "ffn";
 *   direction: "denoise" | "noise";
 *   cell: [number, number, number];
 *   patched: import("../../js/numbers").Compared;
 * }} Numbers
 */

const LEGEND = 40; // height below the tiles
const STACKS = ["encoder", "decoder"];

/** @typedef {[number, number, number]} Cell Kind or stack, layer, head or position. */

/** @extends {Bench<Numbers>} */
export class Swap extends Bench {
  name = "swap";
  term = "recovered";

  get controls() {
    const { texts } = this;
    const { pairs } = this.lesson.values;
    /**
     * @param {string} prefix
     * @param {string[]} names
     */
    const named = (prefix, names) => Object.fromEntries(names.map((name) => [name, texts[`${prefix}_${name}`]]));
    const server = { server: true };
    return [
      choice("pair", texts.pair, named("pair", pairs), server),
      {
        name: "other",
        kind: "text",
        label: texts.other_sentence,
        start: "",
        show: () => "",
        where: (/** @type {Settings} */ { pair }) => pair === "own",
        ...server,
      },
      choice("site", texts.site, named("site", ["heads", "residual", "ffn"]), server),
      choice("direction", texts.direction, named("direction", ["denoise", "noise"]), server),
      { name: "cell", kind: "held", start: "", ...server },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 760 : Math.max(440, Math.min(room, 600), leastHeight(this.known?.layers ?? 0) + LEGEND);
  }

  /** @type {Scene["missing"]} */
  missing(settings) {
    const { problem = null } = this.known ?? {};
    return problem ? this.texts[`swap_${problem}`] : super.missing(settings);
  }

  /**
   * The cell that was pressed, if there is such a one, else the one that Python chose.
   * @param {Settings} settings
   * @returns {Cell}
   */
  shown({ cell }) {
    return this.cells.find((each) => this.setting(each) === cell) ?? this.own.cell;
  }

  /**
   * A cell as a setting: the name of a head, or numbers from 0.
   * @param {Cell} cell
   */
  setting([place, layer, at]) {
    return this.own.site === "heads" ? headAddress({ kind: KINDS[place], layer, head: at }) : `${place}.${layer}.${at}`;
  }

  /** All cells, in the order of the numbers. */
  get cells() {
    const { own } = this;
    const last = own.site === "heads" ? KINDS.map(() => own.heads) : this.blocks.map(({ tokens }) => tokens.length);
    return last.flatMap((count, place) =>
      Array.from({ length: own.layers * count }, (_, number) => {
        return /** @type {Cell} */ ([place, Math.floor(number / count), number % count]);
      }),
    );
  }

  get blocks() {
    const { source, inputs } = this.own;
    return [source, inputs].map((tokens, place) => ({ stack: STACKS[place], tokens }));
  }

  /** @param {Cell} cell */
  value([place, layer, at]) {
    return this.lesson.arrays.recovered.at(place, layer, at);
  }

  /**
   * What a cell is called.
   * @param {Cell} cell
   */
  title([place, layer, at]) {
    const { own, texts } = this;
    if (own?.site === "heads") return this.headTitle({ kind: KINDS[place], layer, head: at });
    const token = tokenText(this.blocks[place].tokens[at]);
    return fillText(texts.position_title, { stack: texts[STACKS[place]], layer: layer + 1, token });
  }

  /** @param {{ width: number, height: number }} size */
  places({ width, height }) {
    const { layers, heads, site } = this.own;
    const picture = { width, height: height - LEGEND };
    const grid =
      site === "heads"
        ? new HeadGrid(numberedHeads(layers, heads).all, picture, 0.3, 165)
        : new PositionGrid(this.blocks, layers, picture, 0.42);
    return { grid, side: beside({ width, height }, grid, { right: 44, below: LEGEND + 10 }) };
  }

  /** @type {Bench<Numbers>["picture"]} */
  picture(pen, settings) {
    const { own, texts } = this;
    const { grid, side } = this.places(pen);
    const shown = this.shown(settings);
    grid.drawLabels(pen, texts);
    if (grid instanceof HeadGrid)
      grid.forEach(({ kind, layer, head }, tile) => {
        const cell = /** @type {Cell} */ ([KINDS.indexOf(kind), layer, head]);
        this.drawTile(pen, cell, { ...tile, width: tile.size, height: tile.size }, shown);
      });
    else grid.forEach((cell, tile) => this.drawTile(pen, cell, tile, shown));
    this.drawLegend(pen, grid.height + 10, Math.min(200, grid.width - 20));
    const titles = { before: texts[`swap_text_${own.direction}`], after: texts.swap_patched };
    const translations = new TwoTranslations(own.texts[own.direction === "denoise" ? 1 : 0], own.patched);
    translations.draw(pen, titles, side);
    const down = this.drawSentences(pen, side);
    pen.write(this.title(shown), side.x, down + 14, { size: 17, weight: 650, most: side.width });
    this.drawScale(pen, shown, { ...side, y: down + 62 });
  }

  /**
   * @param {Pen} pen
   * @param {Cell} cell
   * @param {Box} tile
   * @param {Cell} shown
   */
  drawTile(pen, cell, tile, shown) {
    const { theme } = pen;
    const { x, y, width, height } = tile;
    pen.fill(x, y, width, height, tone(theme, Math.max(-1, Math.min(1, this.value(cell)))));
    pen.frame(x + 0.5, y + 0.5, width - 1, height - 1, theme.line);
    if (!cell.every((number, at) => number === shown[at])) return;
    if (width === height) ring(pen, { x, y, size: width }, theme.text, 2.5);
    else pen.frame(x - 1, y - 1, width + 2, height + 2, theme.text, 2.5);
  }

  /**
   * @param {Pen} pen
   * @param {number} y
   * @param {number} wide
   */
  drawLegend(pen, y, wide) {
    drawTones(pen, { x: 15, y, width: wide, height: 10 });
    pen.frame(15, y, wide, 10, pen.theme.line);
    const ends = { size: 11, most: wide / 2 };
    pen.note(signed(-1, 0), 15, y + 20, ends);
    pen.note("0", 15 + wide / 2, y + 20, { size: 11, align: "center" });
    pen.note("1", 15 + wide, y + 20, { ...ends, align: "right" });
  }

  /**
   * Both sentences with their translations up to where these part; returns how far down they stand.
   * @param {Pen} pen
   * @param {Box} place
   */
  drawSentences(pen, { x, y, width }) {
    const { own, texts } = this;
    const start = own.prefix.map(tokenText).join(" ");
    let top = y + 10;
    for (const [number, sentence] of [own.clean, own.corrupted].entries()) {
      pen.note(texts[number ? "corrupted" : "clean"], x, top, { size: 12 });
      top += 20 + wrapped(pen, sentence, x, top + 20, width, { size: 15, weight: 600 }) - 4;
      const answer = `${start} [${tokenText(own.answers[number])}] …`.trim();
      pen.write(answer, x, top, { size: 13, font: pen.theme.code, colour: pen.theme.muted, most: width });
      top += 26;
    }
    return top;
  }

  /**
   * Where the changed run stands between the two.
   * @param {Pen} pen
   * @param {Cell} shown
   * @param {Box} place
   */
  drawScale(pen, shown, { x, y, width }) {
    const { own, texts } = this;
    const { theme } = pen;
    const value = this.value(shown);
    const [from, to] = own.direction === "denoise" ? [1, 0] : [0, 1];
    const left = x + 30;
    const long = Math.min(340, width - 136);
    const here = left + long * Math.max(-0.08, Math.min(1.08, value));
    pen.line(left, y, left + long, y, { colour: theme.muted, width: 2 });
    for (const [place, number] of [
      [left, from],
      [left + long, to],
    ]) {
      pen.line(place, y - 6, place, y + 6, { colour: theme.muted, width: 2 });
      pen.write(tokenText(own.answers[number]), place, y + 18, { font: theme.code, size: 13, align: "center" });
    }
    pen.dot(here, y, 7, theme.kinds.decoder);
    pen.write(percent(value), here, y - 18, { size: 14, weight: 650, align: "center" });
    pen.note(texts.recovered, left + long + 16, y, { size: 12, most: Math.max(20, x + width - left - long - 16) });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    if (!pen.first) return null;
    const { grid } = this.places(pen);
    const pressed = grid.at(x, y);
    if (!pressed) return null;
    return { cell: Array.isArray(pressed) ? this.setting(pressed) : headAddress(pressed) };
  }

  /** @type {Scene["hit"]} "cross 1 2", a head. */
  hit(name, pen) {
    const { grid } = this.places(pen);
    return grid instanceof HeadGrid ? grid.hit(name) : null;
  }

  /** @type {Scene["stepped"]} From the largest value to the smallest, round and round. */
  stepped(count, settings) {
    const order = [...this.cells]
      .sort((one, other) => this.value(other) - this.value(one))
      .map((cell) => this.setting(cell));
    return { cell: after(order, order.indexOf(this.setting(this.shown(settings))), count) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { answers, direction } = this.own;
    const shown = this.shown(settings);
    const [first, second] = answers.map(tokenText);
    const share = percent(this.value(shown));
    const said = fillText(this.texts[`swap_say_${direction}`], { part: this.title(shown), share, first, second });
    return this.own.foreign ? `${said} ${this.texts.swap_foreign}` : said;
  }

  /** @type {Scene["table"]} */
  table() {
    const { texts } = this;
    const { metrics } = this.lesson.arrays;
    const rows = this.cells.map((cell) => [this.title(cell), this.value(cell), metrics.at(...cell)]);
    return { columns: [texts.part, texts.recovered, texts.swap_metric], rows };
  }
}
