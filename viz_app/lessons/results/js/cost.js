// What a training costs: the paper's estimate (time x GPUs x rate) beside the matrix products that the model needs.

import { fillText } from "../../../components/common/text/format.js";
import { choice, slider } from "../../stage/js/describe.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { scientific } from "./scores.js";

const LEFT = 16;

/** @extends {Scene<import("./numbers").Values>} */
export class Cost extends Scene {
  get controls() {
    const { model, rate: label } = this.texts;
    const start = this.lesson.values.rate / 1e12;
    return [
      choice("model", model, { base: "base", big: "big" }),
      slider({ name: "rate", label, min: 2, max: 400, step: 0.5, start }),
    ];
  }

  lit() {
    return "rate";
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(width < 500 ? 360 : 320, Math.min(430, room, width * 0.6));
  }

  /** @param {Settings} settings */
  hours({ model, rate }) {
    const { paper, gpus } = this.lesson.values.runs[model];
    return paper / (gpus * rate * 1e12 * 3600);
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height, theme } = pen;
    const { texts } = this;
    const { paper, counted, gpus } = this.lesson.values.runs[settings.model];
    const longest = width - LEFT - 16;
    /** @type {[string, number, string][]} */
    const bars = [
      [texts.paper_cost, paper, theme.kinds.encoder],
      [texts.counted_cost, counted, theme.kinds.cross],
    ];
    bars.forEach(([label, flops, colour], index) => {
      const y = 30 + index * 92;
      const long = (longest * flops) / paper;
      pen.write(label, LEFT, y, { size: 15, most: longest });
      pen.fill(LEFT, y + 16, long, 26, theme.ink(colour));
      const style = long > 150 ? { align: "right", colour: theme.background } : {};
      pen.write(scientific(flops), LEFT + long + (long > 150 ? -10 : 10), y + 29, { size: 15, weight: 650, ...style });
    });
    const note = { size: 14, most: longest };
    const share = Math.max(5, Math.min(100, (100 * counted) / paper)).toFixed(0);
    const utilised = fillText(texts.utilised, { share });
    const below = 214 + wrapped(pen, utilised, LEFT, 214, longest, { colour: theme.muted, size: 14 });
    const y = Math.max(height - 62, below + 24);
    pen.write(span(this.hours(settings), texts), LEFT, y, { size: 40, weight: 650 });
    pen.note(fillText(texts.with_gpus, { gpus, rate: settings.rate }), LEFT, y + 38, note);
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { model, rate } = settings;
    return fillText(this.texts.cost_say, { model, time: span(this.hours(settings), this.texts), rate });
  }

  table() {
    const { texts } = this;
    const rows = Object.entries(this.lesson.values.runs).map(([model, { hours, gpus, steps, paper, counted }]) => [
      model,
      hours,
      gpus,
      steps,
      scientific(paper),
      scientific(counted),
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
