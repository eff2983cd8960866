// Beside the time bar: what the model could have written at this step, and how probable each piece was.

import { fillText, h, percent, setAttribute, token } from "../../common/dom.js";
import { shown } from "./data.js";

const MOST = 5; // pieces, the written one among them

export class Candidates {
  /** @type {Translation} */
  translation;
  /** @type {Texts} */
  texts;
  /** @type {boolean} */
  used;

  constructor() {
    this.title = h("span", { class: "candidates-title" });
    this.list = h("ol", { class: "candidates-list" });
    this.element = h("div", { class: "candidates", role: "group", hidden: true }, this.title, this.list);
  }

  /**
   * @param {Translation} translation
   * @param {Texts} texts
   */
  build(translation, texts) {
    this.translation = translation;
    this.texts = texts;
    setAttribute(this.element, "aria-label", texts.candidates);
    this.title.textContent = texts.candidates_short;
  }

  /**
   * Hidden until the time bar has been used, then it stays, so that the picture does not jump when the end is reached.
   * @param {State} state
   * @param {number} step
   */
  update(state, step) {
    if (state.step !== null) this.used = true;
    this.element.hidden = !this.used;
    if (!this.used) return;
    const index = step - 1;
    const [probability, alternatives] = this.translation.steps[index];
    const piece = this.translation.axes.outputs.tokens[index];
    const others = alternatives.filter(([text]) => text !== piece);
    /** @type {[string, number][]} */
    const all = [[piece, probability], ...others];
    const rows = all.sort(([, a], [, b]) => b - a);
    const kept = rows.slice(0, MOST);
    const chosen = rows.find(([text]) => text === piece);
    if (chosen && !kept.includes(chosen)) kept[MOST - 1] = chosen;
    this.list.replaceChildren(...kept.map((row) => this.item(row, row === chosen)));
  }

  /**
   * @param {[string, number]} pair
   * @param {boolean} chosen
   */
  item([text, share], chosen) {
    const bar = h("span", { class: "bar" });
    bar.style.width = `${Math.max(1, Math.round(share * 100))}%`;
    const number = share > 0 && share < 0.005 ? `<\u202f1\u202f%` : percent(share);
    const written = chosen ? h("span", { class: "unseen" }, fillText(this.texts.candidates_chosen, {})) : null;
    return h(
      "li",
      { class: chosen ? "candidate chosen" : "candidate" },
      token(shown(text)),
      h("span", { class: "number" }, number),
      written,
      h("span", { class: "bar-space", "aria-hidden": true }, bar),
    );
  }
}
