// Number fields that lie over the picture, for scenes whose numbers can be edited where they stand.
//
// A scene with `fields(width, height, settings)` gets one for each { key, x, y, width, height, size, value, label }; what is
// typed goes to `entered(key, number, settings)`, which returns settings that change.

import { h, rootOf, setAttribute } from "../../../components/common/page/dom.js";

export class Fields {
  /** @param {(key: string, number: number) => void} change */
  constructor(change) {
    this.change = change;
    this.element = h("div", { class: "fields" });
    /** @type {Map<string, HTMLInputElement>} */
    this.inputs = new Map();
  }

  /**
   * Brings the fields to where the scene wants them, on a picture drawn so much larger; one being typed in keeps its text.
   * @param {NumberField[]} wanted
   * @param {number} zoom
   */
  place(wanted, zoom) {
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, input] of this.inputs) {
      if (keys.has(key)) continue;
      input.remove();
      this.inputs.delete(key);
    }
    for (const { key, x, y, width, height, size, value, label } of wanted) {
      const input = this.inputs.get(key) ?? this.make(key);
      const places = { left: x, top: y, width, height, "font-size": size };
      for (const [name, length] of Object.entries(places)) input.style.setProperty(name, `${length * zoom}px`);
      setAttribute(input, "aria-label", label);
      if (rootOf(input).activeElement !== input && input.value !== value) input.value = value;
    }
  }

  /** @param {string} key */
  make(key) {
    const input = h("input", { type: "text", inputmode: "decimal", class: "number-field", autocomplete: "off" });
    const read = () => Number(input.value.replace(",", ".").replace("\u2212", "-") || NaN);
    input.addEventListener("input", () => Number.isFinite(read()) && this.change(key, read()));
    input.addEventListener("keydown", (event) => {
      const way = /** @type {Record<string, number | undefined>} */ ({ ArrowUp: 0.1, ArrowDown: -0.1 })[event.key];
      if (way) {
        event.preventDefault();
        input.value = String(Math.round(10 * ((read() || 0) + way)) / 10);
        this.change(key, read());
      } else if (event.key === "Enter") input.blur();
    });
    input.addEventListener("focus", () => input.select());
    input.addEventListener("blur", () => this.change(key, read())); // and shows what was understood
    this.inputs.set(key, input);
    this.element.append(input);
    return input;
  }
}
