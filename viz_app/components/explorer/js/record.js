// The decoding as a film for a slide: what the large figure shows while the time bar plays.

import { composePage, Film } from "../../common/page/recording.js";

const START_AFTER = 400; // milliseconds for which the first step stands before it moves
export const HEAD = 56; // height of title and caption above the figure, in CSS pixels

export class Recorder {
  /** @type {ExplorerTexts} */
  texts;
  started = false; // whether the time bar plays for a film

  /**
   * @param {Store} store
   * @param {Figure} figure
   */
  constructor(store, figure) {
    this.store = store;
    this.figure = figure;
    const source = {
      begin: () => this.start(),
      compose: (/** @type {HTMLCanvasElement} */ page) => this.compose(page),
      isOver: () => this.started && !store.state.playing,
      changed: () => this.update(),
    };
    this.film = new Film(source, { class: "tool plain record" });
  }

  /** @param {ExplorerTexts} texts */
  label(texts) {
    this.texts = texts;
    this.film.label(texts.record, texts.record_stop);
  }

  update() {
    this.started = false;
    this.store.set({ playing: false });
    this.label(this.texts);
  }

  /** Goes to the first token and plays; the film ends when the time bar does. */
  start() {
    const { store, film } = this;
    const { kind, name, groups } = this.figure.picture.matrix;
    store.set({ step: 1, playing: false });
    store.flush();
    film.start(`headlight_${groups ? `${kind}_${name}` : name}`);
    const { recorder } = film;
    setTimeout(() => {
      if (film.recorder !== recorder) return;
      store.set({ playing: true });
      this.started = true; // on a busy machine late
    }, START_AFTER);
  }

  /** The lines above a figure; above the large one unless others are given. */
  lines(title = this.figure.title, caption = this.figure.caption.textContent ?? "") {
    const { theme } = this.figure;
    return [
      { text: title, font: "600 14px", colour: theme.text, baseline: 22 },
      { text: caption, font: "13px", colour: theme.muted, baseline: 43 },
    ];
  }

  /** @param {HTMLCanvasElement} page */
  compose(page) {
    const { theme, shown } = this.figure;
    composePage(page, { canvas: shown.canvas, ratio: window.devicePixelRatio || 1 }, theme, HEAD, this.lines());
  }
}
