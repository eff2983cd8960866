// A scene on paper: drawn once, as SVG, without controls and before its answer is revealed.

import { svgDrawing } from "../../../components/common/draw/svgcontext.js";
import { Theme } from "../../../components/common/draw/theme.js";
import { readPayload } from "./arrays.js";
import { Pen } from "./pen.js";
import { startSettings, validSettings } from "./settings.js";

const [WIDTH, ROOM] = [800, 360]; // of a figure at most, in CSS pixels: two scenes fit on a page

/**
 * Draws the scene of a payload's state; nothing where it has no picture.
 * @param {HTMLElement} place Its style has the theme.
 * @param {Uint8Array} data
 * @param {SceneClasses} classes
 */
export function drawScene(place, data, classes) {
  const lesson = readPayload(data);
  const { scene: name, settings } = lesson.state;
  const scene = new classes[name](lesson, lesson.texts);
  const all = { ...startSettings(scene), ...validSettings(scene, settings) };
  const { playhead } = scene;
  // What begins at its start is drawn at its end, where all of it is there.
  if (playhead && !(playhead.name in settings) && all[playhead.name] === playhead.min)
    all[playhead.name] = playhead.max;
  if (scene.missing(all) !== null) return;
  const state = { theme: new Theme(place, lesson.colours), pointer: null, revealed: false, now: 0, first: false };
  const height = Math.round(scene.height(WIDTH, ROOM));
  /** @param {CanvasRenderingContext2D} context */
  const draw = (context) => {
    Object.assign(context.canvas, { width: WIDTH, height });
    scene.draw(new Pen(context, WIDTH, height, state), all);
  };
  const drawing = svgDrawing(draw, lesson.language, `${lesson.name}-${name}`);
  for (const image of drawing.querySelectorAll("image"))
    image.setAttribute("href", image.getAttribute("xlink:href") ?? "");
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", scene.say(all));
  place.replaceChildren(drawing);
}
