// A lesson on a page without Python.

import { mountWith } from "../../components/common/handover.js";
import { replaceAddress } from "../../components/common/page/device.js";
import { fromAddress, linkTo } from "../../lessons/stage/js/address.js";
import { keepProgress } from "../../lessons/stage/js/progress.js";
import { Host } from "./host.js";
import { readJson, readPacked } from "./packed.js";
import { drawPaper } from "./paper.js";
import { firstState, payloadOf } from "./prepared.js";

class LessonPage {
  /** @type {import("./prepared.js").PreparedLesson} */
  lesson;
  key = ""; // the state that is shown; "" for none yet

  constructor() {
    /** @type {{ controls: Record<string, string[]>, onward: string }} */
    const { controls, onward } = readJson("page");
    this.controls = controls;
    this.onward = onward;
    this.host = new Host("lesson", (name, value) => this.answer(name, value));
    this.host.run(() => this.show()).then(() => drawPaper(async () => this.lesson));
  }

  /** Mounts the lesson with the numbers of the state. */
  async show() {
    this.lesson ??= await readPacked("lesson");
    const { lesson } = this;
    const asked = new URLSearchParams(location.search);
    const [scene, settings] = [asked.get("scene"), fromAddress(asked.get("with") ?? "")];
    const linked = this.keyOf(scene ?? "", settings);
    this.key ||= Object.hasOwn(lesson.states, linked)
      ? linked
      : (firstState(lesson, scene) ?? Object.keys(lesson.states)[0]);
    const { key } = this;
    const data = await payloadOf(lesson, key, settings);
    if (key !== this.key) return; // another state was asked for meanwhile
    mountWith(`lesson.${lesson.header.name}`, { ...this.host.component, data });
    keepProgress(lesson.header.name, [lesson.states[key].state.scene]);
  }

  /**
   * The key of the state with these settings.
   * @param {string} scene
   * @param {Settings} settings
   */
  keyOf(scene, settings) {
    const controls = Object.hasOwn(this.controls, scene) ? this.controls[scene] : [];
    return [scene, ...controls.map((each) => settings[each])].join(" ");
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  answer(name, value) {
    if (name === "onward") location.href = this.onward;
    if (name !== "state") return;
    const { scene, settings } = value;
    replaceAddress(linkTo(location.href, { scene, settings: {} }));
    keepProgress(this.lesson.header.name, [scene]);
    const key = this.keyOf(scene, settings);
    if (key === this.key || !(key in this.lesson.states)) return;
    this.key = key;
    this.host.again();
  }
}

export default function start() {
  new LessonPage();
}
