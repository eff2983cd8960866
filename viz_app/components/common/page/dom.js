// Small helpers around the DOM. Data reach the page only as text nodes and attribute values, never as markup.

/**
 * An element; attributes that are functions become listeners, null and false leave an attribute out. A button submits
 * nothing.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.setAttribute("type", "button");
  assemble(element, attributes, children);
  return element;
}

/**
 * The same in SVG.
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string)} children
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  assemble(element, attributes, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 * @param {(Node | string | null | undefined)[]} children
 */
function assemble(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
}

/**
 * Sets an attribute only when it changes, so that screen readers are not told twice.
 * @param {Element} element
 * @param {string} name
 * @param {string | number | boolean | null} value
 */
export function setAttribute(element, name, value) {
  if (value === null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/**
 * The document or shadow root that an element is in.
 * @param {Node} element
 */
export function rootOf(element) {
  return /** @type {Document | ShadowRoot} */ (element.getRootNode());
}

/**
 * Distance of an element from the top of the page when nothing is scrolled.
 * @param {Element} element
 */
export function pageTop(element) {
  let distance = element.getBoundingClientRect().top;
  for (let node = /** @type {any} */ (element); node; node = node.parentNode ?? node.host)
    distance += node.scrollTop ?? 0;
  return distance;
}

/**
 * Places a panel under an element, but inside what it is positioned in.
 * @param {HTMLElement} panel
 * @param {HTMLElement} target
 */
export function placeUnder(panel, target) {
  const around = panel.offsetParent?.getBoundingClientRect();
  if (!around) return;
  const { left, bottom } = target.getBoundingClientRect();
  const most = around.width - panel.offsetWidth;
  panel.style.left = `${Math.max(0, Math.min(left - around.left, most))}px`;
  panel.style.top = `${bottom - around.top + 6}px`;
}

/** Letters of scripts that run from right to left, such as Hebrew and Arabic. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * The direction in which a text runs, by its first letter.
 * @param {string} text
 * @returns {"ltr" | "rtl"}
 */
export function direction(text) {
  return RIGHT_TO_LEFT.test(text.match(/\p{L}/u)?.[0] ?? "") ? "rtl" : "ltr";
}

/**
 * Text that comes from a sentence: its own direction must not turn the words around it.
 * @param {string} text
 * @param {keyof HTMLElementTagNameMap} [tag]
 * @param {Attributes} [attributes]
 */
export function tokenElement(text, tag = "bdi", attributes = {}) {
  return h(tag, { dir: "auto", ...attributes }, text);
}

/**
 * A label with its {placeholders} filled by strings or nodes, in one pass.
 * @param {string} template
 * @param {Record<string, Node | string | number>} values
 */
export function fill(template, values) {
  const fragment = document.createDocumentFragment();
  for (const [index, part] of template.split(/\{([a-z_]+)\}/).entries()) {
    const value = index % 2 ? values[part] : part;
    if (value !== undefined && value !== "") fragment.append(typeof value === "number" ? String(value) : value);
  }
  return fragment;
}
