// Registers the code of a lesson, which mount.js then finds. Python puts STYLE, the text of lesson.css, before all modules.

import { instanceAt } from "../../../components/common/component.js";
import { provideCode } from "../../../components/common/handover.js";
import { rootOf } from "../../../components/common/page/dom.js";
import { eventId } from "../../../components/common/page/events.js";
import { drawScene } from "./drawing.js";
import { Lesson } from "./lesson.js";

const style = new CSSStyleSheet();
style.replaceSync(STYLE);

/**
 * Register the scenes of a lesson.
 * @param {string} name Of the lesson.
 * @param {SceneClasses} scenes Class of each scene by its name in the prose; see scene.js.
 */
export function registerScenes(name, scenes) {
  provideCode(`lesson.${name}`, ({ data, parentElement, setStateValue }) => {
    const { instance: lesson, unmount } = instanceAt(parentElement, "lesson", (root) => {
      rootOf(root).adoptedStyleSheets = [style];
      return new Lesson(root, scenes);
    });
    lesson.report = (state) => setStateValue("state", state);
    lesson.reportPredictions = (predicted) => setStateValue("predicted", predicted);
    lesson.leave = () => setStateValue("onward", eventId());
    lesson.receive(data);
    return unmount;
  });
  provideCode(`drawing.${name}`, ({ data, parentElement }) => {
    drawScene(parentElement, data, scenes);
    return () => {};
  });
}
