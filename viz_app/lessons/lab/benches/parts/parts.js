// Layers and words: what the translation loses without a sub-layer, a whole layer, or a word of the source.

import { fillText, signed } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";
import { NARROW } from "../../../stage/js/headgrid.js";
import { TokenBench, tone, toneInk } from "../../js/bench.js";
import { EffectBars } from "../../js/effectbars.js";
import { after, bySize } from "../../js/order.js";
import { TwoTranslations } from "../../js/twotranslations.js";

/**
 * Numbers of `bench.py`. `parts`: stack, sub-layer and layer of each; `chosen`: p or w and a number; `without`: generated without it.
 * @typedef {{
 *   tokens: string[];
 *   text: string;
 *   layers: number;
 *   parts: [string, string, number][];
 *   words: string[];
 *   chosen: string;
 *   without: import("../../js/numbers").Compared;
 * }} Numbers
 */

const SUBLAYERS = [
  ["encoder", "self_attention"],
  ["encoder", "feed_forward"],
  ["encoder", "layer"],
  ["decoder", "self_attention"],
  ["decoder", "cross_attention"],
  ["decoder", "feed_forward"],
  ["decoder", "layer"],
];
const NAMES = 92; // above the tiles
const LEFT = 18; // for the numbers of the layers
const GAP = 12; // between the stacks
const WORD = 26; // height of a word
const TITLE = 50; // above the bars

/** @extends {TokenBench<Numbers>} */
export class Parts extends TokenBench {
  name = "parts";
  term = "effect";

