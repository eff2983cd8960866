// Base of the chapters of the waves: what each of them shows, over the positions from left to right.

import { BarCodes } from "./barcodes.js";
import { positionAxis } from "./tokenaxis.js";

export class View {
  bars = new BarCodes();

  /**
   * @param {LessonData<import("./numbers").Values>} lesson
   * @param {Texts} texts
   * @param {import("./story.js").Story} story
   */
  constructor(lesson, texts, story) {
    this.lesson = lesson;
    this.texts = texts;
    this.story = story;
    this.tokens = lesson.values.tokens;
    this.width = lesson.values.d_model;
  }

  /**
   * @param {number} width Of the figure.
   * @param {Settings} settings
   */
  axis(width, settings) {
    return positionAxis(width, this.tokens.length);
  }

  /**
   * The token under the cut.
   * @param {Settings} settings
   */
  token({ at }) {
    return Math.round(this.story.cut(at));
  }
}
