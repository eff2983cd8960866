// The words beside the picture: heading, prose, equation, question, and the way on.

import { h } from "../../../components/common/page/dom.js";
import { fitEquation, fitWords, heightBelowTabs } from "./fitting.js";
import { build, light } from "./prose.js";

export class Words {
  /** @type {HTMLDivElement | null} */
  equation = null;

  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    this.element = h("div", { class: "words" });
  }

  /** Words of the present scene. */
  build() {
    const { lesson } = this;
    const { name, title, section, math, prose } = lesson.description;
    const further = lesson.isFurther(name) ? ` \u00b7 ${lesson.texts.further}` : "";
    this.equation = math.length ? h("div", { class: "equation" }, ...math.map((line) => build(line))) : null;
    this.element.replaceChildren(
      h("h2", {}, title),
      section ? h("p", { class: "section" }, `${lesson.texts.section} ${section}${further}`) : "",
      h("div", { class: "prose" }, ...prose.map((node) => build(node))),
      this.equation ?? "",
      lesson.question?.element ?? "",
      this.onward() ?? "",
    );
    this.fit();
  }

  /** The button to the next scene or lesson, if there is one. */
  onward() {
    const { lesson } = this;
    const next = lesson.neighbour(1);
    const coming = next?.title ?? lesson.lesson.onward;
    if (!coming) return null;
    const label = next ? lesson.texts.next : lesson.texts.next_lesson;
    return h("button", { class: "next", click: () => lesson.turn(1) }, `${label}: ${coming} \u2192`);
  }

  /** In the type that their place has room for. */
  fit() {
    const { element, equation, lesson } = this;
    element.style.fontSize = "";
    if (lesson.presenting) fitWords(element, heightBelowTabs(lesson));
    if (equation) fitEquation(equation);
  }

  /**
   * Lights up a term of the equation.
   * @param {string | null} term
   */
  light(term) {
    if (this.equation) light(this.equation, term);
  }
}
