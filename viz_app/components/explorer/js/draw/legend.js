// The colours of weights; an empty part of their scale shows what a threshold cuts off.

import { cssColour } from "../../../common/draw/canvas.js";
import { h } from "../../../common/page/dom.js";
import { define } from "../../../common/page/explained.js";
import { fillText, percent } from "../../../common/text/format.js";
import { toneIndex, tonePlace, toneWeight } from "../data/colourmapping.js";
import { ColourScale } from "./colourscale.js";

/** Weights that the scale is numbered with; of a row's scale they are shares of its largest weight. */
/** @type {Record<string, number[]>} */
const NUMBERS = { linear: [0, 0.5, 1], sqrt: [0, 0.1, 0.5, 1], row: [0, 0.5, 1] };

export class Legend extends ColourScale {
  language = "en";

  constructor() {
    super();
    this.relative = h("span");
    this.cut = h("span", { class: "legend-cut" });
    this.masked = h("span", { class: "legend-masked" });
    this.element.append(this.relative, this.cut, this.masked);
  }

  /** @param {string} label */
  entitle(label) {
    define(this.label, label, this.language, ["attention_weight"]);
  }

  /**
   * @param {Theme} theme
   * @param {ExplorerTexts} texts
   * @param {{ scale: string, threshold: number, sheet: { kind: Kind } }} picture
   * @param {{ lines?: boolean, mean?: string, hatched: string }} how `lines`: whether the weights are lines, which fade in
   *   the colour of the kind; `mean`: name of the mean that is shown; `hatched`: what the hatch means here, or "".
   */
  draw(theme, texts, { scale, threshold, sheet }, { lines = false, mean = "", hatched }) {
    const numbers = NUMBERS[scale].map(
      (weight) =>
        /** @type {[string, number]} */ ([
          scale === "row" ? percent(weight) : String(weight),
          tonePlace(weight, 1, scale),
        ]),
    );
    this.language = texts.language;
    // Of a row's scale, whose largest weight differs from row to row, the threshold has no place.
    const least = scale === "row" ? 0 : threshold;
    this.show(mean ? `${texts.weight}: ${mean}` : texts.weight, numbers, theme.background, (place) => {
      const index = toneIndex(toneWeight(place, 1, scale), 1, scale, least);
      if (!lines) return cssColour(theme.pixels[index]);
      return `${theme.kinds[sheet.kind]}${index.toString(16).padStart(2, "0")}`;
    });
    this.label.classList.toggle("mean", Boolean(mean));
    this.masked.replaceChildren(h("span", { class: "hatch", "aria-hidden": true }), hatched);
    this.masked.hidden = !hatched;
    this.relative.textContent = scale === "linear" ? "" : texts[`legend_${scale}`];
    this.relative.hidden = scale === "linear";
    this.cut.textContent = fillText(texts.legend_cut, { threshold: percent(threshold / 100) });
    this.cut.hidden = !threshold;
  }
}
