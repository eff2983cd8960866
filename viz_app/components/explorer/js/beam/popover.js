// How sure the model was of one token, and which tokens came next.

import { fill, h, placeUnder } from "../../../common/page/dom.js";
import { candidateParts, choicesAt } from "./candidates.js";

export class Popover {
  /** @type {HTMLButtonElement} */
  button;

  constructor() {
    this.element = h("div", { class: "popover", role: "tooltip", id: "token-popover", hidden: true });
  }

  /**
   * @param {HTMLButtonElement} button
   * @param {Translation} translation
   * @param {number} index
   * @param {ExplorerTexts} texts
   */
  show(button, translation, index, texts) {
    const { chosen, others } = choicesAt(translation, index);
    const shown = others.slice(0, 5);
    const title = fill(texts.popover_title, { step: String(index + 1), steps: String(translation.length) });
    this.element.replaceChildren(
      h("p", { class: "popover-title" }, title),
      row(chosen, "choice chosen"),
      ...shown.map((candidate) => row(candidate, "choice")),
      ...(shown.length ? [] : [h("p", { class: "popover-title" }, texts.no_alternatives)]),
    );
    this.element.hidden = false;
    this.button?.removeAttribute("aria-describedby");
    button.setAttribute("aria-describedby", this.element.id);
    this.button = button;
    placeUnder(this.element, button);
  }

  /** Whether there was something to hide. */
  hide() {
    if (this.element.hidden) return false;
    this.element.hidden = true;
    this.button?.removeAttribute("aria-describedby");
    return true;
  }
}

/**
 * @param {import("./candidates.js").Candidate} candidate
 * @param {string} name Class of the element.
 */
function row(candidate, name) {
  const { text, bar, number } = candidateParts(candidate);
  return h("div", { class: name }, text, bar, number);
}
