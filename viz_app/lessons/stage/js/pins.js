// A control that keeps a few readings of the picture beside each other: a button adds the present one, a click takes
// one away. Its setting is a text, "512-40_1024-80", short enough for the address.
//
// { name, kind: "pins", label, remove, most, form, now(settings) -> pin, show(pin) -> label, start: "" }

import { h } from "../../../components/common/page/dom.js";

/**
 * The text of the setting -> its pins.
 * @param {string} text
 */
export function readPins(text) {
  return text ? text.split("_") : [];
}

/**
 * Tell whether a value from an address holds valid pins of this control, and not too many.
 * @param {unknown} text
 * @param {{ form: RegExp, most: number }} control
 */
export function arePins(text, { form, most }) {
  const pins = typeof text === "string" ? readPins(text) : [];
  return pins.length > 0 && pins.length <= most && pins.every((pin) => form.test(pin));
}

/**
 * `change(next)` is given what makes a new value of the settings.
 * @param {Control} control
 * @param {(next: (settings: Settings) => string) => void} change
 */
export function pinsControl({ name, label, remove, most, now, show }, change) {
  const add = h(
    "button",
    {
      class: "pin",
      click: () => change((/** @type {Settings} */ settings) => joined(settings[name], now(settings), most)),
    },
    label,
  );
  const list = h("span", { class: "pinned" });
  /** @type {string | null} */
  let shown = null;
  return {
    element: h("div", { class: "pins" }, add, list),
    /** @param {string} text */
    update(text) {
      if (text === shown) return;
      shown = text;
      list.replaceChildren(
        ...readPins(text).map((pin) =>
          h(
            "button",
            {
              class: "pin-chip",
              "aria-label": `${remove}: ${show(pin)}`,
              click: () =>
                change((/** @type {Settings} */ settings) =>
                  readPins(settings[name])
                    .filter((each) => each !== pin)
                    .join("_"),
                ),
            },
            `${show(pin)} \u00d7`,
          ),
        ),
      );
    },
  };
}

/**
 * One more pin at the end; when there are too many the oldest goes.
 * @param {string} text
 * @param {string} pin
 * @param {number} most
 */
function joined(text, pin, most) {
  return [...readPins(text).filter((each) => each !== pin), pin].slice(-most).join("_");
}
