// Beside the time bar: what the model could have written at this step, and how probable each token was.

import { h, setAttribute, tokenElement } from "../../../common/page/dom.js";
import { percent } from "../../../common/text/format.js";
import { tokenText } from "../../../common/text/tokens.js";

const MAX = 5; // tokens, the written one among them

export class Candidates {
  /** @type {Translation} */
  translation;
  /** @type {ExplorerTexts} */
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
   * @param {ExplorerTexts} texts
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
    this.element.hidden = !this.used || !this.translation.steps.length;
    if (this.element.hidden) return;
    const { chosen, others } = choicesAt(this.translation, step - 1);
    const rows = [chosen, ...others].sort((a, b) => b.share - a.share);
    const kept = rows.slice(0, MAX);
    if (!kept.includes(chosen)) kept[MAX - 1] = chosen;
    this.list.replaceChildren(...kept.map((row) => this.item(row, row === chosen)));
  }

  /**
   * @param {Candidate} candidate
   * @param {boolean} chosen
   */
  item(candidate, chosen) {
    const { text, bar, number } = candidateParts(candidate);
    const written = chosen ? h("span", { class: "unseen" }, this.texts.candidates_chosen) : null;
    return h("li", { class: chosen ? "candidate chosen" : "candidate" }, text, number, written, bar);
  }
}

/** @typedef {{ token: string, share: number }} Candidate A token with its probability. */

/**
 * The token that was written at a step, and the others that the model could have written.
 * @param {Translation} translation
 * @param {number} index
 */
export function choicesAt(translation, index) {
  const [probability, alternatives] = translation.steps[index];
  const chosen = { token: translation.axes.outputs.tokens[index], share: probability };
  const others = alternatives.map(([token, share]) => ({ token, share })).filter(({ token }) => token !== chosen.token);
  return { chosen, others };
}

/**
 * What shows a token and its probability: text, bar and number.
 * @param {Candidate} candidate
 */
export function candidateParts({ token, share }) {
  const bar = h("span", { class: "bar" });
  bar.style.width = `${Math.max(1, Math.round(share * 100))}%`;
  return {
    text: tokenElement(tokenText(token)),
    bar: h("span", { class: "bar-space", "aria-hidden": true }, bar),
    number: h("span", { class: "number" }, share > 0 && share < 0.005 ? "<\u202f1\u202f%" : percent(share)),
  };
}
