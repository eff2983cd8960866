// A real head on the reader's sentence: its query, keys and values as colours, its scores and weights as numbers.

import { headAddress } from "../../../components/common/heads/heads.js";
import { fillText, percent, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { shade, twoSided } from "../../stage/js/bars.js";
import { playhead, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { attend } from "./attend.js";

/** @extends {Scene<import("./numbers").Values>} */
export class Real extends Scene {
  term = "softmax";
  /** Numbers that this model's queries and keys have, d_k. */
  width = this.lesson.arrays.queries.shape[2];

  get tokens() {
    return this.lesson.values.tokens;
  }

  get count() {
    return this.tokens.length;
  }

  get playhead() {
    return playhead({
      name: "at",
      label: this.texts.query,
      min: 1,
      max: this.count,
      rate: 0.8,
      start: this.lesson.values.query + 1,
      show: (value) => String(Math.round(value)),
    });
  }

  get controls() {
    const { layer, head } = this.lesson.values;
    const max = this.lesson.arrays.queries.shape[0] - 1;
    return [
      slider({
        name: "head",
        label: this.texts.head,
        max,
        start: head,
        show: (head) => headAddress({ kind: "encoder", layer, head }),
      }),
      slider({ name: "width", label: this.texts.width, min: 1, max: this.width, start: this.width }),
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(330, this.count * 14 + 120, Math.min(room, 620));
  }

  /**
   * @param {string} name
   * @param {number} head
   */
  rows(name, head) {
    const part = this.lesson.arrays[name].part(Math.round(head));
    return Array.from({ length: this.count }, (_, row) => Array.from(part.part(row).data));
  }

  /**
   * Every step of the attention of one query, as if the head compared only its first numbers.
   * @param {number} query
   * @param {number} head
   * @param {number} [width]
   */
  attend(query, head, width = this.width) {
    const [queries, keys] = ["queries", "keys"].map((name) => this.rows(name, head).map((row) => row.slice(0, width)));
    const values = this.rows("values", head);
    return { keys, values, query: queries[query], ...attend(queries[query], keys, values) };
  }

  /**
   * Left to right: tokens, keys, scores, weights, values; the query above, the result below.
   * @param {number} width
   * @param {number} height
   */
  place(width, height) {
    const narrow = isNarrow(width);
    const left = narrow ? 58 : 96;
    const numbers = narrow ? 78 : 190;
    const strip = (width - left - numbers - 12) / 2;
    const top = 62;
    const row = (height - top - 52) / this.count;
    return { narrow, left, strip, top, row, middle: left + strip, numbers, right: left + strip + numbers };
  }

  /** @type {Scene["draw"]} */
  draw(pen, { at, head, width: compared }) {
    const { context, theme, width, height } = pen;
    const place = this.place(width, height);
    const query = Math.max(0, Math.min(this.count - 1, Math.round(at) - 1));
    const { keys, values, query: vector, scores, weights, output } = this.attend(query, head, compared);
    const { largest: most, largest_value: mostValue } = this.lesson.values;
    const { left, strip, top, row, right, middle, numbers, narrow } = place;
    const label = { weight: 600, align: "center" };
    this.strip(pen, vector, left, 24, strip - 10, 20, most);
    const heading = { colour: theme.kinds.decoder, font: theme.code, size: 12, weight: 700, most: left - 10 };
    pen.write(`q ${this.plain(query)}`, left - 8, 34, { ...heading, align: "right" });
    pen.write("k", left + strip / 2, top - 9, label);
    pen.write("v", right + strip / 2, top - 9, label);
    pen.write(narrow ? "" : "q\u00b7k/\u221ad_k", middle + numbers * 0.2, top - 9, label);
    pen.write(this.texts.softmax, middle + numbers * (narrow ? 0.5 : 0.68), top - 9, { ...label, most: numbers });
    keys.forEach((key, k) => {
      const y = top + k * row;
      const tall = row - 2;
      this.strip(pen, key, left, y, strip - 10, tall, most);
      context.globalAlpha = 0.15 + (0.85 * weights[k]) / Math.max(...weights);
      this.strip(pen, values[k], right + 4, y, strip - 10, tall, mostValue);
      context.globalAlpha = 1;
      const size = Math.min(13, Math.max(9, row - 2));
      const here = k === query;
      const name = { colour: here ? theme.text : theme.muted, font: theme.code, size, weight: here ? 700 : 400 };
      pen.write(this.plain(k), left - 8, y + row / 2, { ...name, align: "right", most: left - 12 });
      if (!narrow) pen.write(signed(scores[k]), middle + numbers * 0.2, y + row / 2, { size, align: "center" });
      const from = middle + (narrow ? 2 : numbers * 0.42);
      const room = numbers * (narrow ? 0.55 : 0.32);
      pen.fill(from, y + 1, room * weights[k], tall - 2, shade(theme, weights[k]));
      pen.frame(from + 0.5, y + 1.5, Math.max(1, room * weights[k]), Math.max(1, tall - 3), theme.mark);
      pen.write(percent(weights[k]), right - 6, y + row / 2, { size, align: "right" });
    });
    this.strip(pen, output, right + 4, height - 40, strip - 10, 20, mostValue);
    pen.write(this.texts.output, right - 6, height - 30, { ...label, align: "right", most: right - 8 });
    this.legend(pen, most, mostValue);
  }

  /**
   * A vector as a row of cells, brown above zero and blue below.
   * @param {Pen} pen
   * @param {number[]} vector
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {number} most
   */
  strip(pen, vector, x, y, width, height, most) {
    const { theme } = pen;
    const cell = width / Math.max(vector.length, this.width);
    vector.forEach((value, i) => {
      pen.fill(x + i * cell, y, cell - (cell > 6 ? 1 : 0), height, twoSided(theme, value / most));
    });
    pen.frame(x - 0.5, y - 0.5, width, height, theme.line);
  }

  /**
   * @param {Pen} pen
   * @param {number} most
   * @param {number} mostValue
   */
  legend(pen, most, mostValue) {
    const { theme, width, height } = pen;
    if (isNarrow(width)) return;
    const steps = 9;
    for (let i = 0; i < steps; i++)
      pen.fill(96 + i * 14, height - 20 - 12, 13, 12, twoSided(theme, (2 * i) / (steps - 1) - 1));
    pen.note("\u2212", 90, height - 26, { align: "right" });
    const range = `+   q, k: \u00b1${signed(most, 1)}   v: \u00b1${signed(mostValue, 1)}`;
    pen.note(range, 96 + steps * 14 + 6, height - 26);
  }

  /** @param {number} index */
  plain(index) {
    return tokenText(this.tokens[index]);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width, height }) {
    const { top, row } = this.place(width, height);
    const at = Math.floor((y - top) / row);
    return at >= 0 && at < this.count ? { at: at + 1 } : null;
  }

  /** @type {Scene["say"]} */
  say({ at, head, width }) {
    const query = Math.round(at) - 1;
    const { weights } = this.attend(query, head, width);
    const most = weights.indexOf(Math.max(...weights));
    const weight = percent(weights[most]);
    const row = fillText(this.texts.real_say, { query: this.plain(query), key: this.plain(most), weight });
    if (width === this.width) return `${row} ${this.sayHead(head)}`;
    const whole = this.attend(query, head).weights;
    const moved = percent(weights.reduce((sum, each, k) => sum + Math.abs(each - whole[k]), 0) / 2);
    return `${row} ${fillText(this.texts.real_narrow, { width, whole: this.width, moved })}`;
  }

  /**
   * Why this head is shown, or that it rests.
   * @param {number} head
   */
  sayHead(head) {
    const { layer, head: chosen, heads, sink_share } = this.lesson.values;
    const share = this.restingShare(head);
    const number = headAddress({ kind: "encoder", layer, head: Math.round(head) });
    if (share > sink_share) return fillText(this.texts.real_rests, { head: number, share: percent(share) });
    return Math.round(head) === chosen ? fillText(this.texts.real_chosen, { head: number, count: heads }) : "";
  }

  /**
   * Share of a head's weight on `</s>` and punctuation, the mean over words; as transformer_core/analysis/attention_sinks.py.
   * @param {number} head
   */
  restingShare(head) {
    const { separators } = this.lesson.values;
    const words = separators.flatMap((separator, at) => (separator ? [] : [at]));
    if (!words.length) return 0;
    const shares = words.map((query) =>
      this.attend(query, head).weights.reduce((sum, weight, key) => sum + (separators[key] ? weight : 0), 0),
    );
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  }

  /** @type {Scene["table"]} */
  table({ at, head, width }) {
    const query = Math.round(at) - 1;
    const { products, scores, weights } = this.attend(query, head, width);
    const rows = this.tokens.map((_, k) => [this.plain(query), this.plain(k), products[k], scores[k], weights[k]]);
    const { query: reads, key, softmax } = this.texts;
    return { columns: [reads, key, "q\u00b7k", "q\u00b7k / \u221ad_k", softmax], rows };
  }
}
