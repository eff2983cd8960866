// The one row of controls: choices such as the kind of attention, and the decoding player.

import { h, setAttribute } from "../../common/page/dom.js";
import { hasModifier } from "../../common/page/keyboard.js";
import { fillText } from "../../common/text/format.js";
import { tokenText } from "../../common/text/tokens.js";

const BEAT = 650; // milliseconds from one token to the next while playing

/** Buttons of which one is pressed. */
export class Choice {
  /**
   * @param {string} name
   * @param {string[] | number[]} values
   * @param {{ set: (patch: Partial<State>) => void }} store
   */
  constructor(name, values, store) {
    this.name = name;
    this.store = store;
    this.buttons = values.map((value) =>
      h("button", {
        class: `choice-button ${name}-${value}`,
        click: () => store.set({ [name]: value }),
      }),
    );
    this.values = values;
    this.element = h("div", { class: `choice-group ${name}`, role: "group" }, ...this.buttons);
  }

  /**
   * @param {string} group
   * @param {string[]} labels
   */
  label(group, labels) {
    setAttribute(this.element, "aria-label", group);
    this.buttons.forEach((button, index) => (button.textContent = labels[index]));
  }

  /** @param {Partial<State>} state */
  update(state) {
    this.buttons.forEach((button, index) =>
      setAttribute(button, "aria-pressed", String(state[this.name] === this.values[index])),
    );
  }
}

/** Steps through the decoding: at step t, t tokens are written. */
export class Player {
  /** @type {Translation} */
  translation;
  /** @type {Texts} */
  texts;
  /** @type {number} */
  timer;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    const icon = h("span", { class: "play-icon", "aria-hidden": true });
    this.button = h("button", { class: "play", click: () => this.toggle() }, icon);
    this.slider = h("input", { type: "range", class: "slider", min: "1", step: "1", input: () => this.seek() });
    this.text = h("span", { class: "step-text" });
    this.element = h("div", { class: "player", role: "group" }, this.button, this.slider, this.text);
  }

  /**
   * @param {Translation} translation
   * @param {Texts} texts
   */
  build(translation, texts) {
    this.translation = translation;
    this.texts = texts;
    this.slider.max = String(translation.length);
    setAttribute(this.element, "aria-label", texts.player);
    setAttribute(this.slider, "aria-label", texts.step);
  }

  /**
   * @param {State} state
   * @param {number} step
   */
  update(state, step) {
    const { length, axes } = this.translation;
    this.slider.value = String(step);
    this.slider.style.setProperty("--share", String(length > 1 ? (step - 1) / (length - 1) : 1));
    const token = tokenText(axes.outputs.tokens[step - 1] ?? "");
    setAttribute(this.slider, "aria-valuetext", fillText(this.texts.step_value, { step, steps: length, token }));
    const progress = state.step === null ? this.texts.step_all : this.texts.step_of;
    this.text.textContent = fillText(progress, { step, steps: length });
    setAttribute(this.button, "aria-label", state.playing ? this.texts.pause : this.texts.play);
    this.button.title = state.playing ? this.texts.pause : this.texts.play;
    this.button.classList.toggle("playing", state.playing);
    if (state.playing && !this.timer) this.timer = setInterval(() => this.tick(), BEAT);
    if (!state.playing) this.stop();
  }

  seek() {
    this.go(Number(this.slider.value));
    this.store.set({ playing: false });
  }

  /** @param {number} step */
  go(step) {
    const last = this.translation.length;
    this.store.set({ step: step >= last ? null : Math.max(1, step), cursor: null });
  }

  toggle() {
    const { playing, step } = this.store.state;
    if (!playing && step === null) this.go(1);
    this.store.set({ playing: !playing && this.translation.length > 1 });
  }

  /**
   * Space, left, right, Home and End work wherever they have no other meaning.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.defaultPrevented || hasModifier(event) || event.shiftKey) return;
    const target = /** @type {Element} */ (event.composedPath()[0]);
    const { length } = this.translation;
    const now = this.store.state.step ?? length;
    /** @type {Record<string, number>} */
    const steps = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 1, End: length };
    if (event.key === " ") {
      if (target.matches("button, input:not([type=range])")) return;
      this.toggle();
    } else if (event.key in steps && !target.matches("input, .table-scroll")) {
      this.go(steps[event.key]);
      this.store.set({ playing: false });
    } else return;
    event.preventDefault();
  }

  tick() {
    const { step } = this.store.state;
    if (step === null) this.store.set({ playing: false });
    else this.go(step + 1);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
  }
}
