// One small button with all that is rarely needed: tools, and the settings of pictures. A setting that differs from its
// start is a chip beside the button, so that no picture is misread; a click resets it.

import { h, placeUnder, setAttribute } from "../../common/page/dom.js";
import { fillText, percent } from "../../common/text/format.js";
import { Choice } from "./controls.js";

const SETTINGS = ["unit", "scale", "special", "threshold", "average"];
const MAX_THRESHOLD = 50; // percent

export class Menu {
  /** @type {ExplorerTexts} */
  texts;
  /** @type {string} The settings that the chips show. */
  shown;
  /** @type {ExplorerTexts} */
  chipTexts;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.button = h(
      "button",
      {
        class: "menu-button",
        "aria-haspopup": "dialog",
        "aria-expanded": "false",
        click: () => this.toggle(),
      },
      h("span", { class: "menu-icon", "aria-hidden": true }),
    );
    this.unit = new Choice("unit", ["tokens", "words"], store);
    this.scale = new Choice("scale", ["linear", "sqrt", "row"], store);
    this.average = new Choice("average", ["none", "layer", "all"], store);
    this.special = h("input", { type: "checkbox", change: () => store.set({ special: this.special.checked }) });
    this.threshold = h("input", {
      type: "range",
      class: "menu-range",
      min: "0",
      max: String(MAX_THRESHOLD),
      step: "1",
      input: () => store.set({ threshold: Number(this.threshold.value) }),
    });
    this.cut = h("output", { class: "menu-cut" });
    this.specialLabel = h("span", {});
    this.titles = Object.fromEntries(SETTINGS.map((name) => [name, h("span", { class: "menu-title" })]));
    this.notes = { average: h("span", { class: "note" }) };
    // The explorer fills it. What says there that it has copied stays open.
    this.tools = h("div", { class: "menu-tools", click: (event) => this.pressed(event) });
    this.title = h("h2", { class: "menu-heading" });
    this.panel = h(
      "div",
      { class: "menu-panel", role: "dialog", hidden: true, keydown: (event) => this.key(event) },
      this.tools,
      this.title,
      this.row("unit", this.unit.element),
      this.row("scale", this.scale.element),
      this.row("threshold", h("span", { class: "menu-slider" }, this.threshold, this.cut)),
      this.row("special", h("label", { class: "menu-check" }, this.special, this.specialLabel)),
      this.row("average", this.average.element, this.notes.average),
    );
    this.chips = h("div", { class: "chips" });
    this.element = h("div", { class: "menu", keydown: (event) => this.escape(event) }, this.button, this.panel);
    /** @param {Event} event */
    this.outside = (event) => event.composedPath().includes(this.element) || this.close();
  }

  /**
   * @param {string} name
   * @param {...HTMLDivElement | HTMLSpanElement | HTMLLabelElement} parts
   */
  row(name, ...parts) {
    return h("div", { class: `menu-row menu-${name}` }, this.titles[name], ...parts);
  }

  /** @param {ExplorerTexts} texts */
  label(texts) {
    this.texts = texts;
    this.title.textContent = texts.menu_settings;
    setAttribute(this.button, "aria-label", texts.menu);
    this.button.title = texts.menu;
    setAttribute(this.panel, "aria-label", texts.menu);
    for (const [name, title] of Object.entries(this.titles)) title.textContent = texts[`menu_${name}`];
    this.unit.label(texts.unit, [texts.unit_tokens, texts.unit_words]);
    this.scale.label(texts.menu_scale, [texts.menu_linear, texts.menu_sqrt, texts.menu_row]);
    this.average.label(texts.menu_average, [texts.menu_average_none, texts.menu_average_layer, texts.menu_average_all]);
    this.notes.average.textContent = texts.menu_average_note;
    setAttribute(this.threshold, "aria-label", texts.menu_threshold);
    this.specialLabel.textContent = texts.menu_special_show;
  }

  /** @param {State} state */
  update(state) {
    for (const choice of [this.unit, this.scale, this.average]) choice.update(state);
    this.special.checked = state.special;
    this.threshold.value = String(state.threshold);
    this.threshold.style.setProperty("--share", String(Math.min(1, state.threshold / MAX_THRESHOLD)));
    this.cut.textContent = percent(state.threshold / 100);
    setAttribute(this.threshold, "aria-valuetext", percent(state.threshold / 100));
    const defaults = /** @type {State} */ (this.store.defaults);
    const changed = SETTINGS.filter((name) => state[name] !== defaults[name]);
    this.chips.hidden = !changed.length;
    const chips = changed.map((name) => this.chip(name, this.setting(name, state)));
    const key = changed.map((name) => `${name} ${state[name]}`).join();
    if (key !== this.shown || this.chipTexts !== this.texts) this.chips.replaceChildren(...chips);
    this.shown = key;
    this.chipTexts = this.texts;
  }

  /**
   * A setting in a word or two.
   * @param {string} name
   * @param {State} state
   */
  setting(name, state) {
    const { texts } = this;
    if (name === "unit") return texts.unit_words;
    if (name === "scale") return texts[`menu_${state.scale}_chip`];
    if (name === "special") return texts.menu_special_chip;
    if (name === "threshold") return fillText(texts.menu_threshold_chip, { threshold: percent(state.threshold / 100) });
    return texts[`menu_average_${state.average}_chip`];
  }

  /**
   * @param {string} name
   * @param {string} setting
   */
  chip(name, setting) {
    const back = () => {
      this.store.set({ [name]: /** @type {State} */ (this.store.defaults)[name] });
      this.button.focus();
    };
    const label = fillText(this.texts.menu_back, { setting });
    return h(
      "button",
      { class: `chip chip-${name}`, "aria-label": label, title: label, click: back },
      setting,
      h("span", { class: "chip-cross", "aria-hidden": true }, "\u00d7"),
    );
  }

  toggle() {
    if (!this.panel.hidden) return this.close();
    this.panel.hidden = false;
    setAttribute(this.button, "aria-expanded", "true");
    window.addEventListener("pointerdown", this.outside, true);
    placeUnder(this.panel, this.button);
    this.panel.scrollIntoView({ block: "nearest" }); // on a telephone it would reach below the window
    /** @type {HTMLElement | null} */ (this.tools.querySelector("button:not([hidden])"))?.focus();
  }

  /** @param {Event} event */
  pressed({ target }) {
    if (!(target instanceof Element && target.closest(".present, .beam-button"))) return;
    this.close();
    this.button.focus();
  }

  close() {
    if (this.panel.hidden) return;
    this.panel.hidden = true;
    setAttribute(this.button, "aria-expanded", "false");
    window.removeEventListener("pointerdown", this.outside, true);
  }

  /** @param {KeyboardEvent} event */
  escape(event) {
    if (event.key !== "Escape" || this.panel.hidden) return;
    event.stopPropagation();
    this.close();
    this.button.focus();
  }

  /**
   * Keys in the menu belong to its controls.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.key !== "Escape") event.stopPropagation();
  }
}
