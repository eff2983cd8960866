// Predict: from which length on does self-attention cost more? Revealed, its curve crosses that of recurrence at n = d.

import { compact, fillText } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { Scene } from "../../stage/js/scene.js";
import { operations } from "./table1.js";

const D = 512;
const MAX = 2000;
const STEP = 64; // tokens
const LAYERS = ["attention", "recurrent", "restricted"];
const IN_TABLE = [1, 10, 30, 70, 128, 256, 512, 1024, 2000];

/** @extends {Scene<import("./numbers").Values>} */
export class Crossover extends Scene {
  short = (/** @type {number} */ count) => compact(count, this.lesson.language);

  /** @returns {Control[]} */
  get controls() {
    return [{ name: "n", kind: "held", start: D }];
  }

  /**
   * @param {string} layer
   * @param {number} n
   */
  count(layer, n) {
    return operations(layer, { n, d: D, r: this.lesson.values.r });
  }

  /**
   * @param {Pen} pen
   * @param {Settings} settings
   */
  chart(pen, { n }) {
    const { kinds } = pen.theme;
    const x = Array.from({ length: 101 }, (_, i) => (i / 100) * MAX);
    const series = LAYERS.map((layer) => ({
      x,
      y: x.map((length) => this.count(layer, length)),
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
        y: { title: this.texts.operations, ends: [0, this.count("attention", MAX)], show: this.short },
        cut: within(n),
      },
    );
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height } = pen;
    if (!pen.revealed) return pen.note("n = ?", width / 2, height / 2, { size: 54, weight: 650, align: "center" });
    const chart = this.chart(pen, settings);
    chart.draw();
    const [x, y] = [chart.across.place(D), chart.up.place(this.count("recurrent", D))];
    pen.dot(x, y, 7, "transparent", pen.theme.text);
    return pen.write(`n = d = ${D}`, x - 6, y - 20, { weight: 600, align: "right" });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    return pen.revealed ? { n: within(this.chart(pen, settings).across.value(x)) } : null;
  }

  /** @type {Scene["stepped"]} */
  stepped(count, { n }) {
    return { n: within(STEP * (Math.round(n / STEP) + count)) };
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!revealed) return this.texts.predict_say;
    const n = within(settings.n);
    const [one, other] = ["attention", "recurrent"].map((layer) => this.short(this.count(layer, n)));
    return fillText(this.texts.crossover_say, { n, one, other });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed) return null;
    const rows = IN_TABLE.map((n) => [n, ...LAYERS.map((layer) => this.short(this.count(layer, n)))]);
    return { columns: ["n", ...LAYERS.map((layer) => this.texts[`layer_${layer}`])], rows };
  }
}

/**
 * The next length on the axis.
 * @param {number} n
 */
function within(n) {
  return Math.max(1, Math.min(MAX, Math.round(n)));
}
