// The colour scale with its numbers; a mark shows the weight under the pointer, an empty part what a threshold cuts off.

import { fillText, h, percent } from "../../common/dom.js";
import { resize } from "./paint.js";
import { toneIndex, tonePlace, toneWeight } from "./tone.js";

const WIDTH = 132;
const HEIGHT = 8;

/** Weights that the scale is numbered with; of a row's scale they are shares of its largest weight. */
/** @type {Record<string, number[]>} */
const NUMBERS = { linear: [0, 0.5, 1], sqrt: [0, 0.1, 0.5, 1], row: [0, 0.5, 1] };

export class Legend {
  /** @type {any} */
  scale;

  constructor() {
    this.canvas = h("canvas", { "aria-hidden": true });
    this.mark = h("span", { class: "legend-mark", hidden: true });
    this.label = h("span", { class: "legend-label" });
    this.numbers = h("span", { class: "legend-numbers" });
    const bar = h("span", { class: "legend-bar" }, this.canvas, this.mark, this.numbers);
    this.relative = h("span", { class: "legend-relative" });
    this.cut = h("span", { class: "legend-cut" });
    this.masked = h("span", { class: "legend-masked" });
    this.element = h("div", { class: "legend" }, this.label, bar, this.relative, this.cut, this.masked);
  }

  /**
   * `lines`: whether the weights are lines: these fade in the colour of the kind. `mean`: name of the mean that is shown, or "". `hatched`: what the hatch means here, or "" when nothing is hatched.
   * @param {Theme} theme
   * @param {Texts} texts
   * @param {{ scale: string, threshold: number, sheet: { kind: Kind } }} picture
   * @param {{ lines: boolean, mean: string, hatched: string }} how
   */
  draw(theme, texts, { scale, threshold, sheet }, { lines, mean, hatched }) {
    this.scale = scale;
    this.label.textContent = mean ? `${texts.weight}: ${mean}` : texts.weight;
    this.label.classList.toggle("mean", Boolean(mean));
    this.masked.replaceChildren(h("span", { class: "hatch", "aria-hidden": true }), hatched);
    this.masked.hidden = !hatched;
    this.relative.textContent = scale === "linear" ? "" : texts[`legend_${scale}`];
    this.relative.hidden = scale === "linear";
    this.cut.textContent = fillText(texts.legend_cut, { threshold: percent(threshold / 100) });
    this.cut.hidden = !threshold;
    this.number(scale);
    this.paint(theme, scale, threshold, lines ? theme.kinds[sheet.kind] : null);
  }

  /** @param {string} scale */
  number(scale) {
    const numbers = NUMBERS[scale].map((weight) => {
      const place = tonePlace(weight, 1, scale);
      const number = h("span", {}, scale === "row" ? percent(weight) : String(weight));
      number.style.left = `${place * 100}%`;
      number.style.translate = `${-place * 100}% 0`;
      return number;
    });
    this.numbers.replaceChildren(...numbers);
  }

  /**
   * Of a row's scale, whose largest weight differs from row to row, the threshold's place is not one.
   * @param {Theme} theme
   * @param {string} scale
   * @param {any} threshold
   * @param {any} line
   */
  paint(theme, scale, threshold, line) {
    const context = resize(this.canvas, WIDTH, HEIGHT);
    const { width, height } = this.canvas;
    context.setTransform(1, 0, 0, 1, 0, 0);
    for (let x = 0; x < width; x++) {
      const weight = toneWeight(x / (width - 1), 1, scale);
      const index = toneIndex(weight, 1, scale, scale === "row" ? 0 : threshold);
      context.globalAlpha = 1;
      context.fillStyle = line ? theme.background : colour(theme.pixels[index]);
      context.fillRect(x, 0, 1, height);
      if (!line) continue;
      context.globalAlpha = index / 255;
      context.fillStyle = line;
      context.fillRect(x, 0, 1, height);
    }
    context.globalAlpha = 1;
  }

  /**
   * Marks a place of the scale, 0 to 1; null for none.
   * @param {number | null} place
   */
  point(place) {
    this.mark.hidden = place === null;
    if (place !== null) this.mark.style.left = `${place * WIDTH}px`;
  }
}

/** @param {any} pixel */
function colour(pixel) {
  return `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
}
