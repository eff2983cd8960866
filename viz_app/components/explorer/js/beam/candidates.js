// Under the words, in the place of their note: what the model could have written at this step, and how probable each token was.

import { h, setAttribute, tokenElement } from "../../../common/page/dom.js";
import { percent, percentSign } from "../../../common/text/format.js";
import { tokenText } from "../../../common/text/tokens.js";

const MAX = 5; // tokens, the written one among them
const LONGEST = 1000; // characters of a forced beginning that a link carries

export class Candidates {
  /** @type {Translation} */
  translation;
  /** @type {ExplorerTexts} */
  texts;
  offers = false; // whether another token can be forced

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
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
    const { about, tree } = translation;
    this.offers = Boolean(about && !tree && (about.answers ? about.answers.force : true));
  }

  /**
   * Position of the token that is pinned, else of the newest one.
   * @param {State} state
   * @param {number} step
   */
  at({ kind, pin, unit }, step) {
    if (kind === "encoder" || !pin?.startsWith("q")) return step - 1;
    const row = Number(pin.slice(1));
    const index = unit === "words" ? this.translation.axes.outputs.words.indexOf(row) : row;
    return index < step ? index : step - 1;
  }

  /**
   * Seen while a token is pinned or the time bar in use, and else in its place, so that nothing moves.
   * @param {State} state
   * @param {number} step
   * @returns {boolean} Whether they are seen.
   */
  update(state, step) {
    const index = this.at(state, step);
    this.element.hidden = !this.translation.steps.length;
    const seen = !this.element.hidden && (state.step !== null || index !== step - 1);
    this.element.classList.toggle("hidden", !seen);
    if (this.element.hidden) return false;
    const { chosen, others } = choicesAt(this.translation, index);
    this.title.textContent = this.texts[this.offers && others.length ? "candidates_press" : "candidates_short"];
    const rows = [chosen, ...others].sort((a, b) => b.share - a.share);
    const kept = rows.slice(0, MAX);
    if (!kept.includes(chosen)) kept[MAX - 1] = chosen;
    this.list.replaceChildren(...kept.map((row) => this.item(row, row === chosen, index)));
    return seen;
  }

  /**
   * @param {Candidate} candidate
   * @param {boolean} chosen
   * @param {number} index
   */
  item(candidate, chosen, index) {
    const { text, bar, number } = candidateParts(candidate);
    const written = chosen ? h("span", { class: "unseen" }, this.texts.candidates_chosen) : null;
    const force = { class: "force", title: this.texts.candidates_force, click: () => this.force(candidate, index) };
    const token = this.offers && !chosen ? h("button", force, text) : text;
    return h("li", { class: chosen ? "candidate chosen" : "candidate" }, token, number, written, bar);
  }

  /**
   * Asks for the translation that begins with the tokens before this one, and it.
   * @param {Candidate} candidate
   * @param {number} index
   */
  force({ token }, index) {
    const force = [...this.translation.axes.outputs.tokens.slice(0, index), token].join(" ");
    const pin = this.store.state.unit === "tokens" && this.store.state.kind !== "encoder" ? `q${index}` : null;
    if (force.length <= LONGEST) this.store.set({ force, branch: 0, step: null, playing: false, pin });
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
    number: h("span", { class: "number" }, share > 0 && share < 0.005 ? `<\u202f1${percentSign()}` : percent(share)),
  };
}
