// Plays the moments one after the other. Each stands for a while; nothing between two of them is made up.

const STANDS = 900; // milliseconds

export class Clock {
  /**
   * @param {() => boolean} step Goes on by one moment; says whether there was one. @param {() => void} changed GrowthHistory when it starts or stops.
   * @param {HTMLDivElement} element
   */
  constructor(element, step, changed) {
    this.step = step;
    this.changed = changed;
    this.timer = 0;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.seen = new IntersectionObserver(([entry]) => entry.isIntersecting || this.pause());
    this.seen.observe(element);
    this.onHidden = () => document.hidden && this.pause();
    document.addEventListener("visibilitychange", this.onHidden);
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
    if (this.still.matches) {
      if (!this.step()) rewind();
      return;
    }
    if (!this.step()) rewind();
    this.timer = setInterval(() => this.step() || this.pause(), STANDS);
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
    this.seen.disconnect();
    document.removeEventListener("visibilitychange", this.onHidden);
  }
}