  get controls() {
    return [
      { name: "chosen", kind: "held", start: "", server: true },
      { name: "token", kind: "held", start: -1 },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const words = this.known?.words.length ?? 8;
    if (width < NARROW) return 880 + Math.ceil(words / 4) * WORD;
    return Math.max(
      470,
      NAMES + (this.known?.layers ?? 6) * 24 + 40 + Math.ceil(words / 3) * WORD,
      Math.min(room, 620),
    );
  }

  /** Names of all parts and words as settings, in the order of the effects. */
  get all() {
    const { parts, words } = this.own;
    return [...parts.map((_, at) => `p${at}`), ...words.map((_, at) => `w${at}`)];
  }

  /**
   * The number of what is shown among all.
   * @param {Settings} settings
   */
  shown({ chosen }) {
    const at = this.all.indexOf(chosen);
    return at < 0 ? Math.max(0, this.all.indexOf(this.own.chosen)) : at;
  }

  /**
   * The effect of everything on a token, or on the whole.
   * @param {number} token
   */
  values(token) {
    const { effects } = this.lesson.arrays;
    const values = this.all.map((_, at) => {
      const row = effects.part(at).data;
      return token < 0 ? row.reduce((sum, each) => sum + each, 0) : row[token];
    });
    return { values, most: Math.max(1e-6, ...values.map(Math.abs)) };
  }

  /**
   * What a part or a word is called.
   * @param {number} number
   */
  title(number) {
    const { own, texts } = this;
    if (number >= own.parts.length)
      return fillText(texts.without_word, { word: tokenText(own.words[number - own.parts.length]) });
    const [stack, sublayer, layer] = own.parts[number];
    const what = { stack: texts[stack], layer: layer + 1, part: texts[`part_${sublayer}`] };
    return fillText(texts.part_title, what);
  }

  /** @param {{ width: number, height: number }} picture */
  places({ width, height }) {
    const { layers, words } = this.own;
    const narrow = width < NARROW;
    const wide = narrow ? width : width * 0.36;
    const across = Math.min(34, (wide - LEFT - GAP) / SUBLAYERS.length);
    const across_words = narrow ? 4 : 3;
    const lines = Math.ceil(words.length / across_words);
    const room = narrow ? 24 : Math.min(30, (height - NAMES - 46 - lines * WORD) / layers);
    const tall = Math.max(12, room);
    const below = NAMES + layers * tall + 34;
    const column = (wide - 4) / across_words;
    const end = below + lines * WORD;
    const side = narrow
      ? { x: 0, y: end + 18, width, height: height - end - 18 }
      : { x: wide + 40, y: 0, width: width - wide - 40, height };
    return { across, tall, below, column, across_words, side };
  }

  /**
   * Where the tile of a part or a word stands.
   * @param {number} number
   * @param {ReturnType<Parts["places"]>} places
   * @returns {Box}
   */
  box(number, { across, tall, below, column, across_words }) {
    const { parts } = this.own;
    if (number >= parts.length) {
      const at = number - parts.length;
      const line = Math.floor(at / across_words);
      return { x: (at % across_words) * column, y: below + line * WORD, width: column - 4, height: WORD - 4 };
    }
    const [stack, sublayer, layer] = parts[number];
    const at = SUBLAYERS.findIndex(([one, other]) => one === stack && other === sublayer);
    const gap = stack === "decoder" ? GAP : 0;
    return { x: LEFT + gap + at * across, y: NAMES + layer * tall, width: across - 2, height: tall - 2 };
  }

  /** @type {TokenBench<Numbers>["picture"]} */
  picture(pen, settings) {
    const { own, texts } = this;
    const { theme } = pen;
    const places = this.places(pen);
    const token = this.token(settings);
    const { values, most } = this.values(token);
    const shown = this.shown(settings);
    this.drawNames(pen, places);
    this.all.forEach((_, number) => {
      const { x, y, width, height } = this.box(number, places);
      pen.fill(x, y, width, height, tone(theme, values[number] / most));
      pen.frame(x + 0.5, y + 0.5, width - 1, height - 1, theme.line);
      if (number === shown) pen.frame(x - 1, y - 1, width + 2, height + 2, theme.text, 2.5);
      const word = own.words[number - own.parts.length];
      if (!word) return;
      const style = {
        font: theme.code,
        size: 13,
        align: "center",
        most: width - 6,
        colour: toneInk(theme, values[number] / most),
      };
      pen.write(tokenText(word), x + width / 2, y + height / 2, style);
    });
    const { side } = places;
    this.translations.draw(pen, { before: texts.whole_model, after: this.title(shown) }, side);
    pen.write(this.title(shown), side.x, side.y + 10, { size: 17, weight: 650, most: side.width });
    const total = { effect: signed(values[shown], 2), token: token < 0 ? "" : tokenText(own.tokens[token]) };
    const line = fillText(token < 0 ? texts.total : texts.total_of, total);
    pen.note(line, side.x, side.y + 32, { size: 13, most: side.width });
    const what = { tokens: own.tokens, marked: token, colour: theme.kinds.decoder, title: texts.effect };
    this.bars(pen, shown, side).draw(pen, what);
  }

  /**
   * @param {Pen} pen
   * @param {ReturnType<Parts["places"]>} places
   */
  drawNames(pen, { across, tall, below }) {
    const { own, texts } = this;
    SUBLAYERS.forEach(([stack, sublayer], at) => {
      const x = LEFT + (stack === "decoder" ? GAP : 0) + (at + 0.4) * across;
      const style = { size: 11, turn: -Math.PI / 3.2, most: NAMES - 14, colour: pen.theme.kinds[stack] };
      pen.write(texts[`part_${sublayer}`], x, NAMES - 8, style);
    });
    for (let layer = 0; layer < own.layers; layer++)
      pen.note(String(layer + 1), LEFT - 5, NAMES + (layer + 0.5) * tall, { size: 11, align: "right" });
    pen.note(texts.source_words, 0, below - 14, { size: 12 });
  }

  get translations() {
    return new TwoTranslations(this.own.text, this.own.without);
  }

  /**
   * @param {Pen} pen
   * @param {number} shown
   * @param {Box} side
   */
  bars(pen, shown, { x, y, width, height }) {
    const place = { x, y: y + TITLE, width, height: height - TITLE - this.translations.height(pen, width) };
    return new EffectBars(this.lesson.arrays.effects.part(shown).data, place);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    if (!pen.first) return null;
    const places = this.places(pen);
    const number = this.all.findIndex((_, at) => {
      const { x: left, y: top, width, height } = this.box(at, places);
      return x >= left && x <= left + width && y >= top && y <= top + height;
    });
    if (number >= 0) return { chosen: this.all[number] };
    return this.toggled(this.bars(pen, this.shown(settings), places.side).at(x, y), settings);
  }

  /** @type {Scene["hit"]} "p4", a part; "w2", a word. */
  hit(name, pen) {
    const { x, y, width, height } = this.box(this.all.indexOf(name), this.places(pen));
    return { x: x + width / 2, y: y + height / 2 };
  }

  /** @type {Scene["stepped"]} From the largest effect to the smallest, round and round. */
  stepped(count, settings) {
    const order = bySize(this.values(this.token(settings)).values);
    return { chosen: this.all[after(order, order.indexOf(this.shown(settings)), count)] };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { own } = this;
    const token = this.token(settings);
    const shown = this.shown(settings);
    const what = token < 0 ? this.texts.whole : `“${tokenText(own.tokens[token])}”`;
    const change = signed(-this.values(token).values[shown], 2);
    return fillText(this.texts.parts_say, { part: this.title(shown), what, change });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { values } = this.values(this.token(settings));
    const columns = [this.texts.part_without, this.texts.effect];
    return { columns, rows: values.map((value, at) => [this.title(at), value]) };
  }
}
