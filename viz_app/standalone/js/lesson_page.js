// A lesson on a page without Python: the numbers of each scene, and of each setting that asks Python, are in the file.

import { ALIGNMENT, joinBuffer } from "../../components/common/buffer.js";
import { mountWith } from "../../components/common/handover.js";
import { Host } from "./host.js";
import { readBytes, readJson, readPacked } from "./packed.js";

/** @typedef {{ shape: number[], type: string, block: string }} PreparedArray
 * @typedef {{ values: Record<string, number>, arrays: Record<string, PreparedArray> }} Prepared
 *   Its values are numbers of texts; its other fields are those of a payload's header.
 * @typedef {{ header: { name: string }, values: string[], states: Record<string, Prepared> }} PreparedLesson
 */

class LessonPage {
  /** @type {PreparedLesson} */
  lesson;
  key = ""; // the state that is shown; "" for none yet

  constructor() {
    /** @type {{ controls: Record<string, string[]>, onward: string }} */
    const { controls, onward } = readJson("page");
    this.controls = controls;
    this.onward = onward;
    this.host = new Host("lesson", (name, value) => this.answer(name, value));
    this.host.run(() => this.show());
  }

  /** Mounts the lesson with the numbers of the state. */
  async show() {
    this.lesson ??= await readPacked("lesson");
    const { header, values, states } = this.lesson;
    const asked = `${new URLSearchParams(location.search).get("scene")} `;
    const keys = Object.keys(states);
    this.key ||= keys.find((each) => `${each} `.startsWith(asked)) ?? keys[0];
    const { key } = this;
    const own = states[key];
    const parts = await Promise.all(Object.values(own.arrays).map(({ block }) => readBytes(block)));
    if (key !== this.key) return; // another state was asked for meanwhile
    const starts = startsOf(parts);
    const data = new Uint8Array(starts[parts.length]);
    parts.forEach((part, index) => data.set(part, starts[index]));
    const arrays = Object.entries(own.arrays).map(([name, array], index) => [
      name,
      { ...array, offset: starts[index] },
    ]);
    const numbers = Object.entries(own.values).map(([name, number]) => [name, JSON.parse(values[number])]);
    const full = { ...header, ...own, values: Object.fromEntries(numbers), arrays: Object.fromEntries(arrays) };
    mountWith(`lesson.${header.name}`, { ...this.host.component, data: joinBuffer(full, data) });
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  answer(name, value) {
    if (name === "onward") location.href = this.onward;
    if (name !== "state") return;
    const { scene, settings } = value;
    const key = [scene, ...this.controls[scene].map((each) => settings[each])].join(" ");
    if (key === this.key || !(key in this.lesson.states)) return;
    this.key = key;
    this.host.again();
  }
}

/**
 * Where parts start one behind the other, each at a multiple of the longest item; and the length of all.
 * @param {Uint8Array[]} parts
 */
function startsOf(parts) {
  const starts = [0];
  for (const part of parts) starts.push(Math.ceil((starts[starts.length - 1] + part.length) / ALIGNMENT) * ALIGNMENT);
  return starts;
}

export default function start() {
  new LessonPage();
}
