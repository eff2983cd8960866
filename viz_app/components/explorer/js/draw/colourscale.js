// A colour scale with its numbers; a mark shows a place on it.

import { resize } from "../../../common/draw/canvas.js";
import { h } from "../../../common/page/dom.js";

const WIDTH = 132;
const HEIGHT = 8;

export class ColourScale {
  constructor() {
    this.canvas = h("canvas", { "aria-hidden": true });
    this.mark = h("span", { class: "legend-mark", hidden: true });
    this.label = h("span", { class: "legend-label" });
    this.numbers = h("span", { class: "legend-numbers" });
    const bar = h("span", { class: "legend-bar" }, this.canvas, this.mark, this.numbers);
    this.element = h("div", { class: "legend" }, this.label, bar);
  }

  /**
   * @param {string} label
   * @param {[string, number][]} numbers With their places, 0 to 1.
   * @param {string} background
   * @param {(place: number) => string} colourAt
   */
  show(label, numbers, background, colourAt) {
    this.entitle(label);
    const spans = numbers.map(([text, place]) => {
      const span = h("span", {}, text);
      span.style.left = `${place * 100}%`;
      span.style.translate = `${-place * 100}% 0`;
      return span;
    });
    this.numbers.replaceChildren(...spans);
    const context = resize(this.canvas, WIDTH, HEIGHT);
    const { width, height } = this.canvas;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = background;
    context.fillRect(0, 0, width, height);
    for (let x = 0; x < width; x++) {
      context.fillStyle = colourAt(x / (width - 1));
      context.fillRect(x, 0, 1, height);
    }
  }

  /** @param {string} label */
  entitle(label) {
    this.label.textContent = label;
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
