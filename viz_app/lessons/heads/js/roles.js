// Names and colours of what heads do; the same in all scenes of this lesson.

import { parseHead } from "../../../components/common/heads/heads.js";

const COLOURS = {
  light: { previous: "#7a4fc0", next: "#a86f00", self: "#007f99", separator: "#5a4632", aligner: "#c9285c" },
  dark: { previous: "#b79af0", next: "#e2b04a", self: "#4fc6e0", separator: "#c2a384", aligner: "#ff7fa5" },
};

/**
 * The colour of a head: that of its role, if it has one.
 * @param {import("./numbers").Role} head
 * @param {Theme} theme
 */
export function colourOf({ role, standing }, theme) {
  return standing === "none" ? theme.muted : colourOfRole(role, theme);
}

/**
 * @param {import("./numbers").RoleName} role
 * @param {Theme} theme
 */
export function colourOfRole(role, theme) {
  return COLOURS[theme.dark ? "dark" : "light"][role];
}

/**
 * "cross.6.3" -> its role; null for anything else.
 * @param {string} address
 * @param {import("./numbers").Roles} roles
 */
export function headAt(address, roles) {
  const { kind, layer, head } = parseHead(address);
  return roles[kind]?.[layer]?.[head] ?? null;
}
