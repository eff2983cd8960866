// The last suspect: the best loss of all. What it writes alone, and where its decoder looks, is revealed.

import { fillText, percent } from "../../../components/common/text/format.js";
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
    if (!this.ready) return pen.message(this.waiting);
    const { revealed } = pen;
    const { values, arrays } = this.lesson;
    const { texts } = this;
    const [healthy, suspect] = this.names;
    const colours = this.colours(pen.theme);
    const [own, others] = colours;
    const written = [
      { name: healthy, text: values.wrote[0], colour: own },
      { name: suspect, text: revealed ? values.wrote[1] : "?", colour: others },
    ];
    if (revealed) written.push({ name: texts.greedy, text: values.greedy[1], colour: others });
    written.push(...this.chosen(pen.theme));
    const box = this.drawLines(pen, values.read, written);
    if (!revealed) return drawLoss(pen, arrays, box, colours, [texts.update, texts.loss]);
    return this.drawPair(pen, box, {
      labels: values.inputs,
      weights: (row) => arrays.copying.part(row),
      masked: (row) => row === 0,
    });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!this.ready) return this.waiting;
    const { texts } = this;
    const { ahead, cut } = this.lesson.values;
    const answer = revealed ? [fillText(texts.say_ahead, { share: percent(ahead[1]) }), this.verdict] : [];
    return [fillText(texts.say_loss, this.lastLoss()), ...answer, ...(cut ? [texts.cut] : [])].join(" ");
  }

  table() {
    if (!this.ready) return null;
    const { loss, step } = this.lesson.arrays;
    return this.pairs(this.texts.update, loss, (record) => step.at(0, record));
  }
}
