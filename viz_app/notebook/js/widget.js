// The explorer as a widget of a notebook, by the contract of anywidget. THEMES, rules for light and dark, stands before
// it, and what mountexplorer.js needs.

import { h } from "../../components/common/page/dom.js";
import { receiveFinding } from "../../components/explorer/js/cards/findings.js";
import { mount } from "../../components/explorer/js/mountexplorer.js";

/** @typedef {{ get: (name: string) => any, set: (name: string, value: any) => void, save_changes: () => void,
 *   on: (event: string, listener: () => void) => void, off: (event: string, listener: () => void) => void }} WidgetModel
 */

/** @param {{ model: WidgetModel, el: HTMLElement }} view */
function render({ model, el }) {
  const host = h("div");
  el.append(host);
  const place = host.attachShadow({ mode: "open" });
  const root = h("div", { class: "explorer" });
  place.append(root);
  const theme = new CSSStyleSheet();
  /** @param {string} name @param {any} value */
  const setStateValue = (name, value) => {
    model.set(name === "selection" ? name : `_${name}`, value);
    model.save_changes();
  };
  const parentElement = /** @type {HTMLElement} */ (/** @type {unknown} */ (place));
  let unmount = () => {};
  const draw = () => {
    const { buffer, byteOffset, byteLength } = model.get("_payload");
    const data = new Uint8Array(buffer, byteOffset, byteLength);
    unmount = mount({ data, parentElement, setStateValue, setTriggerValue: () => {} });
    theme.replaceSync(THEMES[isDark(el) ? "dark" : "light"]);
    if (!place.adoptedStyleSheets.includes(theme)) place.adoptedStyleSheets.push(theme);
  };
  const find = () => receiveFinding(model.get("_findings"), model.get("_key"));
  const select = () => /** @type {any} */ (root).explorer.showFollowed({ selection: model.get("selection") });
  const listeners = { "change:_payload": draw, "change:_findings": find, "change:selection": select };
  for (const [event, listener] of Object.entries(listeners)) model.on(event, listener);
  find();
  draw();
  return () => {
    for (const [event, listener] of Object.entries(listeners)) model.off(event, listener);
    host.remove();
    unmount();
  };
}

/**
 * Whether the notebook is dark: the nearest background behind the widget says so.
 * @param {Element | null} element
 */
function isDark(element) {
  for (let each = element; each; each = each.parentElement) {
    const [red, green, blue, alpha = 1] =
      getComputedStyle(each)
        .backgroundColor.match(/[\d.]+/g)
        ?.map(Number) ?? [];
    if (alpha > 0 && blue !== undefined) return red + green + blue < 384;
  }
  return false;
}

export default function widget() {
  return { render };
}
