// The controls under a picture: a playhead with its button, sliders, choices, switches, buttons.

import { setTypeset, typeset } from "../../../components/common/draw/typeset.js";
import { h, setAttribute } from "../../../components/common/page/dom.js";

const TYPED = 250; // milliseconds of rest after which a text counts as typed

/** @typedef {{ element: HTMLElement | null, update: (value: any) => void }} Widget Shows the value of a setting. */

/** The controls of a scene, in a row. */
export class ControlRow {
  /** @type {string} */
  key;
  /** @type {(Widget & { description: Control })[]} */
  controls = [];
  /** @type {PlayheadControl | null} */
  playhead;

  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    this.element = h("div", { class: "controls" });
  }

  /** Controls of the present scene. */
  build() {
    const { lesson } = this;
    const { playhead } = lesson.scene;
    const controls = lesson.scene.controls.filter((control) => lesson.answers(control));
    const key = JSON.stringify([lesson.name, controls, playhead, lesson.lesson.language]);
    if (key === this.key) {
      // New numbers for the same controls: the elements stay, so that the reader keeps the held or focused one.
      this.controls.forEach(({ description }, index) => Object.assign(description, controls[index]));
      if (playhead) Object.assign(this.playhead?.description ?? {}, playhead, { step: "any" });
      return;
    }
    this.key = key;
    this.controls = controls.map((description) => ({
      description,
      ...WIDGETS[description.kind](description, (value) => lesson.move(description, value)),
    }));
    this.playhead = playhead && new PlayheadControl(lesson, playhead);
    const elements = [this.playhead, ...this.controls].map((control) => control?.element ?? null);
    this.element.replaceChildren(...elements.filter((element) => element !== null));
  }

  /** Shows the settings. */
  update() {
    const settings = this.lesson.settings();
    for (const { description, element, update } of this.controls) {
      update(description.read ? description.read(settings) : settings[description.name]);
      if (element && description.where) element.hidden = !description.where(settings);
    }
    this.playhead?.update(settings);
  }

  /**
   * Tell whether Python has to compute anew for a change.
   * @param {Settings} patch
   */
  needServer(patch) {
    return this.controls.some(({ description }) => description.server && description.name in patch);
  }
}

/** The button that plays and the slider of the playhead. */
class PlayheadControl {
  /**
   * @param {Lesson} lesson
   * @param {Playhead} playhead
   */
  constructor(lesson, playhead) {
    this.lesson = lesson;
    this.description = { ...playhead, kind: "range", step: "any" };
    this.slider = range(this.description, (value) => {
      lesson.stage.pause();
      lesson.set({ [playhead.name]: value });
    });
    this.slider.element.classList.add("playhead");
    const icon = h("span", { class: "icon", "aria-hidden": "true" });
    this.label = h("span", { class: "unseen" });
    this.button = h("button", { class: "play", click: () => lesson.stage.toggle() }, icon, this.label);
    this.element = h("div", { class: "time" }, this.button, this.slider.element);
  }

  /** @param {Settings} settings */
  update(settings) {
    const { texts, stage } = this.lesson;
    this.slider.update(settings[this.description.name]);
    this.button.classList.toggle("playing", stage.playing);
    this.label.textContent = stage.playing ? texts.pause : texts.play;
  }
}

/**
 * By the kind of a control; `change(value)` is called when a person moves it.
 * @type {Record<string, (description: Control, change: (value?: unknown) => void) => Widget>}
 */
const WIDGETS = { range, choice, switch: toggle, held, text, button };

let lastName = 0;

/**
 * @param {Control} description
 * @param {(value: any) => void} change
 */
function range(description, change) {
  const { label, min, max, step } = description;
  const input = h("input", { type: "range", min, max, step, input: () => change(Number(input.value)) });
  const value = h("output", { class: "value" });
  const element = h("label", { class: "range" }, h("span", { class: "name" }, ...typeset(label ?? "")), input, value);
  return {
    element,
    input,
    /** @param {number} number */
    update(number) {
      if (Number(input.value) !== number) input.value = String(number);
      const text = (description.show ?? String)(number);
      setTypeset(value, text);
      setAttribute(input, "aria-valuetext", text);
    },
  };
}

/**
 * @param {Control} description
 * @param {(value: any) => void} change
 */
function choice({ label, options }, change) {
  /** @type {[string, string][]} */
  const choices = options;
  lastName += 1;
  const name = `lesson-choice-${lastName}`;
  const inputs = choices.map(([value]) => h("input", { type: "radio", name, value, change: () => change(value) }));
  const chips = choices.map(([, text], index) =>
    h("label", { class: "chip" }, inputs[index], h("span", {}, ...typeset(text))),
  );
  const element = h(
    "fieldset",
    { class: "choices" },
    h("legend", { class: "name" }, ...typeset(label ?? "")),
    ...chips,
  );
  return {
    element,
    /** @param {string} value */
    update(value) {
      choices.forEach(([own], index) => (inputs[index].checked = own === value));
    },
  };
}

/**
 * @param {Control} description
 * @param {(value: any) => void} change
 */
function toggle({ label }, change) {
  const input = h("input", { type: "checkbox", change: () => change(input.checked) });
  return {
    element: h("label", { class: "switch" }, input, h("span", { class: "name" }, label)),
    /** @param {boolean} value */
    update(value) {
      input.checked = value;
    },
  };
}

/**
 * A line of text; it changes after a pause in typing. `show` gives what stands there untouched, "".
 * @param {Control} description
 * @param {(value: any) => void} change
 */
function text(description, change) {
  let timer = 0;
  const onInput = () => {
    clearTimeout(timer);
    timer = setTimeout(() => change(input.value), TYPED);
  };
  const input = h("input", { type: "text", maxlength: 200, autocomplete: "off", spellcheck: "false", input: onInput });
  return {
    element: h("label", { class: "text" }, h("span", { class: "name" }, description.label), input),
    /** @param {string} value */
    update(value) {
      if (!input.matches(":focus")) input.value = value || description.show("");
    },
  };
}

/** A setting that only the picture changes; it has no element. */
function held() {
  return { element: null, update() {} };
}

/**
 * Button that acts once when it is pressed.
 * @param {Control} description
 * @param {() => void} press
 */
function button({ label }, press) {
  return { element: h("button", { class: "act", click: () => press() }, label), update() {} };
}
