// Predict: how many heads are best? The columns stay empty until the answer is revealed.

import { Axis } from "../../../components/common/draw/plot.js";
import { Scene } from "../../stage/js/scene.js";

const FOOT = 58;
/** @extends {Scene<import("./numbers").Values>} */
export class Heads extends Scene {
  get bars() {
    return this.lesson.values.heads;
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { width, height, theme, revealed } = pen;
    const base = height - FOOT;
    const axis = new Axis(24, 26, base, 48);
    const step = (width - 40) / this.bars.length;
    const wide = Math.min(90, step * 0.6);
    this.bars.forEach(({ heads, bleu }, index) => {
      const x = 20 + (index + 0.5) * step;
      const top = axis.place(revealed ? bleu : 25);
      const best = revealed && bleu === 25.8;
      pen.fill(x - wide / 2, top, wide, base - top, best ? theme.kinds.encoder : theme.line);
      if (revealed) pen.write(bleu.toFixed(1), x, top - 14, { size: 17, weight: 650, align: "center" });
      else pen.note("?", x, top + 28, { size: 26, weight: 650, align: "center" });
      pen.write(String(heads), x, base + 18, { size: 16, weight: 600, align: "center" });
    });
    pen.line(10, base, width - 10, base, { colour: theme.muted, width: 1 });
    pen.note(this.texts.heads, width / 2, height - 16, { size: 13, align: "center" });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!revealed) return this.texts.predict_say;
    return this.bars.map(({ heads, bleu }) => `h = ${heads}: ${bleu.toFixed(1)}`).join(", ");
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed) return null;
    const rows = this.bars.map(({ heads, bleu, perplexity }) => [
      String(heads),
      bleu.toFixed(1),
      perplexity.toFixed(2),
    ]);
    return { columns: [this.texts.heads, "BLEU", "PPL"], rows };
  }
}
