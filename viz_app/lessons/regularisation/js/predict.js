// Predict, then reveal: which probability of the right token has the smallest loss. Before that no curve is drawn.

import { fillText } from "../../../components/common/text/format.js";
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

  get fixed() {
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
    const { theme, revealed } = pen;
    const { epsilon, vocabulary } = this.fixed;
    const colour = theme.kinds.encoder;
    const curve = this.curve((p) => smoothedLoss(p, epsilon, vocabulary), { colour, width: 3.5 });
    const plot = this.plot(pen, revealed ? [curve] : []);
    const { across, up } = plot;
    plot.draw();
    for (const p of CANDIDATES) {
      const x = across.place(odds(p));
      pen.line(x, up.from, x, up.to + 26, { colour: theme.mark, dash: [4, 4] });
      const text = revealed ? smoothedLoss(p, epsilon, vocabulary).toFixed(2) : "?";
      pen.write(text, x, up.to + 12, { size: revealed ? 15 : 22, weight: 650, align: "center" });
    }
    if (revealed)
      pen.dot(across.place(odds(1 - epsilon)), up.place(entropy(epsilon, vocabulary)), 8, colour, theme.background);
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { epsilon, vocabulary } = this.fixed;
    const label = revealed ? this.texts.predict_revealed : this.texts.predict_hidden;
    return fillText(label, { epsilon, p: (1 - epsilon).toFixed(1), loss: entropy(epsilon, vocabulary).toFixed(2) });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed) return null;
    const { epsilon, vocabulary } = this.fixed;
    return {
      columns: [this.texts.right_axis, this.texts.loss_axis],
      rows: CANDIDATES.map((p) => [p, smoothedLoss(p, epsilon, vocabulary)]),
    };
  }
}
