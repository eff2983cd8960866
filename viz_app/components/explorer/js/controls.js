// The one row of controls: choices such as the kind of attention, and the decoding player.

import { RovingFocus } from "../../common/page/arrowkeys.js";
import { h, rootOf, setAttribute } from "../../common/page/dom.js";
import { hasModifier } from "../../common/page/keyboard.js";
import { TimeBar } from "../../common/page/timebar.js";
import { fillText } from "../../common/text/format.js";
import { tokenText } from "../../common/text/tokens.js";

const BEAT = 650; // milliseconds from one token to the next while playing

/** Buttons of which one is pressed: one stop of the Tab key, with arrows between them. */
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
    this.stops = new RovingFocus(this.element);
    this.stops.arrange([this.buttons]);
  }

  /**
   * @param {string} group
   * @param {string[]} labels
   */
  label(group, labels) {
    setAttribute(this.element, "aria-label", group);
    this.buttons.forEach((button, index) => (button.textContent = labels[index]));
  }

  /**
   * Shows only what there is to choose, and nothing where that is no choice.
   * @param {string[]} values
   */
  offer(values) {
    this.element.hidden = values.length < 2;
    this.buttons.forEach((button, index) => (button.hidden = !values.includes(String(this.values[index]))));
    this.stops.arrange([this.buttons.filter(({ hidden }) => !hidden)]);
  }

  /** @param {Partial<State>} state */
  update(state) {
    const pressed = this.buttons[this.values.map(String).indexOf(String(state[this.name]))];
    for (const button of this.buttons) setAttribute(button, "aria-pressed", String(button === pressed));
    if (!this.element.contains(rootOf(this.element).activeElement)) this.stops.reach(pressed);
  }
}

/** Steps through the decoding: at step t, t tokens are written. */
export class Player {
  /** @type {Translation} */
  translation;
  /** @type {ExplorerTexts} */
  texts;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.bar = new TimeBar(BEAT, {
      toggle: () => this.toggle(),
      seek: (step) => this.seek(step),
      tick: () => this.tick(),
    });
    const { button, slider, text } = this.bar;
    this.element = h("div", { class: "player", role: "group" }, button, slider, text);
  }

  /**
   * @param {Translation} translation
   * @param {ExplorerTexts} texts
   */
  build(translation, texts) {
    this.translation = translation;
    this.texts = texts;
    setAttribute(this.element, "aria-label", texts.player);
    this.element.hidden = translation.length < 1; // an encoder generates nothing
    this.bar.build(1, translation.length, texts.step);
  }

  /**
   * @param {State} state
   * @param {number} step
   */
  update({ step: chosen, playing }, step) {
    const { texts } = this;
    const { length: steps, axes } = this.translation;
    const token = tokenText(axes.outputs.tokens[step - 1] ?? "");
    this.bar.update({
      value: step,
      text: fillText(chosen === null ? texts.step_all : texts.step_of, { step, steps }),
      spoken: fillText(texts.step_value, { step, steps, token }),
      playing,
      label: playing ? texts.pause : texts.play,
    });
  }

  /** @param {number} step */
  seek(step) {
    this.go(step);
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
      this.seek(steps[event.key]);
    } else return;
    event.preventDefault();
  }

  tick() {
    const { step } = this.store.state;
    if (step === null) this.store.set({ playing: false });
    else this.go(step + 1);
  }

  stop() {
    this.bar.stop();
  }
}
