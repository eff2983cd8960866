// The decoding as a film for a slide: what the large figure shows while the time bar plays, recorded by the browser.

import { context2d } from "../../common/canvas.js";
import { h } from "../../common/dom.js";

const FORMATS = ["video/webm;codecs=vp9", "video/webm", "video/mp4"]; // Safari records no WebM
const FRAMES = 30; // a second
const START_AFTER = 400; // milliseconds for which the first step stands before it moves
const LAST = 1500; // milliseconds for which the finished picture stays
const HEAD = 56; // height of title and caption above the figure, in CSS pixels
const EDGE = 14;

export class Recorder {
  /** @type {Texts} */
  texts;
  /** @type {{ page: HTMLCanvasElement, ratio: number, recorder: MediaRecorder, name: string, begun?: boolean, end?: number, frame?: number } | null} */
  film;
  /** @type {string} */
  name;

  /**
   * @param {Store} store
   * @param {Figure} figure
   */
  constructor(store, figure) {
    this.store = store;
    this.figure = figure;
    this.format = globalThis.MediaRecorder && FORMATS.find((format) => MediaRecorder.isTypeSupported(format));
    this.button = h("button", {
      type: "button",
      class: "plain record",
      click: () => (this.film ? this.stop() : this.start()),
    });
    this.button.hidden = !this.format;
  }

  /** @param {Texts} texts */
  label(texts) {
    this.texts = texts;
    this.button.textContent = this.film ? texts.record_stop : texts.record;
  }

  /** Goes to the first piece and plays; the film ends when the time bar does. */
  start() {
    const { canvas } = this.figure.shown;
    const ratio = window.devicePixelRatio || 1;
    const page = h("canvas", {});
    // Film coders want even sizes.
    page.width = 2 * Math.ceil((canvas.width + 2 * EDGE * ratio) / 2);
    page.height = 2 * Math.ceil((canvas.height + (HEAD + EDGE) * ratio) / 2);
    /** @type {Blob[]} */
    const parts = [];
    const recorder = new MediaRecorder(page.captureStream(FRAMES), { mimeType: this.format, videoBitsPerSecond: 4e6 });
    recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
    recorder.addEventListener("stop", () => this.save(parts));
    this.film = {
      page,
      ratio,
      recorder,
      name: `headlight_${this.figure.picture.sheet.kind}_${this.figure.picture.sheet.name}`,
    };
    this.store.set({ step: 1, playing: false });
    this.store.flush();
    this.paint();
    recorder.start();
    setTimeout(() => {
      if (this.film?.recorder !== recorder) return;
      this.store.set({ playing: true });
      this.film.begun = true; // on a busy machine late
    }, START_AFTER);
    this.label(this.texts);
  }

  /** One frame, again and again; a film that was not stopped ends some time after the time bar. */
  paint() {
    const { film, store } = this;
    if (!film) return;
    const { page, ratio } = film;
    const context = context2d(page);
    const { theme, title, caption, shown } = this.figure;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, page.width, page.height);
    context.drawImage(shown.canvas, EDGE * ratio, HEAD * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const width = page.width / ratio - 2 * EDGE;
    this.write(context, title, `600 14px ${theme.font}`, theme.text, 22, width);
    this.write(context, caption.textContent, `13px ${theme.font}`, theme.muted, 43, width);
    film.end ??= film.begun && !store.state.playing ? performance.now() + LAST : undefined;
    if (film.end !== undefined && performance.now() > film.end) return this.stop();
    film.frame = requestAnimationFrame(() => this.paint());
  }

  /**
   * A line of text, squeezed if it is too long.
   * @param {CanvasRenderingContext2D} context
   * @param {string} text
   * @param {string} font
   * @param {string} colour
   * @param {number} baseline
   * @param {number} width
   */
  write(context, text, font, colour, baseline, width) {
    context.font = font;
    context.fillStyle = colour;
    context.fillText(text, EDGE, baseline, width);
  }

  stop() {
    if (!this.film) return;
    cancelAnimationFrame(this.film.frame ?? 0);
    this.film.recorder.stop();
    this.name = `${this.film.name}.${this.format?.startsWith("video/mp4") ? "mp4" : "webm"}`;
    this.film = null;
    this.store.set({ playing: false });
    this.label(this.texts);
  }

  /** @param {any} parts */
  save(parts) {
    const address = URL.createObjectURL(new Blob(parts, { type: this.format }));
    h("a", { href: address, download: this.name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }
}
