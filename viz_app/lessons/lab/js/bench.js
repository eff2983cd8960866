// What all benches share: they wait for their numbers, and say so where the sentence is too long, or too much work.

import { cssColour } from "../../../components/common/draw/canvas.js";
import { divergingPixel } from "../../../components/common/draw/diverging.js";
import { fillText, formatCount } from "../../../components/common/text/format.js";
import { Scene } from "../../stage/js/scene.js";

/**
 * @template Own What the bench's module computes.
 * @extends {Scene<import("./numbers").Values>}
 */
export class Bench extends Scene {
  /** Of the bench in `values`. */
  get name() {
    return "";
  }

  /** @returns {Own | null} The numbers, once they are there. */
  get own() {
    const { values } = this.lesson;
    return values.bench === this.name ? values[this.name] : null;
  }

  /** Whether the setting `chosen` is a head that the bench shows. */
  get showsHead() {
    return false;
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

  /** What stands in place of the picture, or null. */
  get absence() {
    const { bench, count, most, times, late } = this.lesson.values;
    if (bench === null && count > most) return fillText(this.texts.too_long, { count, most });
    if (bench === null && times) return fillText(this.texts.too_much, { times: about(times) });
    if (bench === null) return late ? this.texts.late : this.texts.stopped;
    return this.own ? null : this.texts.computing;
  }

  /**
   * Whether Python still computes for these settings.
   * @param {Settings} settings
   */
  waits(settings) {
    return Object.entries(this.lesson.answers).some(([name, value]) => name in settings && settings[name] !== value);
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
