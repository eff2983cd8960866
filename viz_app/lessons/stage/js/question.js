// Predict, then reveal. The guess is told to Python for the page of questions, and stays out of the address.

import { h } from "../../../components/common/page/dom.js";
import { build } from "./prose.js";

export class Question {
  /** @type {number | undefined} */
  chosen;

  /**
   * @param {QuestionWords} question
   * @param {Texts} texts
   * @param {(chosen: number | undefined) => void} onReveal
   */
  constructor(question, texts, onReveal) {
    this.question = question;
    this.texts = texts;
    this.onReveal = onReveal;
    this.revealed = false;
    this.buttons = question.choices.map(({ text }, index) =>
      h(
        "button",
        { class: "answer", "aria-pressed": "false", click: () => this.choose(index) },
        ...text.map((node) => build(node)),
      ),
    );
    this.button = h("button", { class: "reveal", click: () => this.reveal() }, texts.reveal);
    this.result = h("div", { class: "result", role: "status" });
    this.element = h(
      "div",
      { class: "question" },
      h("div", { class: "answers" }, ...this.buttons),
      this.button,
      this.result,
    );
  }

  /** @param {number} index */
  choose(index) {
    if (this.revealed) return;
    this.chosen = index;
    this.buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === index)));
  }

  reveal() {
    if (this.revealed) return;
    this.revealed = true;
    const { choices, answer } = this.question;
    this.button.hidden = true;
    choices.forEach(({ right }, index) => {
      const button = this.buttons[index];
      button.classList.toggle("right", right);
      button.classList.toggle("wrong", !right && index === this.chosen);
      button.setAttribute("aria-disabled", "true");
      if (right || index === this.chosen)
        button.append(
          h("span", { class: "mark" }, right ? ` \u2713 ${this.texts.right}` : ` \u2717 ${this.texts.wrong}`),
        );
    });
    this.result.replaceChildren(...answer.map((node) => build(node)));
    this.onReveal(this.chosen);
  }
}
