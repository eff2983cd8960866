// Redirect: a row of attention that is changed by hand; what is probable next, before and after, and what is generated.

import { Axis } from "../../../../components/common/draw/plot.js";
import { headAddress, parseHead } from "../../../../components/common/heads/heads.js";
import { fillText, percent } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";
import { HeadGrid, leastHeight, NARROW, numberedHeads, ring } from "../../../stage/js/headgrid.js";
import { Bench, beside } from "../../js/bench.js";
import { nextHead } from "../../js/benchheads.js";
import { EffectBars } from "../../js/effectbars.js";
import { after, largest } from "../../js/order.js";
import { TwoTranslations } from "../../js/twotranslations.js";
import { redirectText } from "./redirecttext.js";
import { nextCopy, undone, withEdit } from "./rowedits.js";

/**
 * Numbers of `bench.py`. `edits`: as sentences say them; `top`: token, probability before and after; `written`: generated anew.
 * `sentence`: the example that a row is copied from.
 * `sentences`: examples that there are.
 * `step`: the token whose probability is shown.
 * @typedef {{
 *   head: string;
 *   layers: number;
 *   heads: number;
 *   queries: string[];
 *   query: number;
 *   keys: string[];
 *   tokens: string[];
 *   text: string;
 *   edits: {
 *     kind: Kind;
 *     layer: number;
 *     head: number;
 *     query: string;
 *     action: string;
 *     key: string;
 *     number: number;
 *     percent: number;
 *     sentence: string;
 *   }[];
 *   sentences: number;
 *   step: number;
 *   top: [string, number, number][];
 *   written: import("../../js/numbers").Compared | null;
 * }} Numbers
 */

const TITLE = 44; // above the row
const [MIN, MAX] = [11, 28]; // height of a key
const TOP = 22; // height of a token that may come next
const CHANGES = ["more", "less", "forbid", "only", "even"];
const COPIES = ["other", "sentence"];
const STEP = 5; // percent: what a drag and the buttons change

/** @extends {Bench<Numbers>} */
export class Redirect extends Bench {
  name = "redirect";
  showsHead = true;
  term = "row";

