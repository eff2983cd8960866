// Table 2: BLEU against the cost of training. The playhead lets the systems appear in the order of their cost.

import { fillText } from "../../../components/common/dom.js";
import { raised } from "../../../components/common/format.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";

const [LEFT, RIGHT, TOP, FOOT] = [56, 24, 24, 56];
const RANGE = { ende: [23, 29], enfr: [37.5, 42.5] };

export class Scores extends Scene {
  get playhead() {
    const most = Math.max(this.points("ende").length, this.points("enfr").length);
    return {
      name: "upto",
      label: this.texts.systems,
      min: 1,
      max: most,
      step: 1,
      rate: 1.2,
      start: most,
      /** @param {number} value */
      show: (value) => String(Math.floor(value)),
    };
  }

  get controls() {
    return [
      {
        name: "pair",
        kind: "choice",
        label: this.texts.pair,
        options: [
          ["ende", this.texts.ende],
          ["enfr", this.texts.enfr],
        ],
        start: "ende",
      },
    ];
  }

  /**
   * Systems with a score and a cost, the cheapest first.
   * @param {string} pair
   */
  points(pair) {
    return this.lesson.values.scores
      .filter((score) => score[pair] !== null && score[`${pair}_flops`] !== null)
      .map((score) => ({ ...score, bleu: score[pair], flops: score[`${pair}_flops`] }))
      .sort((a, b) => a.flops - b.flops || a.bleu - b.bleu);
  }

  /** @type {Scene["draw"]} */
  draw({ context, width, height, theme, pointer }, { pair, upto }) {
    const across = new Axis(1e18, 3e21, LEFT, width - RIGHT, { log: true });
    const up = new Axis(RANGE[pair][0], RANGE[pair][1], height - FOOT, TOP);
    drawAxis(context, up, "left", LEFT, { theme, grid: width - RIGHT - LEFT, ticks: up.ticks(6), title: "" });
    drawAxis(context, across, "bottom", height - FOOT, {
      theme,
      show: (value) => `10${raised(Math.round(Math.log10(value)))}`,
      title: this.texts.flops,
    });
    write(context, "BLEU", LEFT - 8, TOP - 12, { colour: theme.muted, font: theme.font, size: 12, align: "right" });
    const shown = this.points(pair).slice(0, Math.floor(upto));
    const colours = { single: theme.muted, ensemble: theme.muted, transformer: theme.kinds.encoder };
    const taken = shown.map(({ bleu, flops }) => [
      across.place(flops) - 8,
      up.place(bleu) - 8,
      across.place(flops) + 8,
      up.place(bleu) + 8,
    ]);
    for (const { name, bleu, flops, group } of shown) {
      const [x, y] = [across.place(flops), up.place(bleu)];
      const near = pointer && Math.hypot(pointer.x - x, pointer.y - y) < 18;
      dot(
        context,
        x,
        y,
        group === "transformer" ? 8 : 6,
        group === "ensemble" ? theme.background : colours[group],
        colours[group],
      );
      const text = `${name}  ${bleu}`;
      const style = {
        colour: group === "transformer" ? theme.text : theme.muted,
        font: theme.font,
        size: 13,
        weight: group === "transformer" || near ? 650 : 400,
      };
      this.label(context, text, x, y, style, taken, width);
    }
    this.legend(context, theme, width, height);
    const best = shown.filter(({ group }) => group === "transformer");
    if (best.length === 2)
      trace(
        context,
        best.map(({ flops, bleu }) => [across.place(flops), up.place(bleu)]),
        { colour: theme.kinds.encoder, width: 1.5, dash: [3, 4] },
      );
  }

  /**
   * Beside its point, on the side and height where nothing stands yet.
   * @param {CanvasRenderingContext2D} context
   * @param {string} text
   * @param {any} x
   * @param {any} y
   * @param {{ colour: string, font: string, size: number, weight: number }} style
   * @param {any[]} taken
   * @param {number} width
   */
  label(context, text, x, y, style, taken, width) {
    context.font = `${style.weight} ${style.size}px ${style.font}`;
    const wide = context.measureText(text).width;
    /** @type {[number, number, string][]} */
    const places = [
      [12, 0, "left"],
      [-12, 0, "right"],
      [12, -16, "left"],
      [12, 16, "left"],
      [-12, -16, "right"],
      [-12, 16, "right"],
      [12, 30, "left"],
      [-12, 30, "right"],
    ];
    for (const [dx, dy, align] of places) {
      const from = align === "left" ? x + dx : x + dx - wide;
      const box = [from, y + dy - 8, from + wide, y + dy + 8];
      const free =
        box[0] > LEFT + 2 &&
        box[2] < width - 2 &&
        taken.every(([a, b, c, d]) => box[2] < a || box[0] > c || box[3] < b || box[1] > d);
      if (!free) continue;
      taken.push(box);
      write(context, text, x + dx, y + dy, { ...style, align });
      return;
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   * @param {number} width
   * @param {number} height
   */
  legend(context, theme, width, height) {
    const style = { colour: theme.muted, font: theme.font, size: 12 };
    const y = height - FOOT - 14;
    dot(context, width - RIGHT - 130, y, 5, theme.background, theme.muted);
    write(context, this.texts.group_ensemble, width - RIGHT - 118, y, style);
  }

  /** @type {Scene["say"]} */
  say({ pair, upto }) {
    const { name, bleu, flops } = this.points(pair)[Math.min(Math.floor(upto), this.points(pair).length) - 1];
    return fillText(this.texts.scores_say, { name, bleu, cost: scientific(flops) });
  }

  /** @type {Scene["table"]} */
  table({ pair }) {
    const { texts } = this;
    const rows = this.lesson.values.scores
      .filter((score) => score[pair] !== null)
      .map((score) => [
        score.name,
        texts[`group_${score.group}`],
        String(score[pair]),
        score[`${pair}_flops`] === null ? "–" : scientific(score[`${pair}_flops`]),
      ]);
    return { columns: [texts.system, texts.group, "BLEU", texts.flops], rows };
  }
}

/**
 * 3.3e18 -> "3.3 · 10¹⁸"
 * @param {number} value
 */
export function scientific(value) {
  const power = Math.floor(Math.log10(value) + 1e-12);
  return `${(value / 10 ** power).toFixed(1)}\u202f·\u202f10${raised(power)}`;
}
