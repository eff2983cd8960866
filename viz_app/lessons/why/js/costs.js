// Table 1 with numbers put in: what each kind of layer costs, waits for, and how far a signal has to go.

import { compact, fillText } from "../../../components/common/text/format.js";
import { drawBars } from "../../stage/js/barchart.js";
import { choice, playhead, rounded, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { LAYERS, operations, path, sequential } from "./table1.js";

/** @type {Record<string, [string, string]>} Order of the operations and of the longest path. */
const FORMULAS = {
  attention: ["n² · d", "O(1)"],
  recurrent: ["n · d²", "O(n)"],
  convolution: ["k · n · d²", "O(n/k)"],
  dilated: ["k · n · d²", "O(log\u2096 n)"],
  separable: ["k·n·d + n·d²", "O(n/k)"],
  restricted: ["r · n · d", "O(n/r)"],
};

/** @extends {Scene<import("./numbers").Values>} */
export class Costs extends Scene {
  get playhead() {
    const start = this.lesson.values.tokens.length;
    return playhead({ name: "n", label: "n", min: 1, max: 1000, rate: 90, start, show: rounded });
  }

  get controls() {
    const widths = Object.fromEntries([64, 128, 512, 1024].map((d) => [d, String(d)]));
    return [choice("d", "d", widths, { start: "512" }), slider({ name: "k", label: "k", min: 3, max: 31, step: 2 })];
  }

  /** @param {Settings} settings */
  numbers({ n, d, k }) {
    return { n: Math.round(n), d: Number(d), k, r: this.lesson.values.r };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height, theme } = pen;
    const { texts } = this;
    const numbers = this.numbers(settings);
    const narrow = isNarrow(width);
    const counts = LAYERS.map((layer) => operations(layer, numbers));
    const least = Math.min(...counts);
    const rows = LAYERS.map((layer, index) => ({
      name: texts[`layer_${layer}`],
      note: layer === "restricted" ? `${FORMULAS[layer][0]}, r = ${numbers.r}` : FORMULAS[layer][0],
      values: [counts[index]],
      texts: [compact(counts[index], this.lesson.language)],
      strong: counts[index] === least,
      colours: [isAttention(layer) ? theme.kinds.encoder : theme.muted],
      alphas: [isAttention(layer) ? 1 : 0.55],
    }));
    const box = { x: 0, y: 26, width: narrow ? width : width - 170, height: height - 30 };
    const axis = drawBars(pen, box, rows, { ends: [1e3, 1e11], log: true, colours: [], right: 76 });
    const style = { size: 12.5 };
    pen.note(texts.operations, axis.from, 12, style);
    if (narrow) return;
    pen.note(texts.sequential, width - 92, 12, { ...style, align: "right" });
    pen.note(texts.path, width - 8, 12, { ...style, align: "right" });
    LAYERS.forEach((layer, index) => {
      const y = box.y + ((index + 0.5) * box.height) / LAYERS.length;
      pen.write(String(sequential(layer, numbers)), width - 92, y - 8, { size: 14, align: "right" });
      pen.note(layer === "recurrent" ? "O(n)" : "O(1)", width - 92, y + 9, { ...style, align: "right" });
      pen.write(String(path(layer, numbers)), width - 8, y - 8, { size: 14, align: "right" });
      pen.note(FORMULAS[layer][1], width - 8, y + 9, { ...style, align: "right" });
    });
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const numbers = this.numbers(settings);
    const [one, other] = ["attention", "recurrent"].map((layer) => operations(layer, numbers));
    const times = (Math.max(one, other) / Math.min(one, other)).toFixed(1);
    const text =
      one < other ? this.texts.costs_cheaper : one > other ? this.texts.costs_dearer : this.texts.costs_equal;
    return fillText(text, { times, n: numbers.n, d: numbers.d });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const numbers = this.numbers(settings);
    const { texts } = this;
    const rows = LAYERS.map((layer) => [
      texts[`layer_${layer}`],
      FORMULAS[layer][0],
      compact(operations(layer, numbers), this.lesson.language),
      sequential(layer, numbers),
      path(layer, numbers),
      FORMULAS[layer][1],
    ]);
    return { columns: [texts.layer, texts.formula, texts.operations, texts.sequential, texts.path, "O(\u2026)"], rows };
  }
}

/** @param {string} layer */
function isAttention(layer) {
  return layer === "attention" || layer === "restricted";
}
