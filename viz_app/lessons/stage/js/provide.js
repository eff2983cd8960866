// Makes the code of a lesson known to mount.js. STYLE, the text of lesson.css, is put before all modules by Python.

import { eventId } from "../../../components/common/events.js";
import { Lesson } from "./lesson.js";

const lessons = new WeakMap();
const style = new CSSStyleSheet();
style.replaceSync(STYLE);

/**
 * @param name Of the lesson.
 * @param scenes Class of each scene by its name in the prose; see scene.js.
 */
export function provide(name, scenes) {
  const code = Symbol.for(`headlight.lesson.${name}`);
  if (globalThis[code]) return;
  globalThis[code] = (component) => show(component, scenes);
  dispatchEvent(new Event(code.description));
}

function show({ data, parentElement, setStateValue }, scenes) {
  const root = parentElement.querySelector(".lesson");
  let lesson = lessons.get(root);
  if (!lesson) {
    root.getRootNode().adoptedStyleSheets = [style];
    lesson = new Lesson(root, scenes);
    lessons.set(root, lesson);
    root.lesson = lesson; // for tests and the console
  }
  lesson.report = (state) => setStateValue("state", state);
  lesson.leave = () => setStateValue("onward", eventId());
  lesson.receive(data);
  return () => {
    // Streamlit also cleans up after a call that a newer one has overtaken; then the component is still on the page.
    if (!root.isConnected) {
      lesson.stop();
      lessons.delete(root);
    }
  };
}
