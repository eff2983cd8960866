// The picture with its title, as one image or as a film of the playhead's way.

import { h } from "../../../components/common/dom.js";
import { composePage, recordCanvas } from "../../../components/common/recording.js";

const HEAD = 34; // height of the title, in CSS pixels
const LAST = 1200; // milliseconds for which the last picture stays

export class Film {
  /** @type {MediaRecorder | null} */
  recorder = null;

  /**
   * @param {Lesson} lesson
   * @param {() => void} changed
   */
  constructor(lesson, changed) {
    this.lesson = lesson;
    this.changed = changed;
  }

  get running() {
    return Boolean(this.recorder);
  }

  /** A canvas with the title above the picture as it stands. */
  page(page = h("canvas")) {
    const { stage, theme, description } = this.lesson;
    const title = { text: description.title, font: "600 15px", colour: theme.text, baseline: 22 };
    composePage(page, stage, theme, HEAD, [title]);
    return page;
  }

  toggle() {
    if (this.running) this.stop();
    else this.start();
  }

  start() {
    const { lesson } = this;
    const { playhead } = lesson.scene;
    if (!playhead) return;
    const page = this.page();
    lesson.set({ [playhead.name]: playhead.min });
    lesson.stage.play();
    this.recorder = recordCanvas(page, lesson.fileName);
    this.paint(page, null);
    this.changed();
  }

  /**
   * @param {HTMLCanvasElement} page
   * @param {number | null} end
   */
  paint(page, end) {
    if (!this.running) return;
    this.page(page);
    const now = performance.now();
    const last = end ?? (this.lesson.stage.playing ? null : now + LAST);
    if (last !== null && now > last) this.stop();
    else requestAnimationFrame(() => this.paint(page, last));
  }

  stop() {
    if (!this.running) return;
    this.recorder?.stop();
    this.recorder = null;
    this.changed();
  }
}
