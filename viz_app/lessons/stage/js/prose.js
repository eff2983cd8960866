// Words and formulas: trees of plain values become elements. Only what a lesson's text can hold is made.

import { explained } from "../../../components/common/page/explained.js";

const HTML = new Set(["p", "strong", "em", "code", "dfn"]);
const MATHML = "http://www.w3.org/1998/Math/MathML";
const ATTRIBUTES = new Set([
  "display",
  "class",
  "stretchy",
  "fence",
  "form",
  "mathvariant",
  "accent",
  "columnalign",
  "separator",
  "movablelimits",
  "linethickness",
  "rowspacing",
  "columnspacing",
  "minsize",
  "maxsize",
  "width",
]);

/**
 * A node of parser.py -> a DOM node.
 * @param {Markup} node
 * @param {boolean} [inMath]
 */
export function build(node, inMath = false) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, children] = node;
  const { title } = attributes;
  if (tag === "dfn") return explained(String(children[0]), title, attributes["data-term"]);
  const math = inMath || tag === "math";
  if (!math && !HTML.has(tag)) throw new Error(`a lesson holds no <${tag}>`);
  const element = math ? document.createElementNS(MATHML, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (ATTRIBUTES.has(name)) element.setAttribute(name, value);
  element.append(...children.map((child) => build(child, math)));
  return element;
}

/**
 * Lights up one term of an equation and no other.
 * @param {HTMLDivElement} equation
 * @param {string | null} term
 */
export function light(equation, term) {
  for (const element of equation.querySelectorAll("[class]")) {
    element.classList.toggle("lit", element.classList.contains(term ?? ""));
  }
}
