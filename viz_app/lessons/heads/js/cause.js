// A weight is no cause: every head by its largest weight on a word and by what the translation loses without it.

import { Axis } from "../../../components/common/draw/plot.js";
import { KINDS } from "../../../components/common/heads/heads.js";
import { fillText, headName, percent, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { isNarrow } from "../../stage/js/layout.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";

const REACH = 14; // pixels around a dot that count as the dot

/** @extends {Scene<import("./numbers").Values>} */
export class Cause extends Scene {
  size = { narrow: 560, least: 360, most: 500 };

  get controls() {
    return [{ name: "chosen", kind: "held", start: -1 }];
  }

  get heads() {
    const { roles } = this.lesson.values;
    return KINDS.flatMap((kind) => roles[kind].flat());
  }

  /**
   * The head that is shown: the one that was pressed, else the one that the translation can do without.
   * @param {Settings} settings
   */
  shown({ chosen }) {
    const { cause } = this.lesson.values;
    const number = Math.round(chosen);
    return number >= 0 && number < this.heads.length ? number : cause.dispensable;
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  axes(width, height) {
    const narrow = isNarrow(width);
    const plot = narrow ? { width, height: 270 } : { width: width * 0.54, height };
    const { data } = this.lesson.arrays.changes;
    const [low, high] = [Math.min(...data), Math.max(0, ...data)];
    const spare = 0.06 * (high - low || 1);
    const across = new Axis(0, 1, 46, plot.width - 20);
    const up = new Axis(low - spare, high + spare, plot.height - 44, 50);
    const panel = narrow
      ? { x: 0, y: plot.height + 14, width, height: height - plot.height - 14 }
      : { x: plot.width + 24, y: 8, width: width - plot.width - 24, height: height - 8 };
    return { across, up, plot, panel };
  }

  missing() {
    return this.lesson.values.cause ? null : this.texts.computing;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { cause } = this.lesson.values;
    const { theme, width, height } = pen;
    const { across, up, plot, panel } = this.axes(width, height);
    const { changes, strongest, same } = this.lesson.arrays;
    pen.axis(across, "bottom", up.from, { ticks: [0, 0.2, 0.4, 0.6, 0.8, 1], show: percent });
    for (const tick of up.ticks(4)) {
      pen.line(across.from, up.place(tick), across.to, up.place(tick), { colour: theme.line, width: 1 });
      pen.note(signed(tick, 1), across.from - 6, up.place(tick), { align: "right" });
    }
    pen.note(this.texts.cause_weight, (across.from + across.to) / 2, plot.height - 8, { align: "center" });
    pen.write(this.texts.cause_change, 0, 10, { size: 13, weight: 600, most: plot.width });
    pen.note(this.texts.cause_marks, 0, 29, { most: plot.width });
    const shown = this.shown(settings);
    const numbers = Array.from(this.heads.keys()).filter((number) => number !== shown);
    for (const number of [...numbers, shown]) {
      const { kind } = this.heads[number];
      const [x, y] = [across.place(strongest.data[number]), up.place(changes.data[number])];
      if (same.data[number]) pen.dot(x, y, 4, theme.kinds[kind], theme.background);
      else pen.cross(x, y, 4.5, { colour: theme.kinds[kind], width: 2.5 });
    }
    const [x, y] = [across.place(strongest.data[shown]), up.place(changes.data[shown])];
    pen.box(x - 10, y - 10, 20, 20, { line: theme.text, thick: 2.5, radius: 10 });
    this.drawHead(pen, shown, cause, panel);
  }

  /**
   * The row of the head's largest weight, and the translation without it.
   * @param {Pen} pen
   * @param {number} number
   * @param {import("./numbers").Values["cause"]} cause
   * @param {Box} place
   */
  drawHead(pen, number, cause, { x, y, width, height }) {
    const { theme } = pen;
    const { kind, layer, head } = this.heads[number];
    const { rows, at_query: queries } = this.lesson.arrays;
    const colour = theme.kinds[kind];
    pen.write(`${this.texts[kind]} ${headName(layer, head)}`, x, y + 8, { size: 15, weight: 650, colour, most: width });
    const asked = fillText(this.texts.cause_row, { query: this.word(cause.queries[number]) });
    pen.note(asked, x, y + 30, { most: width });
    const keys = kind === "cross" || kind === "encoder" ? cause.source : cause.inputs;
    const visible = kind === "decoder" ? Math.min(keys.length, queries.data[number] + 1) : keys.length;
    const tall = Math.min(22, (height - 150) / Math.max(1, visible));
    const label = Math.min(92, width * 0.34);
    const row = rows.part(number).data;
    for (let key = 0; key < visible; key++) {
      const top = y + 46 + key * tall;
      const size = Math.min(13, Math.max(8, tall - 3));
      pen.write(tokenText(keys[key]), x + label - 8, top + tall / 2, {
        font: theme.code,
        size,
        align: "right",
        most: label - 10,
      });
      pen.fill(x + label, top + 2, (width - label - 46) * row[key], tall - 4, colour);
      if (row[key] >= 0.005) pen.note(percent(row[key]), x + width, top + tall / 2, { align: "right", size });
    }
    const foot = y + 46 + visible * tall + 22;
    const stays = this.lesson.arrays.same.data[number] === 1;
    const verdict = this.texts[stays ? "cause_same" : "cause_other"];
    const down = wrapped(pen, verdict, x, foot, width, { size: 15, weight: 650 });
    wrapped(pen, cause.text, x, foot + down + 4, width, { size: 14, colour: theme.muted });
  }

  /** @param {string} token */
  word(token) {
    return tokenText(token);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width, height }) {
    const { across, up } = this.axes(width, height);
    const { changes, strongest } = this.lesson.arrays;
    const distances = this.heads.map((_, number) =>
      Math.hypot(across.place(strongest.data[number]) - x, up.place(changes.data[number]) - y),
    );
    const nearest = distances.indexOf(Math.min(...distances));
    return distances[nearest] <= REACH ? { chosen: nearest } : null;
  }

  /** @type {Scene["stepped"]} The marks from left to right, round and round. */
  stepped(count, settings) {
    const { data } = this.lesson.arrays.strongest;
    const order = Array.from(data.keys()).sort((one, other) => data[one] - data[other] || one - other);
    const place = order.indexOf(this.shown(settings)) + count;
    return { chosen: order[(place + order.length) % order.length] };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { cause } = this.lesson.values;
    const number = this.shown(settings);
    const { kind, layer, head } = this.heads[number];
    const { changes, strongest, same } = this.lesson.arrays;
    return fillText(this.texts[same.data[number] ? "cause_say_same" : "cause_say_other"], {
      head: `${this.texts[kind]} ${headName(layer, head)}`,
      weight: percent(strongest.data[number]),
      key: this.word(cause.keys[number]),
      change: signed(changes.data[number], 2),
      correlation: signed(cause.correlation, 2),
    });
  }

  /** @type {Scene["table"]} */
  table() {
    const { texts } = this;
    const { changes, strongest, same } = this.lesson.arrays;
    const rows = this.heads.map(({ kind, layer, head }, number) => [
      `${texts[kind]} ${headName(layer, head)}`,
      strongest.data[number],
      changes.data[number],
      same.data[number] ? texts.yes : texts.no,
    ]);
    return { columns: [texts.head, texts.cause_weight, texts.change, texts.stays], rows };
  }
}
