// Table 1 with numbers put in: what each kind of layer costs, waits for, and how far a signal has to go.

import { fillText } from "../../../components/common/dom.js";
import { Axis, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { LAYERS, operations, path, sequential } from "./table1.js";

const FORMULAS = {
  attention: "n² · d",
  recurrent: "n · d²",
  convolution: "k · n · d²",
  dilated: "k · n · d²",
  separable: "k·n·d + n·d²",
  restricted: "r · n · d",
};

export class Costs extends Scene {
  get playhead() {
    return {
      name: "n",
      label: "n",
      min: 1,
      max: 1000,
      step: 1,
      rate: 90,
      start: this.lesson.values.tokens.length,
      /** @param {number} value */
      show: (value) => String(Math.round(value)),
    };
  }

  get controls() {
    return [
      { name: "d", kind: "choice", label: "d", options: ["64", "128", "512", "1024"].map((d) => [d, d]), start: "512" },
      { name: "k", kind: "range", label: "k", min: 3, max: 31, step: 2, start: 3 },
    ];
  }

  /** @param {Settings} settings */
  numbers({ n, d, k }) {
    return { n: Math.round(n), d: Number(d), k, r: this.lesson.values.r };
  }

  /** @type {Scene["draw"]} */
  draw({ context, width, height, theme }, settings) {
    const numbers = this.numbers(settings);
    const narrow = width < 600;
    const left = narrow ? 8 : 190;
    const right = narrow ? 8 : 180;
    const top = narrow ? 4 : 34;
    const lane = (height - top - 6) / LAYERS.length;
    const scale = new Axis(1e3, 1e11, left, width - right, { log: true });
    const least = Math.min(...LAYERS.map((layer) => operations(layer, numbers)));
    const style = { colour: theme.muted, font: theme.font, size: 12.5 };
    if (!narrow) {
      write(context, this.texts.operations, left, top - 18, style);
      write(context, this.texts.sequential, width - 92, top - 18, { ...style, align: "right" });
      write(context, this.texts.path, width - 8, top - 18, { ...style, align: "right" });
    }
    LAYERS.forEach((layer, index) => {
      const count = operations(layer, numbers);
      const y = top + (index + 0.5) * lane + (narrow ? 9 : 0);
      const own = layer === "attention" || layer === "restricted";
      const colour = own ? theme.kinds.encoder : theme.muted;
      if (narrow)
        write(context, `${this.texts[`layer_${layer}`]}  ${FORMULAS[layer]}`, left, y - 19, {
          ...style,
          colour: theme.text,
          size: 13,
        });
      else {
        write(context, this.texts[`layer_${layer}`], left - 14, y - 9, {
          ...style,
          colour: theme.text,
          size: 14,
          weight: own ? 650 : 400,
          align: "right",
        });
        write(context, FORMULAS[layer], left - 14, y + 9, { ...style, align: "right" });
      }
      const tall = Math.min(22, lane * 0.42);
      context.globalAlpha = own ? 1 : 0.55;
      context.fillStyle = colour;
      context.fillRect(left, y - tall / 2, Math.max(2, scale.place(Math.max(count, scale.low)) - left), tall);
      context.globalAlpha = 1;
      const text = short(count);
      const at = scale.place(Math.max(count, scale.low));
      const inside = at - left > 90 && at + 90 > width - right;
      write(context, text, at + (inside ? -8 : 8), y, {
        ...style,
        colour: inside ? theme.background : theme.text,
        size: 13,
        weight: count === least ? 700 : 500,
        align: inside ? "right" : "left",
      });
      if (narrow) return;
      write(context, String(sequential(layer, numbers)), width - 92, y, {
        ...style,
        colour: theme.text,
        size: 14,
        align: "right",
      });
      write(context, String(path(layer, numbers)), width - 8, y, {
        ...style,
        colour: theme.text,
        size: 14,
        align: "right",
      });
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
      FORMULAS[layer],
      short(operations(layer, numbers)),
      sequential(layer, numbers),
      path(layer, numbers),
    ]);
    return { columns: [texts.layer, texts.formula, texts.operations, texts.sequential, texts.path], rows };
  }
}

/**
 * 4600000 -> "4.6 M"
 * @param {any} count
 */
export function short(count) {
  for (const [power, sign] of Object.entries({ 12: "T", 9: "G", 6: "M", 3: "k" }).reverse())
    if (count >= 10 ** Number(power)) return `${(count / 10 ** Number(power)).toFixed(1)}\u202f${sign}`;
  return String(Math.round(count));
}
