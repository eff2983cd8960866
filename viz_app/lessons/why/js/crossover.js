// Operations against the length of the sentence: self-attention crosses recurrence at n = d.

import { fillText } from "../../../components/common/dom.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { short } from "./costs.js";
import { operations } from "./table1.js";

const [LEFT, RIGHT, TOP, FOOT] = [64, 24, 20, 52];
const MOST = 2000;

export class Crossover extends Scene {
  /** @returns {Playhead | null} */
  get playhead() {
    return {
      name: "n",
      label: "n",
      min: 1,
      max: MOST,
      step: 1,
      rate: 160,
      start: this.lesson.values.tokens.length,
      /** @param {number} value */
      show: (value) => String(Math.round(value)),
    };
  }

  get controls() {
    return [
      { name: "d", kind: "choice", label: "d", options: ["128", "512", "1024"].map((d) => [d, d]), start: "512" },
      { name: "r", kind: "range", label: "r", min: 8, max: 512, step: 8, start: this.lesson.values.r },
    ];
  }

  /** @type {Scene["lit"]} */
  lit({ n, d }) {
    return Math.round(n) < Number(d) ? "attention" : "recurrent";
  }

  /**
   * @param {{ width: number, height: number }} given
   * @param {Settings} settings
   */
  axes({ width, height }, { d }) {
    return [
      new Axis(0, MOST, LEFT, width - RIGHT),
      new Axis(0, operations("attention", { n: MOST, d: Number(d) }), height - FOOT, TOP),
    ];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height, theme } = pen;
    const d = Number(settings.d);
    const [across, up] = this.axes(pen, settings);
    drawAxis(context, across, "bottom", height - FOOT, { theme, title: this.texts.length });
    drawAxis(context, up, "left", LEFT, { theme, show: short, grid: width - RIGHT - LEFT, ticks: up.ticks(4) });
    /** @type {[string, string, number[], string][]} */
    const lines = [
      ["attention", theme.kinds.encoder, [], this.texts.layer_attention],
      ["recurrent", theme.kinds.decoder, [], this.texts.layer_recurrent],
      ["restricted", theme.kinds.encoder, [5, 4], this.texts.layer_restricted],
    ];
    const [x] = [across.place(settings.n)];
    trace(
      context,
      [
        [x, TOP],
        [x, height - FOOT],
      ],
      { colour: theme.text, width: 1.2 },
    );
    /** @type {[number[], string, string][]} */
    const ends = [];
    for (const [layer, colour, dash, label] of lines) {
      const points = Array.from({ length: 101 }, (_, i) => (i / 100) * MOST).map((n) => [
        across.place(n),
        up.place(operations(layer, { n, d, r: settings.r })),
      ]);
      trace(context, points, { colour, width: 2.2, dash });
      const y = up.place(operations(layer, { n: settings.n, d, r: settings.r }));
      dot(context, x, y, 5, colour, theme.background);
      ends.push([points[layer === "attention" ? 82 : 100], colour, label]);
    }
    for (const [[ex, ey], colour, label] of ends)
      write(context, label, ex - 10, ey - 12, { colour, font: theme.font, size: 13.5, weight: 600, align: "right" });
    const meet = [across.place(d), up.place(operations("recurrent", { n: d, d }))];
    if (d <= MOST) {
      dot(context, meet[0], meet[1], 7, "transparent", theme.text);
      write(context, `n = d = ${d}`, meet[0] - 6, meet[1] - 20, {
        align: "right",
        colour: theme.text,
        font: theme.font,
        size: 13,
        weight: 600,
      });
    }
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    return { n: Math.max(1, this.axes(pen, settings)[0].value(x)) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const [n, d] = [Math.round(settings.n), Number(settings.d)];
    const one = operations("attention", { n, d });
    const other = operations("recurrent", { n, d });
    return fillText(this.texts.crossover_say, { n, one: short(one), other: short(other) });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const d = Number(settings.d);
    const { texts } = this;
    const rows = [1, 10, 30, 70, 128, 256, 512, 1024, 2000].map((n) => [
      n,
      ...["attention", "recurrent", "restricted"].map((layer) => short(operations(layer, { n, d, r: settings.r }))),
    ]);
    return { columns: ["n", texts.layer_attention, texts.layer_recurrent, texts.layer_restricted], rows };
  }
}
