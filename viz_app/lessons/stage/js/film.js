// The picture with its title, as one image or as a film of the playhead's way, recorded by the browser.

import { context2d } from "../../../components/common/canvas.js";
import { h } from "../../../components/common/dom.js";

const FORMATS = ["video/webm;codecs=vp9", "video/webm", "video/mp4"]; // Safari records no WebM
const FRAMES = 30; // a second
const HEAD = 34; // height of the title, in CSS pixels
const EDGE = 14;
const LAST = 1200; // milliseconds for which the last picture stays

export class Film {
  /** @type {null | MediaRecorder} */
  recorder;

  /**
   * @param {Lesson} lesson
   * @param {() => void} changed
   */
  constructor(lesson, changed) {
    this.lesson = lesson;
    this.changed = changed;
    this.format = globalThis.MediaRecorder && FORMATS.find((format) => MediaRecorder.isTypeSupported(format));
    this.possible = Boolean(this.format);
  }

  get running() {
    return Boolean(this.recorder);
  }

  /** A canvas with the title above the picture as it stands. */
  page(page = h("canvas", {})) {
    const { canvas, ratio } = this.lesson.stage;
    const { theme, description } = this.lesson;
    const [width, height] = [
      2 * Math.ceil((canvas.width + 2 * EDGE * ratio) / 2),
      2 * Math.ceil((canvas.height + (HEAD + EDGE) * ratio) / 2),
    ];
    if (page.width !== width) page.width = width; // film coders want even sizes
    if (page.height !== height) page.height = height;
    const context = context2d(page);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    context.drawImage(canvas, EDGE * ratio, HEAD * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.text;
    context.font = `600 15px ${theme.font}`;
    context.fillText(description.title, EDGE, 22, width / ratio - 2 * EDGE);
    return page;
  }

  toggle() {
    if (this.running) this.stop();
    else this.start();
  }

  start() {
    const { lesson } = this;
    const { playhead } = lesson.scenes[lesson.name];
    const page = this.page();
    /** @type {Blob[]} */
    const parts = [];
    const name = `headlight_${lesson.lesson.name}_${lesson.name}.${this.format?.startsWith("video/mp4") ? "mp4" : "webm"}`;
    const recorder = new MediaRecorder(page.captureStream(FRAMES), { mimeType: this.format, videoBitsPerSecond: 4e6 });
    recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
    recorder.addEventListener("stop", () => download(new Blob(parts, { type: this.format }), name));
    this.recorder = recorder;
    lesson.set({ [playhead.name]: playhead.min });
    lesson.stage.play();
    recorder.start();
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
    this.lesson.stage.pause();
    this.changed();
  }
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
