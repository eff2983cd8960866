// Colours: Streamlit's theme for the page, the payload's tables for weights and kinds.

import { fromBase64 } from "../base64.js";
import { context2d } from "./canvas.js";

/** The theme as it stands at an element. */
export class Theme {
  /**
   * @param {Element} element
   * @param {Palettes} colours
   */
  constructor(element, colours) {
    const style = getComputedStyle(element);
    /** @type {(name: string, fallback: string) => string} */
    const read = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
    this.background = read("--st-background-color", "#ffffff");
    this.text = read("--st-text-color", "#1a1d24");
    this.dark = isDark(this.background);
    this.font = read("--st-font", "sans-serif");
    this.code = read("--st-code-font", "monospace");
    const own = colours[this.dark ? "dark" : "light"];
    this.kinds = own.kinds;
    this.hatch = own.hatch;
    this.muted = this.dark ? "#a4acba" : "#5b6270";
    this.mark = this.dark ? "#6b7383" : "#a3a9b5"; // word boundaries
    this.line = this.dark ? "#3a4150" : "#d5d9e0";
    this.pixels = unpacked(own.scale);
    this.diverging = unpacked(own.diverging);
    this.hatchPixel = pixel(this.hatch);
    this.inks = new Map(
      Object.values(this.kinds).map((colour) => [colour, legible(colour, this.background, this.text)]),
    );
    this.key = [this.background, this.text, this.font, this.code].join();
  }

  /**
   * The colour for text in a colour of the theme: where that is too faint to be read, a stronger one.
   * @param {string} colour
   */
  ink(colour) {
    return this.inks.get(colour) ?? colour;
  }

  /**
   * Its colours as variables for the style sheet of a component.
   * @param {HTMLElement} root
   */
  apply(root) {
    const { muted, line, hatch, kinds } = this;
    for (const [name, colour] of Object.entries({ muted, line, hatch, ...kinds }))
      root.style.setProperty(`--${name}`, colour);
  }
}

const CONTRAST = 5; // of text; WCAG AA asks for 4.5, and labels also stand on tinted plates

/**
 * A colour mixed with that of the text until it can be read on the background.
 * @param {string} colour
 * @param {string} background
 * @param {string} text
 */
function legible(colour, background, text) {
  const below = luminance(channels(background));
  for (let share = 0; share < 1; share += 0.05) {
    const ink = mixed(colour, text, share);
    const [low, high] = [luminance(channels(ink)), below].sort((a, b) => a - b);
    if ((high + 0.05) / (low + 0.05) >= CONTRAST) return ink;
  }
  return text;
}

/**
 * The colour between two.
 * @param {string} one
 * @param {string} other
 * @param {number} share Of the other one.
 */
export function mixed(one, other, share) {
  const [from, to] = [channels(one), channels(other)];
  return `rgb(${[0, 1, 2].map((at) => Math.round(from[at] + share * (to[at] - from[at]))).join(" ")})`;
}

/**
 * Relative luminance, as WCAG 2.2 defines it.
 * @param {ArrayLike<number>} colour
 */
function luminance(colour) {
  const [red, green, blue] = [0, 1, 2].map((at) => {
    const part = colour[at] / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * Black or white, whichever can be read on a pixel: the contrast is 4.5 or more.
 * @param {number} pixel
 */
export function inkOn(pixel) {
  return luminance([pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]) > 0.179 ? "#000" : "#fff";
}

/** @type {Map<string, Uint8ClampedArray>} */
const KNOWN = new Map();

/** @param {string} colour */
function channels(colour) {
  const known = KNOWN.get(colour);
  if (known) return known;
  const context = context2d(document.createElement("canvas"));
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const { data } = context.getImageData(0, 0, 1, 1);
  KNOWN.set(colour, data);
  return data;
}

/**
 * Whether a page of this colour, in any form that CSS knows, is dark.
 * @param {string} colour
 */
export function isDark(colour) {
  const [red, green, blue] = channels(colour);
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255 < 0.5;
}

/**
 * A 32-bit pixel for each RGB triple, in the byte order of canvas memory (all browsers: little-endian).
 * @param {string} table In base 64.
 */
function unpacked(table) {
  const bytes = fromBase64(table);
  return Uint32Array.from(
    { length: bytes.length / 3 },
    (_, i) => (255 << 24) | (bytes[3 * i + 2] << 16) | (bytes[3 * i + 1] << 8) | bytes[3 * i],
  );
}

/** @param {string} colour */
function pixel(colour) {
  const [red, green, blue] = channels(colour);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
