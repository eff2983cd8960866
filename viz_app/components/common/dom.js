// Small helpers around the DOM. Data reach the page only as text nodes and attribute values, never as markup.

/** An element; attributes that are functions become listeners, null and false leave an attribute out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Sets an attribute only when it changes, so that screen readers are not told twice. */
export function setAttribute(element, name, value) {
  if (value === null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Text that comes from a sentence: its own direction must not turn the words around it. */
export function token(text, tag = "bdi", attributes = {}) {
  return h(tag, { dir: "auto", ...attributes }, text);
}

/** A label with its {placeholders} filled by strings or nodes, in one pass. */
export function fill(template, values) {
  const fragment = document.createDocumentFragment();
  for (const [index, part] of template.split(/\{([a-z_]+)\}/).entries()) {
    const value = index % 2 ? values[part] : part;
    if (value !== undefined && value !== "") fragment.append(value);
  }
  return fragment;
}

/** The same as plain text. */
export function fillText(template, values) {
  return template.replace(/\{([a-z_]+)\}/g, (match, name) => String(values[name] ?? ""));
}

/** 0.8123 -> "81 %", with a space that does not break. */
export function percent(value) {
  return `${Math.round(value * 100)}\u202f%`;
}

/** 0.8123 -> "0.812". */
export function decimals(value) {
  return value.toFixed(3);
}

/** Layer 3, head 5, both from 0 -> "4.6". */
export function headName(layer, head) {
  return `${layer + 1}.${head + 1}`;
}
