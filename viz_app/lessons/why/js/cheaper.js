// Predict: from which length on does self-attention cost more? The curves are hidden until the answer is revealed.

import { Crossover } from "./crossover.js";

export class Cheaper extends Crossover {
  get playhead() {
    return null;
  }

  get controls() {
    return [];
  }

  /** Settings of the revealed curves, in place of controls. */
  get fixed() {
    return { n: 512, d: "512", r: this.lesson.values.r };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height, revealed } = pen;
    if (revealed) super.draw(pen, { ...this.fixed, ...settings });
    else pen.note("n = ?", width / 2, height / 2, { size: 54, weight: 650, align: "center" });
  }

  lit() {
    return null;
  }

  grab() {
    return null;
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    return revealed ? super.say(this.fixed) : this.texts.predict_say;
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    return revealed ? super.table(this.fixed) : null;
  }
}
