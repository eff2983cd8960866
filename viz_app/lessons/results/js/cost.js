// Cost of a training: the paper's estimate (time x GPUs x rate) beside the matrix products that the model needs.

import { fillText } from "../../../components/common/text/format.js";
import { drawBars } from "../../stage/js/barchart.js";
import { choice, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { scientific } from "./scores.js";

const LEFT = 16;

/** @extends {Scene<import("./numbers").Values>} */
export class Cost extends Scene {
  term = "rate";

  get controls() {
    const { model, rate: label } = this.texts;
    const start = this.lesson.values.rate / 1e12;
    return [
      choice("model", model, { base: "base", big: "big" }),
      slider({ name: "rate", label, min: 2, max: 400, step: 0.5, start }),
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(isNarrow(width) ? 360 : 320, Math.min(430, room, width * 0.6));
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
    const rows = [
      { name: "", values: [paper], texts: [scientific(paper)], colours: [theme.kinds.encoder] },
      { name: "", values: [counted], texts: [scientific(counted)], colours: [theme.kinds.cross] },
    ];
    pen.write(texts.paper_cost, LEFT, 30, { size: 15, most: longest });
    pen.write(texts.counted_cost, LEFT, 122, { size: 15, most: longest });
    const box = { x: LEFT, y: 14, width: longest, height: 184 };
    drawBars(pen, box, rows, { ends: [0, paper], colours: [], left: 0, right: 110, size: 15 });
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
