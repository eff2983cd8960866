// Table 1 with numbers put in: what each kind of layer costs, waits for, and how far a signal has to go.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText } from "../../../components/common/text/format.js";
import { choice, playhead, slider } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { LAYERS, operations, path, sequential } from "./table1.js";

/** @type {Record<string, string>} */
const FORMULAS = {
  attention: "n² · d",
  recurrent: "n · d²",
  convolution: "k · n · d²",
  dilated: "k · n · d²",
  separable: "k·n·d + n·d²",
  restricted: "r · n · d",
};
const NARROW = 600;

/**
 * The playhead over the length of a sentence, which begins with the visitor's.
 * @param {import("./numbers").Values} values
 * @param {number} max
 * @param {number} rate
 */
export function lengthPlayhead({ tokens }, max, rate) {
  const show = (/** @type {number} */ value) => String(Math.round(value));
  return playhead({ name: "n", label: "n", min: 1, max, rate, start: tokens.length, show });
}

/**
 * The choice of the width of a layer.
 * @param {number[]} widths
 */
export function widthChoice(widths) {
  return choice("d", "d", Object.fromEntries(widths.map((d) => [d, String(d)])), { start: "512" });
}

/** @extends {Scene<import("./numbers").Values>} */
export class Costs extends Scene {
  get playhead() {
    return lengthPlayhead(this.lesson.values, 1000, 90);
  }

  get controls() {
    return [widthChoice([64, 128, 512, 1024]), slider({ name: "k", label: "k", min: 3, max: 31, step: 2 })];
  }

  /** @param {Settings} settings */
  numbers({ n, d, k }) {
    return { n: Math.round(n), d: Number(d), k, r: this.lesson.values.r };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height } = pen;
    const { texts } = this;
    const numbers = this.numbers(settings);
    const narrow = width < NARROW;
    const [left, right, top] = narrow ? [8, 8, 26] : [190, 180, 34];
    const lane = (height - top - 6) / LAYERS.length;
    const scale = new Axis(1e3, 1e11, left, width - right, { log: true });
    const style = { size: 12.5 };
    pen.note(texts.operations, left, top - 18, style);
    if (!narrow) {
      pen.note(texts.sequential, width - 92, top - 18, { ...style, align: "right" });
      pen.note(texts.path, width - 8, top - 18, { ...style, align: "right" });
    }
    LAYERS.forEach((layer, index) => {
      const y = top + (index + 0.5) * lane + (narrow ? 9 : 0);
      this.bar(pen, scale, layer, numbers, y, Math.min(22, lane * 0.42));
      const name = texts[`layer_${layer}`];
      const formula = layer === "restricted" ? `${FORMULAS[layer]}, r = ${numbers.r}` : FORMULAS[layer];
      if (narrow) return pen.write(`${name}  ${formula}`, left, y - 19);
      const weight = isAttention(layer) ? 650 : 400;
      pen.write(name, left - 14, y - 9, { size: 14, weight, align: "right" });
      pen.note(formula, left - 14, y + 9, { ...style, align: "right" });
      pen.write(String(sequential(layer, numbers)), width - 92, y, { size: 14, align: "right" });
      return pen.write(String(path(layer, numbers)), width - 8, y, { size: 14, align: "right" });
    });
  }

  /**
   * The operations of a layer as a bar, with their number in it or after it.
   * @param {Pen} pen
   * @param {Axis} scale
   * @param {string} layer
   * @param {ReturnType<Costs["numbers"]>} numbers
   * @param {number} y
   * @param {number} tall
   */
  bar(pen, scale, layer, numbers, y, tall) {
    const { encoder } = pen.theme.kinds;
    const count = operations(layer, numbers);
    const least = Math.min(...LAYERS.map((each) => operations(each, numbers)));
    const end = scale.place(Math.max(count, scale.low));
    const [colour, alpha] = isAttention(layer) ? [encoder, 1] : [pen.theme.muted, 0.55];
    pen.fill(scale.from, y - tall / 2, Math.max(2, end - scale.from), tall, colour, alpha);
    const weight = count === least ? 700 : 500;
    const inside = end - scale.from > 90 && end + 90 > scale.to;
    if (inside) pen.write(short(count), end - 8, y, { colour: pen.theme.background, weight, align: "right" });
    else pen.write(short(count), end + 8, y, { weight });
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
      FORMULAS[layer],
      short(operations(layer, numbers)),
      sequential(layer, numbers),
      path(layer, numbers),
    ]);
    return { columns: [texts.layer, texts.formula, texts.operations, texts.sequential, texts.path], rows };
  }
}

/** @param {string} layer */
function isAttention(layer) {
  return layer === "attention" || layer === "restricted";
}

/**
 * 4600000 -> "4.6 M"
 * @param {number} count
 */
export function short(count) {
  for (const [power, sign] of Object.entries({ 12: "T", 9: "G", 6: "M", 3: "k" }).reverse())
    if (count >= 10 ** Number(power)) return `${(count / 10 ** Number(power)).toFixed(1)}\u202f${sign}`;
  return String(Math.round(count));
}
