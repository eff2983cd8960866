// The index of the lessons: Figure 1, whose stations open lessons.

import { diagram } from "../../lessons/index/js/diagram.js";
import { readJson } from "./packed.js";

export default function start() {
  const { texts, sentence, stations } = readJson("page");
  const figure = diagram({ texts, sentence }, stations, (name) => location.assign(`${name}.html`));
  document.querySelector(".index figure")?.prepend(figure);
}
