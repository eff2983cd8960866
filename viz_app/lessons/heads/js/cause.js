// A weight is no cause: every head by its largest weight on a word and by what the translation loses without it.

import { KINDS } from "../../../components/common/heads/heads.js";
import { fillText, headName, percent, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { drawBars } from "../../stage/js/barchart.js";
import { Chart } from "../../stage/js/chart.js";
import { split } from "../../stage/js/layout.js";
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
   * The chart of all heads, and the box of the one that is shown.
   * @param {Pen} pen
   */
  places(pen) {
    const { changes, strongest, same } = this.lesson.arrays;
    const [plot, panel] = split({ x: 0, y: 0, width: pen.width, height: pen.height }, { share: 0.55, top: 290 });
    const numbers = Array.from(this.heads.keys());
    const series = KINDS.flatMap((kind) =>
      [1, 0].map((stays) => {
        const own = numbers.filter((number) => this.heads[number].kind === kind && same.data[number] === stays);
        return {
          x: own.map((number) => strongest.data[number]),
          y: own.map((number) => changes.data[number]),
          marked: true,
          look: { colour: pen.theme.kinds[kind], line: false, radius: stays ? 4 : 0 },
        };
      }),
    );
    const chart = new Chart(
      pen,
      { ...plot, y: 20, height: plot.height - 20 },
      {
        series,
        x: { title: this.texts.cause_weight, ends: [0, 1], show: percent },
        y: { title: this.texts.cause_marks, show: (value) => signed(value, 1) },
      },
    );
    return { chart, series, plot, panel };
  }

  missing() {
    return this.lesson.values.cause ? null : this.texts.computing;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { cause } = this.lesson.values;
    const { theme } = pen;
    const { chart, series, plot, panel } = this.places(pen);
    const { changes, strongest } = this.lesson.arrays;
    pen.write(this.texts.cause_change, 0, 10, { size: 13, weight: 600, most: plot.width });
    chart.draw();
    for (const each of series) {
      if (each.look.radius) continue;
      for (const point of chart.points(each)) // without these the words change
        if (point) pen.cross(point[0], point[1], 4.5, { colour: each.look.colour, width: 2.5 });
    }
    const shown = this.shown(settings);
    const [x, y] = [chart.across.place(strongest.data[shown]), chart.up.place(changes.data[shown])];
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
    const row = rows.part(number).data;
    const bars = keys.slice(0, visible).map((key, at) => ({
      name: key,
      values: [row[at]],
      texts: [row[at] >= 0.005 ? percent(row[at]) : ""],
      token: true,
    }));
    drawBars(pen, { x, y: y + 46, width, height: visible * tall }, bars, {
      ends: [0, 1],
      colours: [colour],
      right: 46,
      size: 13,
    });
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
  grab(x, y, pen) {
    const { across, up } = this.places(pen).chart;
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
