// Operations against the length of the sentence: self-attention crosses recurrence at n = d.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText } from "../../../components/common/text/format.js";
import { slider } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { lengthPlayhead, short, widthChoice } from "./costs.js";
import { operations } from "./table1.js";

const [LEFT, RIGHT, TOP, FOOT] = [64, 24, 20, 52];
const MAX = 2000;
const LAYERS = ["attention", "recurrent", "restricted"];
const IN_TABLE = [1, 10, 30, 70, 128, 256, 512, 1024, 2000];

/** @extends {Scene<import("./numbers").Values>} */
export class Crossover extends Scene {
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
  axes({ width, height }, { d }) {
    return [
      new Axis(0, MAX, LEFT, width - RIGHT),
      new Axis(0, operations("attention", { n: MAX, d: Number(d) }), height - FOOT, TOP),
    ];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height, theme } = pen;
    const { n, r } = settings;
    const d = Number(settings.d);
    const [across, up] = this.axes(pen, settings);
    pen.axis(across, "bottom", height - FOOT, { title: this.texts.length });
    pen.axis(up, "left", LEFT, { show: short, grid: width - RIGHT - LEFT, ticks: up.ticks(4) });
    const x = across.place(n);
    pen.line(x, TOP, x, height - FOOT, { colour: theme.text, width: 1.2 });
    const colours = LAYERS.map((layer) => theme.kinds[layer === "recurrent" ? "decoder" : "encoder"]);
    const curves = LAYERS.map((layer) =>
      Array.from({ length: 101 }, (_, i) => (i / 100) * MAX).map((length) => [
        across.place(length),
        up.place(operations(layer, { n: length, d, r })),
      ]),
    );
    LAYERS.forEach((layer, index) => {
      const colour = colours[index];
      pen.trace(curves[index], { colour, width: 2.2, dash: layer === "restricted" ? [5, 4] : [] });
      pen.dot(x, up.place(operations(layer, { n, d, r })), 5, colour, theme.background);
    });
    LAYERS.forEach((layer, index) => {
      const [endX, endY] = curves[index][layer === "attention" ? 82 : 100];
      const style = { colour: colours[index], size: 13.5, weight: 600, align: "right" };
      pen.write(this.texts[`layer_${layer}`], endX - 10, endY - 12, style);
    });
    const meet = { x: across.place(d), y: up.place(operations("recurrent", { n: d, d })) };
    pen.dot(meet.x, meet.y, 7, "transparent", theme.text);
    pen.write(`n = d = ${d}`, meet.x - 6, meet.y - 20, { weight: 600, align: "right" });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    return { n: Math.max(1, this.axes(pen, settings)[0].value(x)) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const [n, d] = [Math.round(settings.n), Number(settings.d)];
    const [one, other] = ["attention", "recurrent"].map((layer) => short(operations(layer, { n, d })));
    return fillText(this.texts.crossover_say, { n, one, other });
  }

  /** @type {Scene["table"]} */
  table({ d, r }) {
    const rows = IN_TABLE.map((n) => [n, ...LAYERS.map((layer) => short(operations(layer, { n, d: Number(d), r })))]);
    return { columns: ["n", ...LAYERS.map((layer) => this.texts[`layer_${layer}`])], rows };
  }
}