  get controls() {
    const { texts } = this;
    /** @param {string} name */
    const button = (name) => ({ name, kind: "button", label: texts[`redirect_${name}`] });
    return [
      ...[...CHANGES, ...COPIES, "undo", "clear", "next_query", "next_head"].map(button),
      { name: "write", kind: "switch", label: texts.redirect_write, start: false, server: true },
      { name: "chosen", kind: "held", start: "", server: true },
      { name: "query", kind: "held", start: -1, server: true },
      { name: "token", kind: "held", start: -1, server: true },
      { name: "edits", kind: "held", start: "", server: true },
      { name: "key", kind: "held", start: -1 },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const keys = this.known?.keys.length ?? 8;
    if (width < NARROW) return 165 + TITLE + keys * 20 + 560;
    return Math.max(470, TITLE + 20 + keys * MIN, Math.min(room, 620), leastHeight(this.known?.layers ?? 0) + 8);
  }

  get head() {
    return parseHead(this.own.head);
  }

  /**
   * The key that the buttons change: the one that was pressed, else the one with the largest weight.
   * @param {Settings} settings
   */
  key({ key }) {
    const { data } = this.lesson.arrays.row_after;
    const pressed = Math.round(key);
    return pressed >= 0 && pressed < data.length ? pressed : largest(data);
  }

  /** @param {{ width: number, height: number }} picture */
  places({ width, height }) {
    const { layers, heads, keys, top } = this.own;
    const narrow = width < NARROW;
    const grid = new HeadGrid(numberedHeads(layers, heads).all, { width, height: height - 8 }, 0.19, 150);
    const row = beside({ width, height }, grid, { right: 30, below: 16 });
    if (narrow) row.height = TITLE + keys.length * 20;
    else row.width = width * 0.34;
    const used = { width: row.x + row.width, height: row.y + row.height };
    const side = beside({ width, height }, used, { right: 34, below: 16 });
    const label = Math.min(96, row.width * 0.3);
    const tall = Math.min(MAX, (row.height - TITLE - 8) / Math.max(1, keys.length));
    const across = new Axis(0, 1, row.x + label, row.x + row.width - 44);
    const tokens = { ...side, height: 26 + top.length * TOP };
    return { grid, row, side, tall, across, tokens };
  }

  /** @type {Bench<Numbers>["picture"]} */
  picture(pen, settings) {
    const { own, texts } = this;
    const { theme } = pen;
    const { grid, side, tokens } = this.places(pen);
    grid.drawLabels(pen, texts);
    const changed = new Set(own.edits.map(headAddress));
    grid.forEach((head, tile) => {
      const name = headAddress(head);
      pen.fill(tile.x, tile.y, tile.size, tile.size, theme.kinds[head.kind], changed.has(name) ? 1 : 0.3);
      if (name === own.head) ring(pen, tile, theme.text, 2.5);
    });
    this.drawRow(pen, settings);
    this.drawTokens(pen, tokens);
    this.bars(pen, side).draw(pen, {
      tokens: own.tokens,
      marked: own.step,
      colour: theme.kinds.decoder,
      title: texts.redirect_changes,
    });
    const titles = { before: texts.redirect_unchanged, after: own.written ? texts.redirect_new : texts.redirect_hint };
    this.translations.draw(pen, titles, side);
  }

  /**
   * A bar for each key; behind it the model's own weight.
   * @param {Pen} pen
   * @param {Settings} settings
   */
  drawRow(pen, settings) {
    const { own, texts } = this;
    const { theme } = pen;
    const { row, tall, across } = this.places(pen);
    const { row_before: before, row_after: after } = this.lesson.arrays;
    const colour = theme.kinds[this.head.kind];
    pen.write(this.headTitle(this.head), row.x, row.y + 10, { size: 15, weight: 650, colour, most: row.width });
    const query = tokenText(own.queries[own.query]);
    pen.note(fillText(texts.redirect_row, { query }), row.x, row.y + 31, { size: 13, most: row.width });
    const size = Math.max(8, Math.min(13, tall - 3));
    const chosen = this.key(settings);
    own.keys.forEach((key, at) => {
      const y = row.y + TITLE + at * tall;
      const style = { font: theme.code, size, align: "right", weight: at === chosen ? 700 : 400 };
      pen.write(tokenText(key), across.from - 8, y + tall / 2, { ...style, most: across.from - row.x - 10 });
      pen.fill(across.from, y + 1, across.to - across.from, tall - 2, theme.line, 0.35);
      pen.fill(across.from, y + 1, across.place(before.data[at]) - across.from, tall - 2, theme.muted, 0.45);
      const wide = across.place(after.data[at]) - across.from;
      pen.fill(across.from, y + tall * 0.22, Math.max(1, wide), tall * 0.56, colour);
      pen.note(percent(after.data[at]), row.x + row.width, y + tall / 2, { align: "right", size });
      if (at === chosen) pen.frame(row.x, y, row.width, tall, theme.text, 1.5);
    });
  }

  /**
   * The tokens that are most probable at the step, before and after.
   * @param {Pen} pen
   * @param {Box} place
   */
  drawTokens(pen, { x, y, width }) {
    const { own, texts } = this;
    const { theme } = pen;
    const token = tokenText(own.tokens[own.step]);
    const title = fillText(texts.redirect_next, { token });
    pen.write(title, x, y + 10, { size: 14, weight: 650, most: width });
    const label = Math.min(100, width * 0.32);
    const room = width - label - 96;
    own.top.forEach(([token, before, after], at) => {
      const middle = y + 32 + at * TOP;
      const own_one = token === own.tokens[own.step];
      const style = { font: theme.code, size: 13, align: "right", weight: own_one ? 700 : 400, most: label - 10 };
      pen.write(tokenText(token), x + label - 8, middle, style);
      pen.fill(x + label, middle - 7, Math.max(1, room * before), 14, theme.muted, 0.45);
      pen.fill(x + label, middle - 4, Math.max(1, room * after), 8, theme.kinds.decoder);
      pen.note(`${percent(before)} → ${percent(after)}`, x + width, middle, { align: "right", size: 12 });
    });
  }

  /**
   * Changes of all tokens as bars, between the tokens and the translations.
   * @param {Pen} pen
   * @param {Box} side
   */
  bars(pen, { x, y, width, height }) {
    const { tokens } = this.places(pen);
    const top = y + tokens.height + 16;
    const bottom = y + height - this.translations.height(pen, width);
    return new EffectBars(this.lesson.arrays.changes.data, { x, y: top, width, height: bottom - top });
  }

  get translations() {
    return new TwoTranslations(this.own.text, this.own.written);
  }

  /**
   * The settings of another head: its first row.
   * @param {Pick<Head, "kind" | "layer" | "head">} head
   */
  chosen(head) {
    return { chosen: headAddress(head), query: -1, key: -1, token: -1 };
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    const { own } = this;
    const { grid, row, side, tall, across } = this.places(pen);
    if (!pen.first) return x >= row.x && x <= row.x + row.width ? this.dragged(settings, across.value(x)) : null;
    const head = grid.at(x, y);
    if (head) return this.chosen(head);
    const key = Math.floor((y - row.y - TITLE) / tall);
    if (x >= row.x && x <= row.x + row.width && key >= 0 && key < own.keys.length)
      return x < across.from ? { key } : { key, ...this.dragged({ ...settings, key }, across.value(x)) };
    const at = this.bars(pen, side).at(x, y);
    if (at === null) return null;
    return this.head.kind === "encoder" ? { token: at } : { token: at, query: at, key: -1 };
  }

  /** @type {Scene["hit"]} "cross 1 2", a head; "key 1 0.5", a weight of a key. */
  hit(name, pen) {
    const words = name.split(" ");
    const { grid, row, tall, across } = this.places(pen);
    if (words[0] !== "key") return grid.hit(name);
    return { x: across.place(Number(words[2])), y: row.y + TITLE + (Number(words[1]) + 0.5) * tall };
  }

  /**
   * The key gets a weight, in steps.
   * @param {Settings} settings
   * @param {number} weight
   */
  dragged(settings, weight) {
    const number = Math.round((100 * weight) / STEP) * STEP;
    return { edits: this.edited(settings, `w${this.key(settings)}.${Math.max(0, Math.min(100, number))}`) };
  }

  /**
   * @param {Settings} settings
   * @param {string} action
   */
  edited({ edits }, action) {
    const { head, query } = this.own;
    return withEdit(edits, { head, query }, action);
  }

  /** @type {Scene["press"]} */
  press(name, settings) {
    const { own } = this;
    const key = this.key(settings);
    const weight = this.lesson.arrays.row_after.data[key];
    if (name === "more" || name === "less")
      return { key, ...this.dragged({ ...settings, key }, weight + ((name === "more" ? 2 : -2) * STEP) / 100) };
    if (name === "forbid") return { key, edits: this.edited(settings, `x${key}`) };
    if (name === "only") return { key, edits: this.edited(settings, `o${key}`) };
    if (name === "even") return { edits: this.edited(settings, "a") };
    if (name === "undo") return { edits: undone(settings.edits) };
    if (name === "clear") return { edits: "" };
    if (name === "next_query") {
      const query = (own.query + 1) % own.queries.length;
      return { query, token: -1, key: -1 };
    }
    if (name === "next_head") return this.chosen(nextHead(own));
    const { edits } = settings;
    const heads = { letter: "h", first: 1, count: own.heads, before: this.head.head + 1 };
    const sentences = { letter: "s", first: 0, count: own.sentences, before: -1 };
    return { edits: nextCopy(edits, own, name === "other" ? heads : sentences) };
  }

  /** @type {Scene["stepped"]} From key to key. */
  stepped(count, settings) {
    const { keys } = this.own;
    return { key: after([...keys.keys()], this.key(settings), count) };
  }

  /** @type {Scene["say"]} */
  say() {
    return redirectText(this);
  }

  /** @type {Scene["table"]} */
  table() {
    const { own, texts } = this;
    const { row_before: before, row_after: after } = this.lesson.arrays;
    const rows = own.keys.map((key, at) => [tokenText(key), before.data[at], after.data[at]]);
    return { columns: [texts.key, texts.row_before, texts.row_after], rows };
  }
}
