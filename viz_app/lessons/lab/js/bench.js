// A bench of the Lab: a scene that waits for its numbers, and says so where they cannot be computed.

import { cssColour } from "../../../components/common/draw/canvas.js";
import { divergingPixel } from "../../../components/common/draw/diverging.js";
import { inkOn } from "../../../components/common/draw/theme.js";
import { headAddress } from "../../../components/common/heads/heads.js";
import { fillText, formatCount } from "../../../components/common/text/format.js";
import { NARROW } from "../../stage/js/headgrid.js";
import { Scene } from "../../stage/js/scene.js";

/**
 * A scene of the Lab. Where a message is missing nothing, its numbers are there: see `missing` of a scene.
 * @template [Own=any] Numbers of its `bench.py`.
 * @extends {Scene<import("./numbers").Values>}
 */
export class Bench extends Scene {
  /** Of the bench in `values`. */
  name = "";

  /** Whether the setting `chosen` is a head that the bench shows. */
  showsHead = false;

  /** @returns {Own | null} The numbers, once they are there. */
  get known() {
    const { values } = this.lesson;
    return values.bench === this.name ? values[this.name] : null;
  }

  /** @returns {Own} The numbers, wherever there is a picture. */
  get own() {
    return /** @type {Own} */ (this.known);
  }

  /** @type {Scene["arriving"]} The head that was chosen stays chosen from bench to bench. */
  arriving(before, { chosen }) {
    return this.showsHead && before instanceof Bench && before.showsHead && chosen ? { chosen } : {};
  }

  get pinnable() {
    return !this.isEmpty;
  }

  get isEmpty() {
    return this.lesson.values.bench === null;
  }

  /** @type {Scene["missing"]} */
  missing(settings) {
    const { bench, count, most, times, late } = this.lesson.values;
    if (bench === null && count > most) return fillText(this.texts.too_long, { count, most });
    if (bench === null && times) return fillText(this.texts.too_much, { times: about(times) });
    if (bench === null) return late ? this.texts.late : this.texts.stopped;
    return this.known ? null : this.texts.computing;
  }

  /**
   * Whether Python still computes for these settings.
   * @param {Settings} settings
   */
  waits(settings) {
    return Object.entries(this.lesson.answers).some(([name, value]) => name in settings && settings[name] !== value);
  }

  /**
   * Title of a head, such as "Head encoder.2.3".
   * @param {Pick<Head, "kind" | "layer" | "head">} head
   */
  headTitle({ kind, layer, head }) {
    return fillText(this.texts.head_title, { head: headAddress({ kind, layer, head }) });
  }

  /**
   * Draw the picture; `draw` dims it while Python computes.
   * @param {Pen} pen
   * @param {Settings} settings
   */
  picture(pen, settings) {}

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    pen.context.save();
    pen.context.globalAlpha = this.waits(settings) ? 0.4 : 1;
    this.picture(pen, settings);
    pen.context.restore();
  }
}

/**
 * A bench that shows effects on tokens: of one that was pressed, or of the whole translation.
 * @template {{ tokens: string[] }} [Own=any]
 * @extends {Bench<Own>}
 */
export class TokenBench extends Bench {
  /**
   * The token that was pressed, or -1 for the whole translation.
   * @param {Settings} settings
   */
  token({ token }) {
    return Math.max(-1, Math.min(this.own.tokens.length - 1, Math.round(token)));
  }

  /**
   * A token was pressed: a second time means the whole translation.
   * @param {number | null} at
   * @param {Settings} settings
   */
  toggled(at, settings) {
    return at === null ? null : { token: at === this.token(settings) ? -1 : at };
  }

  /** @type {Scene["lowered"]} */
  lowered(count, settings) {
    const all = this.own.tokens.length + 1;
    return { token: ((this.token(settings) + 1 + count + all) % all) - 1 };
  }
}

/**
 * How many times too much something is: 2.3 -> "2.3", 29.8 -> "30", 1203.4 -> "1,203".
 * @param {number} times
 */
function about(times) {
  return times < 10 ? String(times) : formatCount(times);
}

/**
 * The colour of an effect from -1 to 1; the square root shows small ones.
 * @param {Theme} theme
 * @param {number} value
 */
export function tone(theme, value) {
  return cssColour(divergingPixel(theme, value, "sqrt"));
}

/**
 * The colour of text on the tone of a value.
 * @param {Theme} theme
 * @param {number} value
 */
export function toneInk(theme, value) {
  return inkOn(divergingPixel(theme, value, "sqrt"));
}

/**
 * Draw the colours of effects from -1 to 1 as a strip.
 * @param {Pen} pen
 * @param {Box} place
 */
export function drawTones(pen, { x, y, width, height }) {
  for (let at = 0; at < width; at++) pen.fill(x + at, y, 1.5, height, tone(pen.theme, (2 * at) / (width - 1) - 1));
}

/**
 * The place right of a grid, or below it where the picture is narrow.
 * @param {{ width: number, height: number }} picture
 * @param {{ width: number, height: number }} grid
 * @param {{ right: number, below: number }} gaps
 * @returns {Box}
 */
export function beside({ width, height }, grid, { right, below }) {
  const [x, y] = width < NARROW ? [0, grid.height + below] : [grid.width + right, 0];
  return { x, y, width: width - x, height: height - y };
}
