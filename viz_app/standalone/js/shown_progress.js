// The reader's way through the lessons, on the site's lists of them.

import { fillText } from "../../components/common/text/format.js";
import { readProgress } from "../../lessons/stage/js/progress.js";

/** Shows on a page how far each lesson is, and what was predicted in a scene. */
export function showProgress() {
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-scenes]"))) {
    const { lesson = "", scenes = "", words = "" } = place.dataset;
    const all = scenes.split(" ");
    const count = readProgress(lesson).seen.filter((each) => all.includes(each)).length;
    if (count) place.textContent = fillText(words, { count, scenes: all.length });
    place.closest("li")?.classList.toggle("complete", count === all.length);
  }
  const scenes = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-scene]")]);
  for (const { dataset, children } of scenes) {
    const { lesson = "", scene = "" } = dataset;
    const choice = children[readProgress(lesson).predicted[scene]];
    if (choice instanceof HTMLElement) choice.hidden = false;
  }
}
