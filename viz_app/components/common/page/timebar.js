// A time bar: a button that plays, a slider, and where it stands in words.

import { h, setAttribute } from "./dom.js";

export class TimeBar {
  timer = 0;

  /**
   * @param {number} beat Milliseconds from one step to the next while it plays.
   * @param {{ toggle: () => void, seek: (value: number) => void, tick: () => void }} actions
   */
  constructor(beat, { toggle, seek, tick }) {
    this.beat = beat;
    this.tick = tick;
    this.button = h("button", { class: "play", click: toggle }, h("span", { class: "play-icon", "aria-hidden": true }));
    const input = () => seek(Number(this.slider.value));
    this.slider = h("input", { type: "range", class: "slider", step: "1", input });
    this.text = h("span", { class: "step-text" });
  }

  /**
   * @param {number} first
   * @param {number} last
   * @param {string} label
   */
  build(first, last, label) {
    setAttribute(this.slider, "min", first);
    setAttribute(this.slider, "max", last);
    setAttribute(this.slider, "aria-label", label);
  }

  /**
   * Shows a step, and plays while it should.
   * @param {{ value: number, text: string, spoken: string, playing: boolean, label: string }} state `label`: of the button.
   */
  update({ value, text, spoken, playing, label }) {
    const { slider, button } = this;
    const [first, last] = [Number(slider.min), Number(slider.max)];
    slider.value = String(value);
    slider.style.setProperty("--share", String(last > first ? (value - first) / (last - first) : 1));
    setAttribute(slider, "aria-valuetext", spoken);
    this.text.textContent = text;
    setAttribute(button, "aria-label", label);
    button.title = label;
    button.classList.toggle("playing", playing);
    if (!playing) this.stop();
    else if (!this.timer) this.timer = setInterval(this.tick, this.beat);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
  }
}
