// Predict, then reveal: which probability of the right piece has the smallest loss. Before that no curve is drawn.

import { fillText } from "../../../components/common/dom.js";
import { dot, trace, write } from "../../../components/common/plot.js";
import { Loss, odds } from "./loss.js";
import { entropy, smoothedLoss } from "./smoothing.js";

const CANDIDATES = [0.5, 0.8, 0.999];

export class Predict extends Loss {
  get playhead() {
    return null;
  }

  get controls() {
    return [];
  }

  get asked() {
    const { question, vocabularies } = this.lesson.values;
    return { epsilon: question, vocabulary: vocabularies.own };
  }

  ticks() {
    return CANDIDATES;
  }

  grab() {
    return null;
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { context, theme, revealed } = pen;
    const { epsilon, vocabulary } = this.asked;
    const plot = this.axes(pen);
    this.frame(pen, plot);
    for (const p of CANDIDATES) {
      const x = plot.across.place(odds(p));
      trace(
        context,
        [
          [x, plot.up.from],
          [x, plot.up.to + 26],
        ],
        { colour: theme.mark, width: 1.5, dash: [4, 4] },
      );
      write(context, revealed ? smoothedLoss(p, epsilon, vocabulary).toFixed(2) : "?", x, plot.up.to + 12, {
        colour: theme.text,
        font: theme.font,
        size: revealed ? 15 : 22,
        weight: 650,
        align: "center",
      });
    }
    if (!revealed) return;
    trace(
      context,
      this.curve(plot, (p) => smoothedLoss(p, epsilon, vocabulary)),
      { colour: theme.kinds.encoder, width: 3.5 },
    );
    dot(
      context,
      plot.across.place(odds(1 - epsilon)),
      plot.up.place(entropy(epsilon, vocabulary)),
      8,
      theme.kinds.encoder,
      theme.background,
    );
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { epsilon, vocabulary } = this.asked;
    const label = revealed ? this.texts.predict_revealed : this.texts.predict_hidden;
    return fillText(label, { epsilon, p: (1 - epsilon).toFixed(1), loss: entropy(epsilon, vocabulary).toFixed(2) });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed) return null;
    const { epsilon, vocabulary } = this.asked;
    return {
      columns: [this.texts.right_axis, this.texts.loss_axis],
      rows: CANDIDATES.map((p) => [p, smoothedLoss(p, epsilon, vocabulary)]),
    };
  }
}
