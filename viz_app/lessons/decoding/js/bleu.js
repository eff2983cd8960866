// BLEU of the reader's translation, step by step: n-grams that match, clipped counts, brevity penalty, geometric mean.

import { fillText } from "../../../components/common/text/format.js";
import { drawBars } from "../../stage/js/barchart.js";
import { playhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { laidOut } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { bleuParts, ORDERS } from "./bleu_parts.js";

const STEPS = ["n = 1", "n = 2", "n = 3", "n = 4", "BP", "BLEU"];

/** @extends {Scene<import("./numbers").Values>} */
export class Bleu extends Scene {
  get playhead() {
    if (!this.lesson.values.reference) return null;
    const show = (/** @type {number} */ step) => STEPS[stepAt(step)];
    return playhead({ name: "step", label: this.texts.step, max: STEPS.length - 1, rate: 0.5, show });
  }

  get controls() {
    const show = () => this.lesson.values.other;
    if (!this.lesson.values.reference) return [];
    return [{ name: "text", kind: "text", label: this.texts.your_translation, start: "", show }];
  }

  /**
   * BLEU of the reader's translation; at first of another one.
   * @param {Settings} settings
   */
  bleu({ text }) {
    const { reference, other } = this.lesson.values;
    return bleuParts(text.trim() || other, reference ?? "");
  }

  /** @type {Scene["lit"]} */
  lit({ step }) {
    const at = stepAt(step);
    return at < ORDERS ? "precision" : at === ORDERS ? "penalty" : "mean";
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return isNarrow(width) ? 520 : Math.max(380, Math.min(room - 20, 540));
  }

  missing() {
    return this.lesson.values.reference ? null : this.texts.bleu_of_trees;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { height } = pen;
    const bleu = this.bleu(settings);
    const at = stepAt(settings.step);
    const order = Math.min(at, ORDERS - 1);
    const { size, bars, top, own, second } = this.layout(pen, bleu, order);
    pen.note(this.texts.reference, 0, 10);
    pen.note(this.texts.hypothesis, 0, second);
    top.places.forEach(({ x, y }, index) => pen.write(bleu.reference[index], x, 34 + y, { size }));
    own.places.forEach(({ x, y }, index) =>
      pen.write(bleu.hypothesis[index], x, second + 24 + y, { size, weight: 600 }),
    );
    if (at < ORDERS) this.drawNgrams(pen, bleu.orders[order], order, own.places, second + 24 + (size - 16) / 2);
    this.drawBars(pen, bleu, at, height - bars, bars);
  }

  /**
   * The largest type in which both translations stand above the bars.
   * @param {Pen} pen
   * @param {import("./bleu_parts.js").Bleu} bleu
   * @param {number} order
   */
  layout(pen, { reference, hypothesis }, order) {
    const { width, height } = pen;
    const largest = isNarrow(width) ? 16 : width < 1000 ? 20 : 26;
    for (let size = largest; ; size -= 2) {
      const style = { size, weight: 600 };
      const bars = size === largest ? Math.min(isNarrow(width) ? 210 : 260, height * 0.5) : 150;
      const top = laidOut(pen, reference, width, size + 12, style);
      const own = laidOut(pen, hypothesis, width, size + 14 + (order + 1) * 7, style);
      const second = 34 + top.height + 10;
      if (second + 24 + own.height < height - bars || size <= 10) return { size, bars, top, own, second };
    }
  }

  /**
   * A line under each n-gram: matched, beyond what the reference has, or unknown to it.
   * @param {Pen} pen
   * @param {import("./bleu_parts.js").Bleu["orders"][number]} precision
   * @param {number} order From 0.
   * @param {{ x: number, y: number, width: number }[]} places Of the tokens.
   * @param {number} top
   */
  drawNgrams(pen, { counts }, order, places, top) {
    const { cross, decoder } = pen.theme.kinds;
    const length = order + 1;
    for (const { occurrences, allowed, starts } of counts)
      starts.forEach((start, number) => {
        const colour = number < Math.min(occurrences, allowed) ? cross : decoder;
        const dash = number >= allowed && allowed > 0 ? [3, 3] : [];
        const tokens = places.slice(start, start + length);
        for (const line of new Set(tokens.map(({ y }) => y))) {
          const row = tokens.filter(({ y }) => y === line);
          const { x, width } = row[row.length - 1];
          const y = line + top + 15 + (start % length) * 7;
          pen.line(row[0].x, y, x + width, y, { colour, width: 3, dash });
        }
      });
  }

  /**
   * @param {Pen} pen
   * @param {import("./bleu_parts.js").Bleu} bleu
   * @param {number} at
   * @param {number} top
   * @param {number} height
   */
  drawBars(pen, { orders, brevity_penalty: penalty, score }, at, top, height) {
    const { width, theme } = pen;
    const { encoder, cross } = theme.kinds;
    const precisions = orders.map(({ matches, total, value, smoothed }, index) => {
      const decimal = isNarrow(width) ? "" : ` = ${value.toFixed(3)}${smoothed ? "*" : ""}`;
      const name = `p${"\u2081\u2082\u2083\u2084"[index]}`;
      return { name, value, text: `${matches} / ${total}${decimal}`, colour: encoder };
    });
    const bars = [
      ...precisions,
      { name: "BP", value: penalty, text: penalty.toFixed(3), colour: theme.muted },
      { name: "BLEU", value: score / 100, text: score.toFixed(1), colour: cross },
    ].slice(0, at + 1);
    const rows = bars.map(({ name, value, text, colour }, index) => ({
      name,
      values: [value],
      texts: [text],
      colours: [colour],
      strong: index === at,
    }));
    const box = { x: 0, y: top, width, height: (height * rows.length) / STEPS.length };
    drawBars(pen, box, rows, { ends: [0, 1], colours: [], left: 58, right: isNarrow(width) ? 88 : 150, track: true });
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { texts } = this;
    const { hypothesis, reference, orders, brevity_penalty, mean, score } = this.bleu(settings);
    const at = stepAt(settings.step);
    const penalty = brevity_penalty.toFixed(3);
    if (at === ORDERS) return fillText(texts.penalty_say, { own: hypothesis.length, other: reference.length, penalty });
    if (at > ORDERS) return fillText(texts.bleu_say, { mean: mean.toFixed(3), penalty, bleu: score.toFixed(1) });
    const { matches, total, smoothed, counts } = orders[at];
    const clipped = counts.reduce(
      (sum, { occurrences, allowed }) => sum + (allowed ? Math.max(0, occurrences - allowed) : 0),
      0,
    );
    return [
      fillText(texts.ngram_say, { n: at + 1, matches, total }),
      clipped ? fillText(texts.clipped_say, { clipped }) : "",
      smoothed ? texts.smoothed_say : "",
    ]
      .filter(Boolean)
      .join(" ");
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { texts } = this;
    const counts = this.bleu(settings).orders.flatMap((order) => order.counts);
    const rows = counts.map(({ ngram, order, occurrences, allowed, clipped }) => [
      order,
      ngram,
      occurrences,
      allowed,
      clipped,
    ]);
    return { columns: ["n", texts.ngram, texts.yours, texts.allowed, texts.clipped], rows };
  }
}

/**
 * The whole step at which a gliding playhead is.
 * @param {number} step
 */
function stepAt(step) {
  return Math.floor(step + 1e-6);
}
