// What a training costs: the paper's estimate (time x GPUs x rate) beside the matrix products that the model needs.

import { fillText } from "../../../components/common/dom.js";
import { write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { scientific } from "./scores.js";

const UTILISED = { min: 5, max: 100 };

export class Cost extends Scene {
  get controls() {
    const { texts } = this;
    return [
      {
        name: "model",
        kind: "choice",
        label: texts.model,
        options: [
          ["base", "base"],
          ["big", "big"],
        ],
        start: "base",
      },
      {
        name: "rate",
        kind: "range",
        label: texts.rate,
        min: 2,
        max: 400,
        step: 0.5,
        start: this.lesson.values.rate / 1e12,
        /** @param {number} value */
        show: (value) => `${value}`,
      },
    ];
  }

  lit() {
    return "rate";
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(300, Math.min(430, room, width * 0.6));
  }

  /** @param {Settings} settings */
  hours({ model, rate }) {
    const { paper, gpus } = this.lesson.values.runs[model];
    return paper / (gpus * rate * 1e12 * 3600);
  }

  /** @type {Scene["draw"]} */
  draw({ context, width, height, theme }, settings) {
    const run = this.lesson.values.runs[settings.model];
    const left = 16;
    const longest = width - left - 16;
    const style = { font: theme.font, colour: theme.text, size: 15 };
    const bars = [
      [this.texts.paper_cost, run.paper, theme.kinds.encoder],
      [this.texts.counted_cost, run.counted, theme.kinds.cross],
    ];
    bars.forEach(([label, flops, colour], index) => {
      const y = 30 + index * 92;
      write(context, label, left, y, { ...style, most: longest });
      context.fillStyle = colour;
      context.fillRect(left, y + 16, (longest * flops) / run.paper, 26);
      const inside = (longest * flops) / run.paper > 150;
      write(context, scientific(flops), left + (longest * flops) / run.paper + (inside ? -10 : 10), y + 29, {
        ...style,
        weight: 650,
        align: inside ? "right" : "left",
        colour: inside ? theme.background : theme.text,
      });
    });
    const share = Math.max(UTILISED.min, Math.min(UTILISED.max, (100 * run.counted) / run.paper));
    write(context, fillText(this.texts.utilised, { share: share.toFixed(0) }), left, 214, {
      ...style,
      colour: theme.muted,
      size: 14,
      most: longest,
    });
    const y = height - 62;
    write(context, span(this.hours(settings), this.texts), left, y, { ...style, size: 40, weight: 650 });
    write(context, fillText(this.texts.with_gpus, { gpus: run.gpus, rate: settings.rate }), left, y + 38, {
      ...style,
      colour: theme.muted,
      size: 14,
      most: longest,
    });
  }

  /** @type {Scene["say"]} */
  say(settings) {
    return fillText(this.texts.cost_say, {
      model: settings.model,
      time: span(this.hours(settings), this.texts),
      rate: settings.rate,
    });
  }

  table() {
    const { runs } = this.lesson.values;
    const { texts } = this;
    const rows = Object.entries(runs).map(([model, run]) => [
      model,
      run.hours,
      run.gpus,
      run.steps,
      scientific(run.paper),
      scientific(run.counted),
    ]);
    return { columns: [texts.model, texts.hours, "GPUs", texts.steps, texts.paper_cost, texts.counted_cost], rows };
  }
}

/**
 * 12 -> "12 h"; 84 -> "3.5 days"
 * @param {number} hours
 * @param {Texts} texts
 */
function span(hours, texts) {
  if (hours >= 48) return `${(hours / 24).toFixed(1)} ${texts.days}`;
  return hours >= 1.5 ? `${hours.toFixed(1)} ${texts.hour}` : `${(hours * 60).toFixed(0)} ${texts.minute}`;
}
