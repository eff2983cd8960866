// A picture as named shapes, each a few numbers, so that one picture turns into the next and what is in both stays.

import { mixed } from "../../../common/draw/theme.js";
import { direction } from "../../../common/page/dom.js";
import { beginning, sample } from "./curves.js";

/**
 * @typedef {object} Shape
 * @property {"ribbon" | "text" | "bar" | "dot"} form
 * @property {number[]} at ribbon: its way and width; text: x, y, size, angle, light; bar: x, y, width, height; dot: x, y,
 *   radius.
 * @property {number} alpha
 * @property {string} colour
 * @property {boolean} [hollow] Takes away instead of adding.
 * @property {string} [text]
 * @property {CanvasTextAlign} [align]
 * @property {boolean} [bold]
 * @property {[number, number]} [grows] When a ribbon begins and ends to grow, 0 to 1.
 * @typedef {Map<string, Shape>} Scene
 */

/**
 * A text in quiet colour; `light` turns it to that of the page's text.
 * @param {Theme} theme
 * @param {string} text
 * @param {[number, number, number]} at x, y and size.
 * @param {{ angle?: number, light?: number, alpha?: number, align?: CanvasTextAlign, bold?: boolean }} [look]
 * @returns {Shape}
 */
export function letters(theme, text, at, { angle = 0, light = 0, alpha = 1, align = "center", bold = false } = {}) {
  return { form: "text", at: [...at, angle, light], alpha, colour: theme.muted, text, align, bold };
}

/**
 * The bar of a part, hollow where it takes away.
 * @param {[number, number, number, number]} at x, y, width and height.
 * @param {string} colour
 * @param {number | undefined} value Of which undefined draws none.
 * @returns {Shape}
 */
export const bar = (at, colour, value) => ({
  form: "bar",
  at,
  alpha: value === undefined ? 0 : 0.9,
  colour,
  hollow: Number(value) < 0,
});

/**
 * The picture between two.
 * @param {Scene} before
 * @param {Scene} after
 * @param {number} share
 * @returns {Scene}
 */
export function between(before, after, share) {
  const scene = new Map();
  for (const [name, shape] of before)
    if (!after.has(name)) scene.set(name, { ...shape, alpha: shape.alpha * (1 - share) });
  for (const [name, shape] of after) {
    const from = before.get(name);
    const at = from ? shape.at.map((value, i) => from.at[i] + share * (value - from.at[i])) : shape.at;
    const alpha = (from?.alpha ?? 0) + share * (shape.alpha - (from?.alpha ?? 0));
    scene.set(name, { ...shape, at, alpha });
  }
  return scene;
}

const WIDTH = 14; // place of the width in the numbers of a ribbon
const HALO = [
  [9, 0.07],
  [3.5, 0.14],
]; // of a ribbon that is wide enough to shine: how much wider, how strong
const [THIN, SHINES] = [0.8, 2.5]; // pixels of the thinnest ribbon, and of one that shines
const [TWO_EDGES, APART] = [1.6, 3]; // width from which two edges are drawn, and how far apart they are at least
const HOLLOW = 0.4; // strength of a thinner ribbon that takes away
const LEVELS = 32; // of strength, of thin ribbons
const INKED = 0.72; // on white, where ribbons that cross get stronger

/** Draws scenes on a canvas, in the colours of a theme. */
export class Brush {
  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   * @param {string} family Of the letters.
   */
  constructor(context, theme, family) {
    this.context = context;
    this.theme = theme;
    this.family = family;
  }

  /**
   * @param {Scene} scene
   * @param {number} [time] How far ribbons have grown, 0 to 1.
   * @param {number} [strength]
   */
  draw(scene, time = 1, strength = 1) {
    const shapes = [...scene.values()].filter(({ alpha }) => alpha > 0.004);
    this.ribbons(shapes, time, strength);
    for (const shape of shapes) if (shape.form !== "ribbon") this[shape.form](shape);
    this.context.globalAlpha = 1;
  }

