// Beside the time bar: what the model could have written at this step, and how probable each token was.

import { h, setAttribute, tokenElement } from "../../../common/page/dom.js";
import { fillText, percent } from "../../../common/text/format.js";
import { tokenText } from "../../../common/text/tokens.js";

const MAX = 5; // tokens, the written one among them

export class Candidates {
  /** @type {Translation} */
  translation;
  /** @type {ExplorerTexts} */
  texts;
  /** @type {boolean} */
  used;

  /** @param {(tokens: string[]) => void} force Asks for a translation that begins with these tokens. */
  constructor(force) {
    this.force = force;
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
   * Of the token whose row is pinned, or of the last one. Hidden until the time bar has been used, then it stays, so that
   * the picture does not jump.
   * @param {State} state
   * @param {number} step
   */
  update(state, step) {
    const { translation } = this;
    const force = translation.about?.answers?.prefix ?? false;
    if (state.step !== null || force) this.used = true;
    this.element.hidden = !this.used || !translation.steps.length;
    if (this.element.hidden) return;
    const row = state.kind !== "encoder" && state.pin?.startsWith("q") ? Number(state.pin.slice(1)) : -1;
    const index = translation.axis("outputs", state.unit)[row]?.first ?? step - 1;
    const { chosen, others } = choicesAt(translation, index);
    const rows = [chosen, ...others].sort((a, b) => b.share - a.share);
    const kept = rows.slice(0, MAX);
    if (!kept.includes(chosen)) kept[MAX - 1] = chosen;
    const press = (/** @type {string} */ token) =>
      this.force([...translation.axes.outputs.tokens.slice(0, index), token]);
    this.list.replaceChildren(...kept.map((row) => this.item(row, row === chosen, force ? press : null)));
  }

  /**
   * @param {Candidate} candidate
   * @param {boolean} chosen
   * @param {((token: string) => void) | null} press
   */
  item(candidate, chosen, press) {
    const { text, bar, number } = candidateParts(candidate);
    const written = chosen ? h("span", { class: "unseen" }, this.texts.candidates_chosen) : null;
    const { token } = candidate;
    const title = fillText(this.texts.force, { token: tokenText(token) });
    const button = () => h("button", { class: "candidate-press", title, click: () => press?.(token) }, text);
    const name = press && !chosen ? button() : text;
    return h("li", { class: chosen ? "candidate chosen" : "candidate" }, name, number, written, bar);
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
