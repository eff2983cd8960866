// Pen of a scene: canvas, size, theme and pointer. Letters are the theme's unless a style says otherwise.

import { dot, drawAxis, rule, trace, write } from "../../../components/common/draw/plot.js";
import { wrapped } from "./paragraph.js";

const MEASURE = 480; // widest line of a message, so that no single word is left for the next

export class Pen {
  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} height
   * @param {{ theme: Theme, pointer: Point | null, revealed: boolean, now: number, first: boolean }} state
   *   `revealed`: whether the answer to the question is; `now` in milliseconds; `first`: pressed, not dragged.
   */
  constructor(context, width, height, { theme, pointer, revealed, now, first }) {
    this.context = context;
    this.width = width;
    this.height = height;
    this.theme = theme;
    this.pointer = pointer;
    this.revealed = revealed;
    this.now = now;
    this.first = first;
  }

  /**
   * Text at a point, as `write` of plot.js.
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {Partial<TextStyle>} [style]
   */
  write(text, x, y, style) {
    const { theme } = this;
    write(this.context, text, x, y, { font: theme.font, ...style, colour: theme.ink(style?.colour ?? theme.text) });
  }

  /**
   * Small muted text: names of axes, notes.
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {Partial<TextStyle>} [style]
   */
  note(text, x, y, style) {
    this.write(text, x, y, { colour: this.theme.muted, size: 12, ...style });
  }

  /**
   * A sentence or two in place of a figure that cannot be drawn.
   * @param {string} text
   */
  message(text) {
    const style = { size: 15, align: "center", colour: this.theme.muted };
    wrapped(this, text, this.width / 2, this.height / 2, Math.min(this.width - 20, MEASURE), style);
  }

  /**
   * Measure the width of a text.
   * @param {string} text
   * @param {Partial<TextStyle>} [style]
   */
  measure(text, { size = 13, weight = 400, font = this.theme.font } = {}) {
    this.context.font = `${weight} ${size}px ${font}`;
    return this.context.measureText(text).width;
  }

  /**
   * A line through points, as `trace` of plot.js.
   * @param {(number[] | null | undefined | false)[]} points
   * @param {LineStyle} style
   */
  trace(points, style) {
    trace(this.context, points, style);
  }

  /**
   * A straight line.
   * @param {number} x
   * @param {number} y
   * @param {number} toX
   * @param {number} toY
   * @param {LineStyle} style
   */
  line(x, y, toX, toY, style) {
    rule(this.context, [x, y], [toX, toY], style);
  }

  /**
   * Two short lines that cross at a point, each reaching so far from it.
   * @param {number} x
   * @param {number} y
   * @param {number} reach
   * @param {LineStyle} style
   */
  cross(x, y, reach, style) {
    this.line(x - reach, y - reach, x + reach, y + reach, style);
    this.line(x - reach, y + reach, x + reach, y - reach, style);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   * @param {string} colour
   * @param {string | null} [ring] The colour of a ring around it.
   */
  dot(x, y, radius, colour, ring) {
    dot(this.context, x, y, radius, colour, ring);
  }

  /**
   * A filled rectangle.
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {string} colour
   * @param {number} [alpha] Of what the context draws with.
   */
  fill(x, y, width, height, colour, alpha = 1) {
    const { context } = this;
    context.save();
    context.globalAlpha *= alpha;
    context.fillStyle = colour;
    context.fillRect(x, y, width, height);
    context.restore();
  }

  /**
   * A line around a rectangle.
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {string} colour
   * @param {number} [thick]
   */
  frame(x, y, width, height, colour, thick = 1) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = thick;
    this.context.strokeRect(x, y, width, height);
  }

  /**
   * A rounded box, filled and then outlined as far as its style says.
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {{ fill?: string, alpha?: number, line?: string, thick?: number, radius?: number }} style `alpha` of the filling.
   */
  box(x, y, width, height, { fill, alpha = 1, line, thick = 1.5, radius = 6 }) {
    const { context } = this;
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
    if (fill) {
      context.save();
      context.globalAlpha *= alpha;
      context.fillStyle = fill;
      context.fill();
      context.restore();
    }
    if (!line) return;
    context.strokeStyle = line;
    context.lineWidth = thick;
    context.stroke();
  }

  /**
   * Ticks, labels and grid of an axis, as `drawAxis` of plot.js.
   * @param {Axis} axis
   * @param {"bottom" | "left"} side
   * @param {number} at
   * @param {Omit<Parameters<typeof drawAxis>[4], "theme">} [options]
   */
  axis(axis, side, at, options) {
    drawAxis(this.context, axis, side, at, { theme: this.theme, ...options });
  }
}