  /**
   * Hundreds of ribbons are thin: those of about one strength are one stroke, since light that adds up costs time.
   * @param {Shape[]} shapes
   * @param {number} time
   * @param {number} strength
   */
  ribbons(shapes, time, strength) {
    const { context, theme } = this;
    /** @type {Map<string, number[][]>} */
    const thin = new Map();
    /** @type {[number[], { width: number, alpha: number, colour: string, hollow: boolean }][]} */
    const wide = [];
    for (const { form, at, alpha, colour, hollow = false, grows = [0, 1] } of shapes) {
      const share = (time - grows[0]) / Math.max(0.001, grows[1] - grows[0]);
      if (form !== "ribbon" || share <= 0) continue;
      const width = at[WIDTH];
      const way = beginning(at.slice(0, WIDTH), share);
      const strong = alpha * strength * (theme.dark ? 1 : INKED);
      if (width >= (hollow ? TWO_EDGES : SHINES)) {
        wide.push([way, { width, alpha: strong, colour, hollow }]);
        continue;
      }
      const level = Math.round(LEVELS * strong * Math.sqrt(Math.min(1, width / THIN)) * (hollow ? HOLLOW : 1));
      const name = `${colour} ${level} ${width > 2 * THIN ? 2 : 1}`;
      if (level) thin.set(name, [...(thin.get(name) ?? []), way]);
    }
    for (const [name, ways] of thin) {
      const [colour, level, times] = name.split(" ");
      context.beginPath();
      for (const way of ways) this.trace(way);
      context.strokeStyle = colour;
      context.globalAlpha = Number(level) / LEVELS;
      context.lineWidth = Number(times) * THIN;
      context.stroke();
    }
    this.light(() => {
      for (const [way, look] of wide) this.ribbon(way, look);
    });
  }

  /**
   * Light adds up in the dark; on white, ink covers.
   * @param {() => void} draw
   */
  light(draw) {
    this.context.globalCompositeOperation = this.theme.dark ? "screen" : "source-over";
    this.context.lineCap = "butt";
    draw();
    this.context.globalCompositeOperation = "source-over";
    this.context.globalAlpha = 1;
  }

  /**
   * @param {number[]} way
   * @param {{ width: number, alpha: number, colour: string, hollow: boolean }} look
   */
  ribbon(way, { width, alpha, colour, hollow }) {
    const { context } = this;
    context.strokeStyle = colour;
    if (hollow) return this.outline(way, width, width < SHINES ? 0.6 * alpha : alpha);
    context.beginPath();
    this.trace(way);
    for (const [wider, strength] of [...(this.theme.dark ? HALO : []), [0, 1]]) {
      context.globalAlpha = alpha * strength;
      context.lineWidth = width + wider;
      context.stroke();
    }
  }

  /** @param {number[]} way */
  trace(way) {
    const { context } = this;
    context.moveTo(way[0], way[1]);
    for (let i = 2; i + 6 <= way.length; i += 6)
      context.bezierCurveTo(way[i], way[i + 1], way[i + 2], way[i + 3], way[i + 4], way[i + 5]);
  }

  /**
   * Two edges with nothing between them.
   * @param {number[]} way
   * @param {number} width
   * @param {number} alpha
   */
  outline(way, width, alpha) {
    const { context } = this;
    const points = sample(way, 24);
    const half = Math.max(APART, width) / 2 - 0.5;
    context.beginPath();
    points.forEach(([x, y, u, v], i) => context[i ? "lineTo" : "moveTo"](x + half * u, y + half * v));
    for (const [x, y, u, v] of points.reverse()) context.lineTo(x - half * u, y - half * v);
    context.closePath();
    context.globalAlpha = alpha;
    context.lineWidth = 1.1;
    context.stroke();
  }

  /** @param {Shape} shape */
  text({ at: [x, y, size, angle, light], alpha, colour, text = "", align = "center", bold }) {
    const { context, theme } = this;
    context.save();
    context.translate(x, y);
    context.rotate(angle);
    context.textAlign = align;
    context.textBaseline = "middle";
    context.font = `${bold ? 700 : 400} ${size.toFixed(1)}px ${this.family}`;
    context.direction = direction(text);
    context.globalAlpha = alpha;
    context.fillStyle = mixed(colour, theme.text, light);
    context.fillText(text, 0, 0);
    context.restore();
  }

  /** @param {Shape} shape */
  bar({ at: [x, y, width, height], alpha, colour, hollow }) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.beginPath();
    if (hollow) {
      context.strokeStyle = colour;
      context.lineWidth = 1;
      context.roundRect(x + 0.5, y + 0.5, Math.max(0, width - 1), Math.max(0, height - 1), 1.5);
      return context.stroke();
    }
    context.fillStyle = colour;
    context.roundRect(x, y, width, height, 1.5);
    context.fill();
  }

  /** @param {Shape} shape */
  dot({ at: [x, y, radius], alpha, colour, hollow }) {
    const { context, theme } = this;
    context.globalAlpha = alpha;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = hollow ? theme.background : colour;
    context.fill();
    if (!hollow) return;
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.stroke();
  }
}
