// Predict: how many heads are best? The columns stay empty until the answer is revealed.

import { Axis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";

const FOOT = 58;
const HEADS = [1, 4, 8, 16, 32];

export class Heads extends Scene {
  bars() {
    const lines = this.lesson.values.variations;
    return HEADS.map((heads) => [
      heads,
      heads === 8 ? lines[0] : lines.find(({ change }) => change.startsWith(`h = ${heads},`)),
    ]);
  }

  /** @type {Scene["draw"]} */
  draw({ context, width, height, theme, revealed }) {
    const axis = new Axis(24, 26, height - FOOT, 48);
    const step = (width - 40) / HEADS.length;
    this.bars().forEach(([heads, { bleu }], index) => {
      const x = 20 + (index + 0.5) * step;
      const wide = Math.min(90, step * 0.6);
      const top = revealed ? axis.place(bleu) : axis.place(25);
      const best = revealed && bleu === 25.8;
      context.fillStyle = best ? theme.kinds.encoder : theme.line;
      context.fillRect(x - wide / 2, top, wide, height - FOOT - top);
      if (revealed)
        write(context, bleu.toFixed(1), x, top - 14, {
          colour: theme.text,
          font: theme.font,
          size: 17,
          weight: 650,
          align: "center",
        });
      else
        write(context, "?", x, top + 28, {
          colour: theme.muted,
          font: theme.font,
          size: 26,
          weight: 650,
          align: "center",
        });
      write(context, String(heads), x, height - FOOT + 18, {
        colour: theme.text,
        font: theme.font,
        size: 16,
        weight: 600,
        align: "center",
      });
    });
    trace(
      context,
      [
        [10, height - FOOT],
        [width - 10, height - FOOT],
      ],
      { colour: theme.muted, width: 1 },
    );
    write(context, this.texts.heads, width / 2, height - 16, {
      colour: theme.muted,
      font: theme.font,
      size: 13,
      align: "center",
    });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    return revealed
      ? this.bars()
          .map(([heads, { bleu }]) => `h = ${heads}: ${bleu.toFixed(1)}`)
          .join(", ")
      : this.texts.predict_say;
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    return revealed
      ? {
          columns: [this.texts.heads, "BLEU", "PPL"],
          rows: this.bars().map(([heads, { bleu, perplexity }]) => [
            String(heads),
            bleu.toFixed(1),
            perplexity.toFixed(2),
          ]),
        }
      : null;
  }
}
