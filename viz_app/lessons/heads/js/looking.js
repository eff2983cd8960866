// Looking is not doing: for every generated token the source word with most attention, and the one that it needs most.

import { fillText, percent, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { drawBars } from "../../stage/js/barchart.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const HEAD = 44;
const [MIN, MAX] = [13, 34]; // height of a row

/** @extends {Scene<import("./numbers").Values>} */
export class Looking extends Scene {
  get controls() {
    return [{ name: "row", kind: "held", start: -1 }];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const { looking } = this.lesson.values;
    const rows = HEAD + 10 + MIN * (looking?.tokens.length ?? 8);
    if (!isNarrow(width)) return Math.max(360, rows, Math.min(room, 560));
    return HEAD + 20 + (MIN + 9) * (looking?.tokens.length ?? 8) + HEAD + 24 * (looking?.words.length ?? 8);
  }

  /** For each token the word with most attention and the word that it needs most, and how many tokens have two. */
  get pairs() {
    const { looking } = this.lesson.values;
    const { looking_weights: weights, looking_effects: effects } = this.lesson.arrays;
    const rows = looking.tokens.map((_, row) => {
      const [looked, needed] = [weights, effects].map((values) => largest(values.part(row).data));
      return { looked, needed, weight: weights.at(row, looked), effect: effects.at(row, needed) };
    });
    return { rows, differing: rows.filter(({ looked, needed }) => looked !== needed).length };
  }

  /**
   * The row that was pressed, else the one in which the word looked at matters least beside the one that is needed.
   * @param {Settings} settings
   */
  shown({ row }) {
    const { rows } = this.pairs;
    const { looking_effects: effects } = this.lesson.arrays;
    if (row >= 0 && row < rows.length) return Math.round(row);
    const lost = rows.map(({ looked, effect }, at) => effect - effects.at(at, looked));
    return lost.indexOf(Math.max(...lost));
  }

  /** @param {{ width: number, height: number }} picture */
  places({ width, height }) {
    const { looking } = this.lesson.values;
    const count = looking.tokens.length;
    const narrow = isNarrow(width);
    const wide = narrow ? width : width * 0.62;
    const line = narrow ? MIN + 9 : Math.min(MAX, (height - HEAD - 6) / count);
    const panel = narrow
      ? { x: 0, y: HEAD + count * line + 20, width, height: HEAD + 24 * looking.words.length }
      : { x: wide + 36, y: 0, width: width - wide - 36, height };
    return { wide, line, panel };
  }

  missing() {
    return this.lesson.values.looking ? null : this.texts.computing;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { looking } = this.lesson.values;
    const { theme } = pen;
    const { wide, line, panel } = this.places(pen);
    const { rows } = this.pairs;
    const shown = this.shown(settings);
    const middle = wide / 2;
    const half = Math.min(60, wide * 0.12); // of the column of tokens
    const word = Math.min(110, wide * 0.2);
    const bar = middle - half - word - 8;
    const most = Math.max(1e-6, ...rows.map(({ effect }) => effect));
    const hardest = Math.max(1e-6, ...rows.map(({ weight }) => weight));
    const size = Math.max(9, Math.min(14, line - 4));
    const title = { size: 13, weight: 650, most: middle - half - 6 };
    const { cross, decoder } = theme.kinds;
    pen.write(this.texts.looking_weight, middle - half - 6, 16, { ...title, colour: cross, align: "right" });
    pen.write(this.texts.looking_effect, middle + half + 6, 16, { ...title, colour: decoder });
    rows.forEach(({ looked, needed, weight, effect }, at) => {
      const y = HEAD + (at + 0.5) * line;
      const tall = line * 0.62;
      const same = looked === needed;
      const style = { font: theme.code, size, weight: at === shown ? 700 : 500 };
      pen.write(tokenText(looking.tokens[at]), middle, y, { ...style, align: "center", most: 2 * half });
      const left = Math.max(1, (bar * weight) / hardest);
      const right = (bar * Math.max(0, effect)) / most;
      pen.fill(middle - half - left, y - tall / 2, left, tall, cross, same ? 0.35 : 1);
      pen.fill(middle + half, y - tall / 2, right, tall, decoder, same ? 0.35 : 1);
      const named = { ...style, colour: same ? theme.muted : theme.text, most: word };
      pen.write(tokenText(looking.words[looked]), middle - half - left - 6, y, { ...named, align: "right" });
      pen.write(tokenText(looking.words[needed]), middle + half + right + 6, y, named);
    });
    pen.frame(1, HEAD + shown * line, wide - 2, line, theme.text, 2);
    this.drawToken(pen, shown, panel);
  }

  /**
   * All words for one token: how much attention each gets, and what the token loses without it.
   * @param {Pen} pen
   * @param {number} row
   * @param {Box} place
   */
  drawToken(pen, row, { x, y, width, height }) {
    const { looking } = this.lesson.values;
    const { theme } = pen;
    const { looking_weights: weights, looking_effects: effects } = this.lesson.arrays;
    pen.write(tokenText(looking.tokens[row]), x, y + 12, { size: 16, weight: 650, font: theme.code, most: width });
    const values = effects.part(row).data;
    const most = Math.max(1e-6, ...Array.from(values, Math.abs));
    const rows = looking.words.map((word, at) => ({
      name: word,
      values: [weights.at(row, at), Math.abs(values[at]) / most],
      texts: [percent(weights.at(row, at)), signed(-values[at], 2)],
      token: true,
      alphas: [1, values[at] < 0 ? 0.3 : 1],
    }));
    const colours = [theme.kinds.cross, theme.kinds.decoder];
    drawBars(pen, { x, y: y + 30, width, height: height - 30 }, rows, { ends: [0, 1], colours, size: 13 });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    const { looking } = this.lesson.values;
    const { wide, line } = this.places(pen);
    const row = Math.floor((y - HEAD) / line);
    return x <= wide && row >= 0 && row < looking.tokens.length ? { row } : null;
  }

  /** @type {Scene["hit"]} The number of a row. */
  hit(name, pen) {
    return { x: 40, y: HEAD + (Number(name) + 0.5) * this.places(pen).line };
  }

  /** @type {Scene["stepped"]} From token to token. */
  stepped(count, settings) {
    const { looking } = this.lesson.values;
    const { length } = looking.tokens;
    return { row: (this.shown(settings) + count + length) % length };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { looking } = this.lesson.values;
    const row = this.shown(settings);
    const { rows, differing } = this.pairs;
    const { looked, needed, weight, effect } = rows[row];
    const counted = fillText(this.texts.looking_counted, { differing, tokens: rows.length });
    const said = fillText(this.texts.looking_say, {
      token: tokenText(looking.tokens[row]),
      looked: tokenText(looking.words[looked]),
      weight: percent(weight),
      needed: tokenText(looking.words[needed]),
      effect: effect.toFixed(2),
    });
    return `${counted} ${said}`;
  }

  /** @type {Scene["table"]} */
  table() {
    const { texts } = this;
    const { looking } = this.lesson.values;
    const columns = [texts.looking_rows, texts.looking_weight, texts.weight, texts.looking_effect, texts.looking_loss];
    const rows = this.pairs.rows.map(({ looked, needed, weight, effect }, at) => [
      tokenText(looking.tokens[at]),
      tokenText(looking.words[looked]),
      weight,
      tokenText(looking.words[needed]),
      effect,
    ]);
    return { columns, rows };
  }
}

/**
 * The place of the largest value.
 * @param {ArrayLike<number>} values
 */
function largest(values) {
  return Array.from(values).reduce((best, value, at) => (value > values[best] ? at : best), 0);
}
