// Findings that the reader pinned: pictures of a scene as it stood, beside each other, each with the way back to it.

import { h } from "../../../components/common/dom.js";
import { linkTo } from "./address.js";

const MOST = 4;

export class Findings {
  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    this.element = h("section", { class: "findings", hidden: true });
  }

  /** Pins the picture as it stands; the oldest one gives way. */
  pin() {
    const { lesson, element } = this;
    const { tools, texts, description, readout } = lesson;
    const title = description.title;
    const picture = h("canvas", { role: "img", "aria-label": title });
    tools.compose(picture);
    const link = h("a", { class: "tool", href: linkTo(location.href, lesson.state()) }, texts.finding_open);
    const remove = h("button", { class: "tool", type: "button" }, texts.finding_remove);
    const said = h("figcaption", {}, readout.textContent ?? "");
    const card = h("figure", {}, picture, said, h("div", { class: "tools" }, link, remove));
    remove.addEventListener("click", () => {
      card.remove();
      this.update();
    });
    element.append(card);
    while (element.children.length > MOST) element.firstElementChild?.remove();
    this.update();
    card.scrollIntoView({ block: "nearest" });
  }

  update() {
    const { element, lesson } = this;
    element.hidden = element.children.length === 0;
    element.setAttribute("aria-label", lesson.texts?.findings ?? "");
  }
}
