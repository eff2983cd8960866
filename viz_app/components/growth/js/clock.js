// Plays the moments one after the other. Each stands for a while; nothing between two of them is made up.

import { whenHidden } from "../../common/component.js";

const BEAT = 900; // milliseconds for which a moment stands

export class Clock {
  timer = 0;
  reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

  /**
   * @param {HTMLElement} element It pauses when this is out of sight.
   * @param {() => boolean} step Goes on by one moment; says whether there was one.
   * @param {() => void} changed Called when it starts or stops.
   */
  constructor(element, step, changed) {
    this.step = step;
    this.changed = changed;
    this.stopWatching = whenHidden(element, () => this.pause());
  }

  get playing() {
    return Boolean(this.timer);
  }

  /**
   * Where motion is not wanted a press goes on by one moment.
   * @param {() => void} rewind
   */
  toggle(rewind) {
    if (this.playing) return this.pause();
    if (!this.step()) rewind();
    if (this.reducedMotion.matches) return;
    this.timer = setInterval(() => this.step() || this.pause(), BEAT);
    this.changed();
  }

  pause() {
    if (!this.playing) return;
    clearInterval(this.timer);
    this.timer = 0;
    this.changed();
  }

  stop() {
    this.pause();
    this.stopWatching();
  }
}
