// A lesson on a page without Python: the numbers of each scene, and of each setting that asks Python, are in the file.

import { joinBuffer } from "../../components/common/buffer.js";
import { mountWith } from "../../components/common/handover.js";
import { Host } from "./host.js";
import { readBytes, readJson } from "./packed.js";

/** @typedef {{ values: Record<string, number>, arrays: object, id: string, answers: Settings, state: object }} Prepared
 *   Its values are numbers of texts, its arrays places in the block of all arrays.
 * @typedef {{ header: { name: string }, values: string[], states: Record<string, Prepared> }} PreparedLesson
 */

class LessonPage {
  /** @type {PreparedLesson} */
  lesson;

  constructor() {
    /** @type {{ start: string, controls: Record<string, string[]>, failed: string }} */
    const { start, controls, failed } = readJson("page");
    this.controls = controls;
    this.key = start;
    this.host = new Host("lesson", (name, value) => this.answer(name, value));
    this.host.run(() => this.show(), failed);
  }

  /** Mounts the lesson with the numbers of the state. */
  async show() {
    const [told, arrays] = await Promise.all([readBytes("lesson"), readBytes("arrays")]);
    this.lesson ??= JSON.parse(new TextDecoder().decode(told));
    const { header, values, states } = this.lesson;
    const own = states[this.key];
    const numbers = Object.entries(own.values).map(([name, number]) => [name, JSON.parse(values[number])]);
    const data = joinBuffer({ ...header, ...own, values: Object.fromEntries(numbers) }, arrays);
    mountWith(`lesson.${header.name}`, { ...this.host.component, data });
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  answer(name, value) {
    if (name !== "state") return;
    const { scene, settings } = value;
    const key = [scene, ...this.controls[scene].map((each) => settings[each])].join(" ");
    if (key === this.key || !(key in this.lesson.states)) return;
    this.key = key;
    this.show();
  }
}

export default function start() {
  new LessonPage();
}
