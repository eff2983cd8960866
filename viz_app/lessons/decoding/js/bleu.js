// BLEU of what somebody wrote, step by step: n-grams that match, clipped counts, brevity penalty, geometric mean.

import { fillText } from "../../../components/common/dom.js";
import { trace, write } from "../../../components/common/plot.js";
import { laidOut } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";

const NARROW = 620;
const ORDERS = 4;

export class Bleu extends Scene {
  get playhead() {
    const names = ["n = 1", "n = 2", "n = 3", "n = 4", "BP", "BLEU"];
    return {
      name: "step",
      label: this.texts.step,
      min: 0,
      max: names.length - 1,
      step: 1,
      rate: 0.5,
      start: 0,
      /** @param {number} value */
      show: (value) => names[Math.floor(value + 1e-6)],
    };
  }

  get controls() {
    return [
      {
        name: "text",
        kind: "text",
        label: this.texts.your_translation,
        start: "",
        show: () => this.lesson.values.other,
        server: true,
      },
    ];
  }

  /** @type {Scene["lit"]} */
  lit({ step }) {
    const at = Math.floor(step + 1e-6);
    return at < ORDERS ? "precision" : at === ORDERS ? "penalty" : "mean";
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 520 : Math.max(380, Math.min(room - 20, 540));
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, height, theme } = pen;
    const at = Math.floor(settings.step + 1e-6);
    const order = Math.min(at, ORDERS - 1);
    const { bleu } = this.lesson.values;
    const waiting = this.waits(settings);
    context.globalAlpha = waiting ? 0.4 : 1;
    const { size, bars, top, own, second } = this.layout(pen, order);
    const style = { font: theme.font, size: 12, colour: theme.muted };
    write(context, this.texts.reference, 0, 10, style);
    bleu.reference.forEach((token, index) =>
      write(context, token, top.places[index].x, 34 + top.places[index].y, {
        colour: theme.text,
        font: theme.font,
        size,
      }),
    );
    write(context, this.texts.hypothesis, 0, second, style);
    bleu.hypothesis.forEach((token, index) =>
      write(context, token, own.places[index].x, second + 24 + own.places[index].y, {
        colour: theme.text,
        font: theme.font,
        size,
        weight: 600,
      }),
    );
    if (at < ORDERS) this.drawNgrams(pen, bleu.orders[order], order + 1, own.places, second + 24 + (size - 16) / 2);
    this.drawBars(pen, at, height - bars, bars);
    context.globalAlpha = 1;
  }

  /**
   * The largest type in which both translations stand above the bars.
   * @param {Pen} pen
   * @param {number} order
   */
  layout({ context, width, height, theme }, order) {
    const { reference, hypothesis } = this.lesson.values.bleu;
    const largest = width < NARROW ? 16 : width < 1000 ? 20 : 26;
    for (let size = largest; ; size -= 2) {
      const font = `600 ${size}px ${theme.font}`;
      const bars = size === largest ? Math.min(width < NARROW ? 210 : 260, height * 0.5) : 150;
      const top = laidOut(context, reference, { font, width, line: size + 12 });
      const own = laidOut(context, hypothesis, { font, width, line: size + 14 + (order + 1) * 7 });
      const second = 34 + top.height + 10;
      if (second + 24 + own.height < height - bars || size <= 10) return { size, bars, top, own, second };
    }
  }

  /**
   * A line under each n-gram: matched, beyond what the reference has, or unknown to it.
   * @param {Pen} pen
   * @param {{ counts: any }} given
   * @param {number} order
   * @param {{ x: number, y: number, width: number }[]} places
   * @param {number} y
   */
  drawNgrams({ context, theme }, { counts }, order, places, y) {
    for (const { found, allowed, starts } of counts) {
      starts.forEach((start, number) => {
        const colour = number < Math.min(found, allowed) ? theme.kinds.cross : theme.kinds.decoder;
        const dash = number >= allowed && allowed > 0 ? [3, 3] : [];
        const down = y + 15 + (start % order) * 7;
        let from = start;
        for (let place = start; place < start + order; place++) {
          const ends = place === start + order - 1 || places[place + 1].y !== places[place].y;
          if (!ends) continue;
          trace(
            context,
            [
              [places[from].x, down + places[from].y],
              [places[place].x + places[place].width, down + places[place].y],
            ],
            { colour, width: 3, dash },
          );
          from = place + 1;
        }
      });
    }
  }

  /**
   * @param {Pen} pen
   * @param {number} at
   * @param {number} top
   * @param {number} height
   */
  drawBars({ context, width, theme }, at, top, height) {
    const { bleu } = this.lesson.values;
    const row = height / 6;
    const [left, right] = [58, width < NARROW ? 88 : 150];
    const room = width - left - right;
    /**
     * @param {number} index
     * @param {string} name
     * @param {number} value
     * @param {string} text
     * @param {string} colour
     */
    const draw = (index, name, value, text, colour) => {
      if (index > at) return;
      const y = top + (index + 0.5) * row;
      const here = index === at;
      write(context, name, left - 12, y, {
        colour: theme.text,
        font: theme.font,
        size: 14,
        weight: here ? 700 : 400,
        align: "right",
      });
      context.fillStyle = theme.line;
      context.fillRect(left, y - row * 0.28, room, row * 0.56);
      context.fillStyle = colour;
      context.fillRect(left, y - row * 0.28, Math.max(value > 0 ? 1 : 0, room * Math.min(1, value)), row * 0.56);
      write(context, text, left + room + 10, y, {
        colour: theme.text,
        font: theme.font,
        size: here ? 16 : 14,
        weight: here ? 700 : 400,
        most: right - 10,
      });
    };
    bleu.orders.forEach(({ matches, total, value, smoothed }, index) => {
      const text =
        width < NARROW ? `${matches} / ${total}` : `${matches} / ${total} = ${value.toFixed(3)}${smoothed ? "*" : ""}`;
      draw(index, `p${"\u2081\u2082\u2083\u2084"[index]}`, value, text, theme.kinds.encoder);
    });
    draw(ORDERS, "BP", bleu.brevity_penalty, bleu.brevity_penalty.toFixed(3), theme.muted);
    draw(ORDERS + 1, "BLEU", bleu.score / 100, bleu.score.toFixed(1), theme.kinds.cross);
  }

  /** @param {Settings} settings */
  waits({ text }) {
    const wanted = text.trim().split(/\s+/).join(" ") || this.lesson.values.other;
    return wanted !== this.lesson.answers.text;
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { bleu } = this.lesson.values;
    const { texts } = this;
    const at = Math.floor(settings.step + 1e-6);
    if (this.waits(settings)) return texts.computing;
    if (at === ORDERS)
      return fillText(texts.penalty_say, {
        own: bleu.hypothesis.length,
        other: bleu.reference.length,
        penalty: bleu.brevity_penalty.toFixed(3),
      });
    if (at > ORDERS)
      return fillText(texts.bleu_say, {
        mean: bleu.mean.toFixed(3),
        penalty: bleu.brevity_penalty.toFixed(3),
        bleu: bleu.score.toFixed(1),
      });
    const { matches, total, smoothed, counts } = bleu.orders[at];
    const clipped = counts.reduce((sum, { found, allowed }) => sum + (allowed ? Math.max(0, found - allowed) : 0), 0);
    return (
      fillText(texts.ngram_say, { n: at + 1, matches, total }) +
      (clipped ? ` ${fillText(texts.clipped_say, { clipped })}` : "") +
      (smoothed ? ` ${texts.smoothed_say}` : "")
    );
  }

  table() {
    const { bleu } = this.lesson.values;
    const { texts } = this;
    const rows = bleu.orders.flatMap(({ counts }) =>
      counts.map(({ ngram, found, allowed }) => [
        ngram.length,
        ngram.join(" "),
        found,
        allowed,
        Math.min(found, allowed),
      ]),
    );
    return { columns: ["n", texts.ngram, texts.found, texts.allowed, texts.clipped], rows };
  }
}
