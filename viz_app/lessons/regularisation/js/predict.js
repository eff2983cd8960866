// Predict, then reveal: which probability of the right token has the smallest loss. Before that no curve is drawn.

import { fillText } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { Scene } from "../../stage/js/scene.js";
import { entropy, smoothedLoss } from "./smoothing.js";

const CANDIDATES = [0.5, 0.8, 0.999];
const ENDS = [0.02, 0.9998];
const HIGHEST = 4;
const POINTS = 240;

/** @param {number} p */
function odds(p) {
  return Math.log(p / (1 - p));
}

/** @extends {Scene<import("./numbers").Values>} */
export class Predict extends Scene {
  size = { least: 320, share: 0.6 };

  get fixed() {
    const { question, vocabulary } = this.lesson.values;
    return { epsilon: question, vocabulary };
  }

  /**
   * A loss as a function of the probability.
   * @param {(p: number) => number} lossAt
   * @param {Partial<LineStyle>} look
   * @returns {import("../../stage/js/chart.js").Series}
   */
  curve(lossAt, look) {
    const [low, high] = ENDS.map(odds);
    const x = Array.from({ length: POINTS + 1 }, (_, index) => low + ((high - low) * index) / POINTS);
    const y = x.map((each) => lossAt(1 / (1 + Math.exp(-each)))).map((loss) => (loss > HIGHEST * 1.02 ? null : loss));
    return { x, y, look };
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { theme, revealed } = pen;
    const { epsilon, vocabulary } = this.fixed;
    const colour = theme.kinds.encoder;
    const curves = [
      this.curve((p) => -Math.log(p), { colour: theme.muted, width: 1.75, dash: [6, 5] }),
      this.curve((p) => smoothedLoss(p, epsilon, vocabulary), { colour, width: 3.5 }),
    ];
    const plot = new Chart(
      pen,
      { x: 0, y: 0, width: pen.width, height: pen.height },
      {
        series: revealed ? curves : [],
        x: {
          title: this.texts.right_axis,
          ends: [odds(ENDS[0]), odds(ENDS[1])],
          ticks: CANDIDATES.map((p) => [odds(p), String(p)]),
        },
        y: { title: this.texts.loss_axis, ends: [0, HIGHEST] },
        key: false,
      },
    );
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
    const rows = CANDIDATES.map((p) => [p, -Math.log(p), smoothedLoss(p, epsilon, vocabulary)]);
    return { columns: [this.texts.right_axis, "\u03b5 = 0", `\u03b5 = ${epsilon}`], rows };
  }
}
