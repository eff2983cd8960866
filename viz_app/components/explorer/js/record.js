// The decoding as a film for a slide: what the large figure shows while the time bar plays.

import { h } from "../../common/dom.js";
import { composePage, FORMAT, recordCanvas } from "../../common/recording.js";

const START_AFTER = 400; // milliseconds for which the first step stands before it moves
const LAST = 1500; // milliseconds for which the finished picture stays
const HEAD = 56; // height of title and caption above the figure, in CSS pixels

export class Recorder {
  /** @type {Texts} */
  texts;
  /** @type {{ recorder: MediaRecorder, started?: boolean, end?: number } | null} */
  film = null;

  /**
   * @param {Store} store
   * @param {Figure} figure
   */
  constructor(store, figure) {
    this.store = store;
    this.figure = figure;
    this.button = h("button", { class: "plain record", click: () => (this.film ? this.stop() : this.start()) });
    this.button.hidden = !FORMAT;
  }

  /** @param {Texts} texts */
  label(texts) {
    this.texts = texts;
    this.button.textContent = this.film ? texts.record_stop : texts.record;
  }

  /** Goes to the first piece and plays; the film ends when the time bar does. */
  start() {
    const page = h("canvas");
    const { kind, name } = this.figure.picture.sheet;
    this.store.set({ step: 1, playing: false });
    this.store.flush();
    this.compose(page);
    const film = { recorder: recordCanvas(page, `headlight_${kind}_${name}`), started: false };
    this.film = film;
    this.paint(page);
    setTimeout(() => {
      if (this.film !== film) return;
      this.store.set({ playing: true });
      film.started = true; // on a busy machine late
    }, START_AFTER);
    this.label(this.texts);
  }

  /** @param {HTMLCanvasElement} page */
  compose(page) {
    const { theme, title, caption, shown } = this.figure;
    composePage(page, { canvas: shown.canvas, ratio: window.devicePixelRatio || 1 }, theme, HEAD, [
      { text: title, font: "600 14px", colour: theme.text, baseline: 22 },
      { text: caption.textContent ?? "", font: "13px", colour: theme.muted, baseline: 43 },
    ]);
  }

  /**
   * One frame, again and again; a film that was not stopped ends some time after the time bar.
   * @param {HTMLCanvasElement} page
   */
  paint(page) {
    const { film, store } = this;
    if (!film) return;
    this.compose(page);
    film.end ??= film.started && !store.state.playing ? performance.now() + LAST : undefined;
    if (film.end !== undefined && performance.now() > film.end) this.stop();
    else requestAnimationFrame(() => this.paint(page));
  }

  stop() {
    if (!this.film) return;
    this.film.recorder.stop();
    this.film = null;
    this.store.set({ playing: false });
    this.label(this.texts);
  }
}
