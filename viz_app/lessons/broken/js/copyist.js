// The last suspect: the best loss of all. What it writes alone, and where its decoder looks, is revealed.

import { fillText, percent } from "../../../components/common/dom.js";
import { Case } from "./case.js";
import { drawLoss } from "./charts.js";

export class Copyist extends Case {
  get name() {
    return "predict";
  }

  get letter() {
    return "E";
  }

  /**
   * Before the answer the losses; after it self-attention of both decoders while they read the healthy model's translation.
   * @type {Scene["draw"]}
   */
  draw(pen) {
    if (!this.ready) return this.drawWaiting(pen);
    const { width, height, theme, revealed } = pen;
    const { values, arrays } = this.lesson;
    const { texts } = this;
    const [healthy, suspect] = this.names;
    const colours = this.colours(theme);
    const lines = [
      [texts.reads, values.read, null],
      [healthy, values.wrote[0], colours[0]],
      [suspect, revealed ? values.wrote[1] : "?", colours[1]],
    ];
    if (revealed) lines.push([texts.greedy, values.greedy[1], colours[1]]);
    const top = this.drawLines(pen, lines);
    const box = { x: 0, y: top, width, height: height - top };
    if (!revealed) drawLoss(pen, arrays, box, colours, [texts.update, texts.loss]);
    else
      this.drawPair(pen, box, {
        labels: values.inputs,
        /** @param {number} row */
        weights: (row) => arrays.copying.part(row),
        /** @param {number} row */
        masked: (row) => row === 0,
      });
    return undefined;
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!this.ready) return this.waiting;
    const { texts } = this;
    const { values } = this.lesson;
    const said = [fillText(texts.say_loss, this.lastLoss())];
    if (revealed)
      said.push(
        fillText(texts.say_ahead, { share: percent(values.ahead[1]) }),
        fillText(texts.verdict, { one: values.bleu[0].toFixed(1), other: values.bleu[1].toFixed(1) }),
      );
    if (values.cut) said.push(texts.cut);
    return said.join(" ");
  }

  table() {
    if (!this.ready) return null;
    const { arrays } = this.lesson;
    const rows = Array.from({ length: arrays.loss.shape[1] }, (_, i) => [
      arrays.step.at(0, i),
      arrays.loss.at(0, i),
      arrays.loss.at(1, i),
    ]);
    return { columns: [this.texts.update, ...this.names], rows };
  }
}
