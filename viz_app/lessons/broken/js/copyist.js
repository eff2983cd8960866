// The last suspect: the best loss of all. What it writes alone, and where its decoder looks, is revealed.

import { fillText, percent } from "../../../components/common/text/format.js";
import { chartTable, drawChart } from "../../stage/js/chartscene.js";
import { Case } from "./case.js";

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
    if (!revealed) return drawChart(pen, box, values.charts.loss);
    return this.drawPair(pen, box, {
      labels: values.inputs,
      weights: (row) => arrays.copying.part(row),
      masked: (row) => row === 0,
    });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { texts } = this;
    const { ahead, charts, cut } = this.lesson.values;
    const answer = revealed ? [fillText(texts.say_ahead, { share: percent(ahead[1]) }), this.verdict] : [];
    return [charts.loss.said, ...answer, ...(cut ? [texts.cut] : [])].join(" ");
  }

  table() {
    return chartTable(this.lesson.values.charts.loss);
  }
}
