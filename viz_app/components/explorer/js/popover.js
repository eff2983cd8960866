// How sure the model was of one piece, and which pieces came next.

import { fill, h, percent, token } from "../../common/dom.js";
import { shown } from "./data.js";

export class Popover {
  /** @type {HTMLButtonElement} */
  button;

  constructor() {
    this.element = h("div", { class: "popover", role: "tooltip", id: "piece-popover", hidden: true });
  }

  /**
   * @param {HTMLButtonElement} button
   * @param {Translation} translation
   * @param {number} index
   * @param {Texts} texts
   */
  show(button, translation, index, texts) {
    const [probability, alternatives] = translation.steps[index];
    const piece = translation.axes.outputs.tokens[index];
    const others = alternatives.filter(([text]) => text !== piece).slice(0, 5);
    /** @type {[string, number, boolean][]} */
    const rows = [
      [piece, probability, true],
      ...others.map(([text, share]) => /** @type {[string, number, boolean]} */ ([text, share, false])),
    ];
    const title = fill(texts.popover_title, { step: String(index + 1), steps: String(translation.length) });
    this.element.replaceChildren(
      h("p", { class: "popover-title" }, title),
      ...rows.map(([text, share, chosen]) => row(text, share, chosen)),
      ...(others.length ? [] : [h("p", { class: "popover-title" }, texts.no_alternatives)]),
    );
    this.element.hidden = false;
    this.button?.removeAttribute("aria-describedby");
    button.setAttribute("aria-describedby", this.element.id);
    this.button = button;
    this.place(button);
  }

  /**
   * Under the piece, but inside the component.
   * @param {HTMLButtonElement} button
   */
  place(button) {
    const box = this.element.offsetParent?.getBoundingClientRect();
    if (!box) return;
    const target = button.getBoundingClientRect();
    const left = Math.min(target.left - box.left, box.width - this.element.offsetWidth - 4);
    this.element.style.left = `${Math.max(0, left)}px`;
    this.element.style.top = `${target.bottom - box.top + 6}px`;
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
 * @param {string} text
 * @param {number} share
 * @param {boolean} chosen
 */
function row(text, share, chosen) {
  const bar = h("span", { class: "bar" });
  bar.style.width = `${Math.max(1, Math.round(share * 100))}%`;
  return h(
    "div",
    { class: chosen ? "choice chosen" : "choice" },
    token(shown(text)),
    h("span", { class: "bar-space", "aria-hidden": true }, bar),
    h("span", { class: "number" }, share > 0 && share < 0.005 ? `<\u202f1\u202f%` : percent(share)),
  );
}
