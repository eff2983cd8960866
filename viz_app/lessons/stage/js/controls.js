// The controls under a picture: a playhead with its button, sliders, choices, switches, buttons, pins.

import { h, setAttribute } from "../../../components/common/dom.js";
import { pinsControl } from "./pins.js";

const TYPED = 250; // milliseconds of rest after which a text counts as typed

let lastName = 0;

/**
 * One control; `change(value)` is called when a person moves it.
 * @param {Control} description
 * @param {any} change
 */
export function control(description, change) {
  /** @type {Record<string, any>} */
  const makers = { range, choice, switch: toggle, held, text, button, pins: pinsControl };
  const make = makers[description.kind];
  return make(description, change);
}

/**
 * @param {Control} description
 * @param {any} change
 */
function range(description, change) {
  const { label, min, max, step } = description;
  /** @param {number} value */
  const show = (value) => (description.show ?? String)(value);
  const input = h("input", { type: "range", min, max, step, input: () => change(Number(input.value)) });
  const value = h("output", { class: "value" });
  const element = h("label", { class: "range" }, h("span", { class: "name" }, label), input, value);
  return {
    element,
    input,
    /** @param {number} number */
    update(number) {
      if (Number(input.value) !== number) input.value = String(number);
      value.textContent = show(number);
      setAttribute(input, "aria-valuetext", show(number));
    },
  };
}

/**
 * @param {{ label: string, options: any[] }} given
 * @param {any} change
 */
function choice({ label, options }, change) {
  lastName += 1;
  const name = `lesson-choice-${lastName}`;
  const inputs = options.map(([value]) => h("input", { type: "radio", name, value, change: () => change(value) }));
  const chips = options.map(([, text], index) => h("label", { class: "chip" }, inputs[index], h("span", {}, text)));
  const element = h("fieldset", { class: "choices" }, h("legend", { class: "name" }, label), ...chips);
  return {
    element,
    /** @param {number} value */
    update(value) {
      options.forEach(([own], index) => (inputs[index].checked = own === value));
    },
  };
}

/**
 * @param {{ label: string }} given
 * @param {any} change
 */
function toggle({ label }, change) {
  const input = h("input", { type: "checkbox", change: () => change(input.checked) });
  return {
    element: h("label", { class: "switch" }, input, h("span", { class: "name" }, label)),
    /** @param {number} value */
    update(value) {
      input.checked = Boolean(value);
    },
  };
}

/**
 * A line of text; told when somebody has stopped typing for a moment. `show` gives what stands there untouched, "".
 * @param {Control} description
 * @param {any} change
 */
function text(description, change) {
  let waiting = 0;
  const tell = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change(input.value), TYPED);
  };
  const input = h("input", { type: "text", maxlength: 200, autocomplete: "off", spellcheck: "false", input: tell });
  return {
    element: h("label", { class: "text" }, h("span", { class: "name" }, description.label), input),
    /** @param {number} value */
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
 * What happens once, when it is pressed.
 * @param {{ label: string }} given
 * @param {any} press
 */
function button({ label }, press) {
  return { element: h("button", { type: "button", class: "act", click: () => press() }, label), update() {} };
}

/**
 * The button that plays and the slider of the playhead.
 * @param {Control} description
 * @param {Texts} texts
 * @param {any} change
 * @param {() => void} toggle
 */
export function playheadControl(description, texts, change, toggle) {
  const own = { ...description, step: "any" };
  const slider = range(own, change);
  slider.element.classList.add("playhead");
  const button = h("button", { type: "button", class: "play", click: toggle });
  const icon = h("span", { class: "icon", "aria-hidden": "true" });
  const word = h("span", { class: "unseen" });
  button.append(icon, word);
  return {
    element: h("div", { class: "time" }, button, slider.element),
    description: own,
    /**
     * @param {number} value
     * @param {any} playing
     */
    update(value, playing) {
      slider.update(value);
      button.classList.toggle("playing", playing);
      word.textContent = playing ? texts.pause : texts.play;
    },
  };
}
