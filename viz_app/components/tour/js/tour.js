// The steps: a ring around the place of each and a card beside it. It moves nothing and traps no focus; Esc skips it.

import { h, setAttribute } from "../../common/page/dom.js";
import { fillText } from "../../common/text/format.js";
import { placed } from "./place.js";

const SHOWN = "headlight-tour"; // in localStorage: that this browser has shown it
const ASKED = "headlight-tour-asked"; // in sessionStorage: the wish that has been met
const PATIENCE = 150; // milliseconds between two looks whether the page is there

export class Tour {
  step = -1; // which is shown; -1 for none
  /** @type {TourData} */
  data;
  /** @type {number} */
  waiting = 0;
  /** @type {HTMLElement | null} What had the focus before. */
  before = null;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.ring = h("div", { class: "tour-ring" });
    this.title = h("h2", { id: "tour-title" });
    this.text = h("p", { id: "tour-text" });
    this.progress = h("span", { class: "tour-progress" });
    this.back = h("button", { click: () => this.go(this.step - 1) });
    this.skip = h("button", { click: () => this.close() });
    this.next = h("button", { class: "tour-next", click: () => this.go(this.step + 1) });
    const row = h("div", { class: "tour-row" }, this.progress, this.skip, this.back, this.next);
    const about = { role: "dialog", "aria-labelledby": "tour-title", "aria-describedby": "tour-text" };
    this.card = h("div", { class: "tour-card", ...about }, this.title, this.text, row);
    this.layer = h("div", { class: "tour-layer", popover: "manual" }, this.ring, this.card);
    root.append(this.layer);
    this.place = () => placed(this.target(), this.ring, this.card);
    this.key = (/** @type {KeyboardEvent} */ event) => this.press(event);
    this.sizes = new ResizeObserver(this.place);
  }

  /** @param {TourData} data */
  receive(data) {
    this.data = data;
    setAttribute(this.layer, "lang", data.language);
    if (this.step >= 0) return this.label();
    if (this.waiting || !isDue(data)) return;
    this.waiting = setInterval(() => this.find(0) && this.start(), PATIENCE);
  }

  start() {
    clearInterval(this.waiting);
    this.waiting = 0;
    remember(this.data.asked);
    this.before = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    this.layer.showPopover();
    window.addEventListener("keydown", this.key, true);
    window.addEventListener("scroll", this.place, true);
    window.addEventListener("resize", this.place);
    this.go(0);
    this.next.focus({ preventScroll: true });
  }

  /** @param {number} step */
  go(step) {
    if (step >= this.data.steps.length) return this.close();
    this.step = Math.max(0, step);
    this.label();
    this.target()?.scrollIntoView({ block: "center", behavior: "instant" });
    this.sizes.disconnect();
    for (const element of [this.target(), document.documentElement]) if (element) this.sizes.observe(element);
    this.place();
    if (this.back.hidden && document.activeElement === this.back) this.next.focus();
  }

  label() {
    const { texts, steps } = this.data;
    const number = this.step + 1;
    this.title.textContent = texts[`title_${number}`];
    this.text.textContent = texts[`text_${number}`];
    this.progress.textContent = fillText(texts.progress, { step: number, steps: steps.length });
    this.skip.textContent = texts.skip;
    this.back.textContent = texts.back;
    this.next.textContent = number < steps.length ? texts.next : texts.done;
    this.back.hidden = this.step === 0;
    this.skip.hidden = number === steps.length;
  }

  /** The place of the step; of one that is not on the page the last place before it. */
  target() {
    for (let step = this.step; step >= 0; step--) {
      const found = this.find(step);
      if (found) return found;
    }
    return null;
  }

  /** @param {number} step */
  find(step) {
    const found = within(document, this.data.steps[step]);
    return found?.getClientRects().length ? found : null;
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    this.close();
  }

  close() {
    clearInterval(this.waiting);
    this.waiting = 0;
    if (this.step < 0) return;
    this.step = -1;
    window.removeEventListener("keydown", this.key, true);
    window.removeEventListener("scroll", this.place, true);
    window.removeEventListener("resize", this.place);
    this.sizes.disconnect();
    if (this.layer.matches(":popover-open")) this.layer.hidePopover();
    if (this.before?.isConnected) this.before.focus({ preventScroll: true });
  }

  stop() {
    this.close();
  }
}

/** @param {TourData} data */
function isDue({ first, asked }) {
  try {
    if (asked) return sessionStorage.getItem(ASKED) !== asked;
    return first && localStorage.getItem(SHOWN) === null;
  } catch {
    return false; // a browser that remembers nothing would show it every time
  }
}

/** @param {string} asked */
function remember(asked) {
  localStorage.setItem(SHOWN, "yes");
  if (asked) sessionStorage.setItem(ASKED, asked);
}

/**
 * The first element of a selector that is on the page or inside a component.
 * @param {Document | ShadowRoot} root
 * @param {string} selector
 * @returns {Element | null}
 */
function within(root, selector) {
  const found = root.querySelector(selector);
  if (found) return found;
  for (const element of root.querySelectorAll("*")) {
    const inner = element.shadowRoot && within(element.shadowRoot, selector);
    if (inner) return inner;
  }
  return null;
}
