// The colour scale with its numbers; a mark shows the weight under the pointer.

import { h } from "./dom.js";
import { resize } from "./paint.js";

const WIDTH = 120;
const HEIGHT = 8;

export class Legend {
  constructor() {
    this.canvas = h("canvas", { "aria-hidden": true });
    this.mark = h("span", { class: "legend-mark", hidden: true });
    this.label = h("span", { class: "legend-label" });
    const numbers = h("span", { class: "legend-numbers" }, ...["0", "0.5", "1"].map((number) => h("span", {}, number)));
    const bar = h("span", { class: "legend-bar" }, this.canvas, this.mark, numbers);
    this.masked = h("span", { class: "legend-masked" });
    this.element = h("div", { class: "legend" }, this.label, bar, this.masked);
  }

  draw(theme, texts, causal) {
    this.label.textContent = texts.weight;
    this.masked.replaceChildren(h("span", { class: "hatch", "aria-hidden": true }), texts.masked);
    this.masked.hidden = !causal;
    const context = resize(this.canvas, WIDTH, HEIGHT);
    const { width, height } = this.canvas;
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) pixels[i] = theme.pixels[Math.round(((i % width) / (width - 1)) * 255)];
    context.putImageData(image, 0, 0);
  }

  point(weight) {
    this.mark.hidden = weight === null;
    if (weight !== null) this.mark.style.left = `${weight * WIDTH}px`;
  }
}
