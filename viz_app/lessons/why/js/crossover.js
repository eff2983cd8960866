// Operations against the length of the sentence: self-attention crosses recurrence at n = d.

import { compact, fillText } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { slider } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { lengthPlayhead, widthChoice } from "./costs.js";
import { operations } from "./table1.js";

const MAX = 2000;
const LAYERS = ["attention", "recurrent", "restricted"];
const IN_TABLE = [1, 10, 30, 70, 128, 256, 512, 1024, 2000];

/** @extends {Scene<import("./numbers").Values>} */
export class Crossover extends Scene {
  short = (/** @type {number} */ count) => compact(count, this.lesson.language);

  /** @returns {Playhead | null} */
  get playhead() {
    return lengthPlayhead(this.lesson.values, MAX, 160);
  }

  /** @returns {Control[]} */
  get controls() {
    const start = this.lesson.values.r;
    return [widthChoice([128, 512, 1024]), slider({ name: "r", label: "r", min: 8, max: 512, step: 8, start })];
  }

  /**
   * @param {Settings} settings
   * @returns {string | null}
   */
  lit({ n, d }) {
    return Math.round(n) < Number(d) ? "attention" : "recurrent";
  }

  /**
   * @param {Pen} pen
   * @param {Settings} settings
   */
  chart(pen, { n, d: width, r }) {
    const d = Number(width);
    const { kinds } = pen.theme;
    const x = Array.from({ length: 101 }, (_, i) => (i / 100) * MAX);
    const series = LAYERS.map((layer) => ({
      x,
      y: x.map((length) => operations(layer, { n: length, d, r })),
      label: this.texts[`layer_${layer}`],
      dashed: layer === "restricted",
      look: { colour: kinds[layer === "recurrent" ? "decoder" : "encoder"] },
    }));
    return new Chart(
      pen,
      { x: 0, y: 0, width: pen.width, height: pen.height },
      {
        series,
        x: { title: this.texts.length },
        y: { title: this.texts.operations, ends: [0, operations("attention", { n: MAX, d })], show: this.short },
        cut: n,
      },
    );
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const d = Number(settings.d);
    const chart = this.chart(pen, settings);
    chart.draw();
    const [x, y] = [chart.across.place(d), chart.up.place(operations("recurrent", { n: d, d }))];
    pen.dot(x, y, 7, "transparent", pen.theme.text);
    pen.write(`n = d = ${d}`, x - 6, y - 20, { weight: 600, align: "right" });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    return { n: Math.max(1, this.chart(pen, settings).across.value(x)) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const [n, d] = [Math.round(settings.n), Number(settings.d)];
    const [one, other] = ["attention", "recurrent"].map((layer) => this.short(operations(layer, { n, d })));
    return fillText(this.texts.crossover_say, { n, one, other });
  }

  /** @type {Scene["table"]} */
  table({ d, r }) {
    const rows = IN_TABLE.map((n) => [
      n,
      ...LAYERS.map((layer) => this.short(operations(layer, { n, d: Number(d), r }))),
    ]);
    return { columns: ["n", ...LAYERS.map((layer) => this.texts[`layer_${layer}`])], rows };
  }
}
