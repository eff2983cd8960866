// The real encoder reads the sentence, then the same words with two of them exchanged. Each word carries how much its own
// vector and its own attention have changed: upwards and downwards from one line, for each way of reading.

import { Axis } from "../../../components/common/draw/plot.js";
import { ease, fillText, percent, tiny } from "../../../components/common/text/format.js";
import { playhead, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const TOKENS = 86; // height of the words
const HEAD = 24; // of a way of reading: its name
const LEFT = 76;
const RIGHT = 22; // slanted words lean over the last column
const ROUNDING = 1e-5; // float32: below this nothing has changed
const FIRST = 1.9; // height of the first way of reading, in heights of another
const LEVEL = 54; // width of a column in which most words lie flat

/** Flight of the words to their new places.
 * @typedef {ReturnType<Swap["flight"]>} Flight */

/** @extends {Scene<import("./numbers").Values>} */
export class Swap extends Scene {
  term = "position";

  get playhead() {
    return playhead({ name: "moved", label: this.texts.exchange, max: 1, rate: 0.6, start: 1, show: percent });
  }

  get controls() {
    const { words, plain, start } = this.lesson.values;
    if (!words.length) return [];
    return ["first", "second"].map((name, index) =>
      slider({
        name,
        label: this.texts[name],
        max: plain.length - 1,
        start: start[index],
        server: true,
        show: (value) => words[plain[value]] ?? "",
      }),
    );
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return isNarrow(width) ? 470 : Math.max(380, Math.min(600, room - 44)); // two rows of controls
  }

  /**
   * Tell whether Python has answered for the controls.
   * @param {Settings} settings
   */
  fresh({ first, second }) {
    const { first: one, second: other } = this.lesson.answers;
    return one === first && other === second;
  }

  /**
   * Middle of the column in which each word stands now, and how far above the line it flies.
   * @param {number} width
   * @param {number} moved
   */
  flight(width, moved) {
    const { order } = this.lesson.values;
    const column = (width - LEFT - RIGHT) / order.length;
    const eased = ease(moved);
    /** @type {{ x: number, up: number, moves: number }[]} */
    const places = [];
    order.forEach((old, place) => {
      const moves = place - old;
      const up = moves ? (moves > 0 ? 48 : 25) * Math.sin(Math.PI * eased) : 0;
      places[old] = { x: LEFT + column * (old + 0.5 + moves * eased), up, moves };
    });
    return { column, places, eased };
  }

  missing() {
    return this.lesson.values.words.length ? null : this.texts.too_short;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height } = pen;
    const { groups } = this.lesson.values;
    context.globalAlpha = this.fresh(settings) ? 1 : 0.35;
    const flight = this.flight(width, settings.moved);
    this.drawWords(pen, flight);
    // The first way of reading has the bars; where nothing changes half the height is enough.
    const part = (height - TOKENS) / (groups.length + FIRST - 1);
    groups.forEach((name, group) => {
      const top = TOKENS + (group ? group + FIRST - 1 : 0) * part;
      this.drawGroup(pen, name, group, top, group ? part : FIRST * part, flight);
    });
    context.globalAlpha = 1;
  }

  /**
   * @param {Pen} pen
   * @param {Flight} flight
   */
  drawWords(pen, { column, places }) {
    const { theme } = pen;
    const { words } = this.lesson.values;
    const most = Math.max(column - 4, LEVEL - 20);
    const level = column > LEVEL - 14 && words.every((text) => pen.measure(text, { font: theme.code }) < most);
    words.forEach((text, old) => {
      const { x, up, moves } = places[old];
      if (!moves && column < 11) return; // no room: only the two that move are named
      const colour = moves ? theme.kinds[moves > 0 ? "decoder" : "cross"] : theme.muted;
      const style = { colour, font: theme.code, weight: moves ? 700 : 400 };
      if (level) pen.write(text, x, TOKENS - 22 - up, { ...style, align: "center" });
      else pen.write(text, x + 2, TOKENS - 10 - up, { ...style, turn: -Math.PI / 3.2, most: 74 });
    });
  }

  /**
   * One way of reading: change of the vectors above the line, of the attention below it.
   * @param {Pen} pen
   * @param {string} name
   * @param {number} group
   * @param {number} top
   * @param {number} lane
   * @param {Flight} flight
   */
  drawGroup(pen, name, group, top, lane, { column, places, eased }) {
    const { theme, width } = pen;
    const changes = this.lesson.arrays.changes.part(group);
    const [up, down] = this.largest();
    const unit = (lane - HEAD - 44) / (up + down);
    const middle = top + HEAD + 16 + unit * up;
    const shares = [new Axis(0, up, middle, middle - unit * up), new Axis(0, down, middle, middle + unit * down)];
    this.drawName(pen, name, top + 10);
    const beside = { align: "right", most: LEFT - 10 };
    pen.note(this.texts.outputs, LEFT - 8, middle - Math.max(9, (unit * up) / 2), beside);
    pen.note(this.texts.attention, LEFT - 8, middle + Math.max(9, (unit * down) / 2), beside);
    const half = Math.min(column * 0.36, 22);
    const largest = Math.max(...changes.data);
    if (largest >= ROUNDING) {
      places.forEach(({ x, moves }, old) => {
        const colour = moves ? theme.kinds[moves > 0 ? "decoder" : "cross"] : theme.kinds.encoder;
        shares.forEach((axis, row) => {
          const change = changes.at(row, old);
          const tip = axis.place(change * eased);
          pen.fill(x - half, Math.min(middle, tip), 2 * half, Math.abs(tip - middle), colour, row ? 0.45 : 1);
          if (column < 36 || eased < 1) return;
          pen.write(String(Math.round(100 * change)), x, row ? tip + 9 : tip - 9, { size: 12, align: "center" });
        });
      });
    }
    pen.line(LEFT, middle, width, middle, { colour: theme.mark, width: 1.5 });
    if (largest < ROUNDING && eased === 1) {
      const most = width - LEFT - 8;
      pen.write(this.texts.unchanged, LEFT + 8, middle - 14, { size: 14, weight: 600, most });
      pen.note(fillText(this.texts.rounding, { error: tiny(largest) }), LEFT + 8, middle + 14, { size: 13, most });
    }
  }

  /**
   * Write the way of reading, and whether the model was trained for it.
   * @param {Pen} pen
   * @param {string} name
   * @param {number} y
   */
  drawName(pen, name, y) {
    const style = { size: 14, weight: 600, most: pen.width };
    pen.write(this.texts[`group_${name}`], 0, y, style);
    if (name !== "off") return;
    const end = pen.measure(this.texts.group_off, style) + 10;
    pen.note(this.texts.note_off, end, y, { size: 13, most: pen.width - end });
  }

  /** The largest change of a vector and of attention, over all ways of reading, for one scale. */
  largest() {
    const { changes } = this.lesson.arrays;
    const most = [0.5, 0.3];
    for (let group = 0; group < changes.shape[0]; group++)
      most.forEach((_, row) => (most[row] = Math.max(most[row], ...changes.part(group, row).data)));
    return most;
  }

  /** @type {Scene["say"]} */
  say({ moved }) {
    const { words, order, groups } = this.lesson.values;
    if (moved < 1) return this.texts.swap_start;
    if (order.every((old, place) => old === place)) return this.texts.swap_same;
    const { changes } = this.lesson.arrays;
    const most = words.reduce((best, _, word) => (changes.at(0, 0, word) > changes.at(0, 0, best) ? word : best), 0);
    return fillText(groups.includes("off") ? this.texts.swap_say : "", {
      word: words[most],
      share: Math.round(100 * changes.at(0, 0, most)),
    });
  }

  table() {
    const { words, groups } = this.lesson.values;
    const { changes } = this.lesson.arrays;
    const columns = groups.flatMap((name) =>
      [this.texts.outputs, this.texts.attention].map((what) => `${this.texts[`group_${name}`]}: ${what}`),
    );
    return {
      columns: [this.texts.word, ...columns],
      rows: words.map((text, word) => [
        text,
        ...groups.flatMap((_, group) => [changes.at(group, 0, word), changes.at(group, 1, word)]),
      ]),
    };
  }
}
