// Makes the code of a lesson known to mount.js. STYLE, the text of lesson.css, is put before all modules by Python.

import { eventId } from "../../../components/common/events.js";
import { Lesson } from "./lesson.js";

const lessons = new WeakMap();
const style = new CSSStyleSheet();
style.replaceSync(STYLE);

/**
 * @param {string} name Of the lesson.
 * @param {any} scenes Class of each scene by its name in the prose; see scene.js.
 */
export function provide(name, scenes) {
  const code = Symbol.for(`headlight.lesson.${name}`);
  if (/** @type {any} */ (globalThis)[code]) return;
  /** @param {any} component */
  /** @type {any} */ (globalThis)[code] = (/** @type {Mounted} */ component) => show(component, scenes);
  dispatchEvent(new Event(String(code.description)));
}

/**
 * @param {{ data: any, parentElement: HTMLElement, setStateValue: any }} given
 * @param {any} scenes
 */
function show({ data, parentElement, setStateValue }, scenes) {
  const root = /** @type {any} */ (parentElement).querySelector(".lesson");
  let lesson = lessons.get(root);
  if (!lesson) {
    root.getRootNode().adoptedStyleSheets = [style];
    lesson = new Lesson(root, scenes);
    lessons.set(root, lesson);
    root.lesson = lesson; // for tests and the console
  }
  /** @param {State} state */
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
