// Predict: from which length on does self-attention cost more? The curves are hidden until the answer is revealed.

import { write } from "../../../components/common/plot.js";
import { Crossover } from "./crossover.js";

export class Cheaper extends Crossover {
  get playhead() {
    return null;
  }

  get controls() {
    return [];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height, theme, revealed } = pen;
    if (revealed) super.draw(pen, { n: 512, d: "512", r: this.lesson.values.r, ...settings });
    else
      write(context, "n = ?", width / 2, height / 2, {
        colour: theme.muted,
        font: theme.font,
        size: 54,
        weight: 650,
        align: "center",
      });
  }

  lit() {
    return null;
  }

  grab() {
    return null;
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    return revealed ? super.say({ n: 512, d: "512" }) : this.texts.predict_say;
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    return revealed ? super.table({ d: "512", r: this.lesson.values.r }) : null;
  }
}
