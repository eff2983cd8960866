// Names and colours of what heads do; the same in all scenes of this lesson.

const COLOURS = {
  light: { previous: "#7a4fc0", next: "#a86f00", self: "#007f99", separator: "#7d6148", aligner: "#c9285c" },
  dark: { previous: "#b79af0", next: "#e2b04a", self: "#4fc6e0", separator: "#c2a384", aligner: "#ff7fa5" },
};
export const KINDS = ["encoder", "decoder", "cross"];

/**
 * The colour of a role, or of heads that have none.
 * @param {{ role: any, standing: any }} given
 * @param {Theme} theme
 */
export function colourOf({ role, standing }, theme) {
  return standing === "none" ? theme.muted : COLOURS[theme.dark ? "dark" : "light"][role];
}

/**
 * @param {any} role
 * @param {Theme} theme
 */
export function colourOfRole(role, theme) {
  return COLOURS[theme.dark ? "dark" : "light"][role];
}

/**
 * "cross.5.2" -> [kind, layer, head], both from 0; null for anything else.
 * @param {any} address
 * @param {any} roles
 */
export function parsed(address, roles) {
  const [kind, layer, head] = String(address).split(".");
  return roles[kind]?.[Number(layer)]?.[Number(head)] ? [kind, Number(layer), Number(head)] : null;
}

/**
 * "6.3": layers and heads count from 1 on screen.
 * @param {number} layer
 * @param {number} head
 */
export function named(layer, head) {
  return `${layer + 1}.${head + 1}`;
}

/** @param {number} value */
export function share(value) {
  return `${Math.round(value * 100)}\u202f%`;
}
