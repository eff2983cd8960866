// The figures of a page on paper: each scene at its first settings, as the stage draws it.

import { mountWith } from "../../components/common/handover.js";
import { firstState, payloadOf } from "./prepared.js";

/** @typedef {import("./prepared.js").PreparedLesson} PreparedLesson */

/**
 * Draws every figure, once the fonts are there, by which texts are fitted.
 * @param {(lesson: string) => Promise<PreparedLesson>} read
 */
export async function drawPaper(read) {
  await Promise.all([...document.fonts].map((face) => face.load()));
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("figure[data-scene]"))) {
    const { lesson: name = "", scene = "" } = place.dataset;
    const lesson = await read(name);
    const key = firstState(lesson, scene);
    if (!key) continue;
    const nothing = () => {};
    const component = { parentElement: place, setStateValue: nothing, setTriggerValue: nothing };
    mountWith(`drawing.${name}`, { ...component, data: await payloadOf(lesson, key) });
  }
}
