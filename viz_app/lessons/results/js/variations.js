// Table 3: what happens to quality when one thing changes. Each line is a model; base is the line to compare with. On the
// left the paper's models, on the right ours of the same rows in small, with what luck alone may do shaded.

import { fillText } from "../../../components/common/dom.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { axisEnds, axisTicks, MEASURES } from "./measures.js";

const ROWS = ["A", "B", "C", "D", "E", "big", "all"];
const [TOP, FOOT] = [56, 46];
const NARROW = 620;
const MOST_LANE = 60;

export class Variations extends Scene {
  get controls() {
    const { texts } = this;
    const rows = ROWS.map((row) => [row, row === "all" ? texts.all_rows : row]);
    const measures = Object.keys(MEASURES).map((name) => [name, texts[`measure_${name}`]]);
    return [
      { name: "row", kind: "choice", label: texts.row, options: rows, start: "A" },
      { name: "measure", kind: "choice", label: texts.measure, options: measures, start: "bleu" },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(430, Math.min(620, room, width * 0.8));
  }

  /**
   * What a line changes, or what it is called.
   * @param {any} line
   */
  name(line) {
    return line.preset === "table3-e-learned" ? this.texts.learned_positions : line.change || line.row;
  }

  /** @param {string} row */
  lines(row) {
    return this.lesson.values.variations.filter((line) => line.row === "base" || line.row === row || row === "all");
  }

  /**
   * Where everything stands: lanes from the top, the paper's panel on the left, ours on the right.
   * @param {number} width
   * @param {number} height
   * @param {number} count
   */
  plan(width, height, count) {
    const narrow = width < NARROW;
    const numbers = narrow ? 0 : Math.min(106, width * 0.14);
    const words = narrow ? 0 : 66;
    const left = narrow ? 106 : 140;
    const gap = narrow ? 16 : 30;
    const each = (width - left - 2 * numbers - words - gap - 12) / 2;
    const lane = Math.min(MOST_LANE, (height - TOP - FOOT) / count);
    return { narrow, numbers, left, each, lane, second: left + each + numbers + gap, foot: TOP + lane * count };
  }

  /** @type {Scene["draw"]} */
  draw({ context, width, height, theme }, { row, measure }) {
    const lines = this.lines(row);
    const plan = this.plan(width, height, lines.length);
    const kind = MEASURES[measure];
    const all = this.lesson.values.variations;
    const sides = [
      { from: plan.left, read: kind.paper, title: this.texts.of_paper, colour: theme.kinds.decoder },
      {
        from: plan.second,
        /** @param {any} line */
        read: (line) => line.ours && kind.ours(line.ours),
        title: this.title(plan.narrow),
        colour: theme.kinds.cross,
      },
    ];
    this.names(context, lines, plan, theme);
    for (const side of sides) {
      const ends = axisEnds(all.map(side.read), kind);
      const style = { colour: theme.muted, font: theme.font, size: 12.5 };
      write(context, side.title, side.from, 16, {
        ...style,
        weight: 650,
        colour: theme.text,
        most: plan.each + plan.numbers + (plan.narrow ? 12 : 66),
      });
      if (!ends) {
        write(context, this.texts.none_of_ours, side.from, TOP + 12, { ...style, most: plan.each + plan.numbers });
        continue;
      }
      const axis = new Axis(ends[0], ends[1], side.from, side.from + plan.each, { log: kind.log });
      this.panel(context, lines, { ...side, axis, plan, kind, theme });
    }
  }

  /** @param {boolean} narrow */
  title(narrow) {
    const { reduced } = this.lesson.values;
    if (!reduced) return this.texts.of_ours;
    return narrow
      ? this.texts.of_ours
      : fillText(this.texts.of_ours_small, {
          width: reduced.width,
          layers: reduced.layers,
          updates: reduced.updates.toLocaleString(this.lesson.language),
        });
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {any[]} lines
   * @param {{ left: number, lane: number, narrow: boolean }} given
   * @param {Theme} theme
   */
  names(context, lines, { left, lane, narrow }, theme) {
    lines.forEach((line, index) => {
      const own = line.row === "base" || line.row === "big";
      const size = Math.min(narrow ? 12 : 14, Math.max(10, lane * 0.62));
      write(context, this.name(line), left - 12, TOP + (index + 0.5) * lane, {
        colour: theme.text,
        font: theme.font,
        size,
        weight: own ? 650 : 400,
        align: "right",
        most: left - 14,
      });
    });
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {any[]} lines
   * @param {any} side
   */
  panel(context, lines, side) {
    const { axis, plan, kind, theme } = side;
    const base = side.read(lines[0]);
    drawAxis(context, axis, "bottom", plan.foot + 6, {
      theme,
      ticks: axisTicks(axis, kind, plan.narrow ? 3 : 5),
      show: kind.tick,
    });
    write(
      context,
      `${kind.better ? kind.unit : this.texts.millions}${kind.better ? ` \u00b7 ${this.texts.better} \u2192` : ""}`,
      (axis.from + axis.to) / 2,
      plan.foot + 38,
      { colour: theme.muted, font: theme.font, size: 12, align: "center", most: plan.each + 16 },
    );
    if (base)
      trace(
        context,
        [
          [axis.place(base.mean), TOP - 8],
          [axis.place(base.mean), plan.foot + 4],
        ],
        { colour: theme.kinds.encoder, width: 1.5, dash: [4, 4] },
      );
    lines.forEach((line, index) => this.lane(context, line, base, TOP + (index + 0.5) * plan.lane, side));
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {any} line
   * @param {any} base
   * @param {number} y
   * @param {any} side
   */
  lane(context, line, base, y, side) {
    const { axis, plan, theme } = side;
    const value = side.read(line);
    const text = {
      font: theme.font,
      colour: theme.text,
      size: Math.min(14, Math.max(10, plan.lane * 0.62)),
      align: "right",
    };
    if (!value) return write(context, "\u2013", axis.to + plan.numbers * 0.42, y, { ...text, colour: theme.muted });
    const colour = line.row === "base" ? theme.kinds.encoder : side.colour;
    const at = axis.place(value.mean);
    if (value.band)
      band(
        context,
        value.band.map((end) => axis.place(end)),
        y,
        plan.lane,
        theme,
      );
    if (base)
      trace(
        context,
        [
          [axis.place(base.mean), y],
          [at, y],
        ],
        { colour, width: plan.lane < 30 ? 2 : 3 },
      );
    for (const seed of value.seeds ?? []) if (value.seeds.length > 1) dot(context, axis.place(seed), y, 2, theme.muted);
    const radius = Math.min(6, Math.max(3.5, plan.lane * 0.2));
    // Empty where luck alone may have done it.
    if (value.verdict === "noise") dot(context, at, y, radius, theme.background, colour);
    else dot(context, at, y, radius, colour, theme.background);
    this.numbers(context, line, value, base, y, side, text);
  }

  /**
   * The value, and its difference to base; on a narrow stage under the point, where there is room.
   * @param {CanvasRenderingContext2D} context
   * @param {any} line
   * @param {any} value
   * @param {any} base
   * @param {number} y
   * @param {{ axis: Axis, plan: any, kind: any, theme: Theme }} given
   * @param {any} text
   */
  numbers(context, line, value, base, y, { axis, plan, kind, theme }, text) {
    if (plan.narrow) {
      if (plan.lane < 38) return;
      const at = Math.max(axis.from + 10, Math.min(axis.to - 6, axis.place(value.mean)));
      clear(context, at, y + 16, kind.show(value.mean).length * 7, theme);
      write(context, kind.show(value.mean), at, y + 16, { ...text, size: 12, align: "center" });
      return;
    }
    const [first, second] = [axis.to + plan.numbers * 0.46, axis.to + plan.numbers];
    write(context, kind.show(value.mean), first, y, { ...text, weight: 650 });
    if (line.row !== "base" && base)
      write(context, signed(value.mean - base.mean, kind), second, y, { ...text, colour: theme.muted });
    if (value.verdict)
      write(context, this.texts[`verdict_${value.verdict}`], second + 10, y, {
        ...text,
        align: "left",
        size: Math.min(12.5, text.size),
        colour: theme.muted,
        most: 66,
      });
  }

  /** @type {Scene["say"]} */
  say({ row, measure }) {
    const kind = MEASURES[measure];
    const lines = this.lines(row);
    if (!kind.better) return this.texts.parameters_say;
    const places = lines.map((line) => kind.paper(line).mean * kind.better);
    const [best, worst] = [Math.max(...places), Math.min(...places)].map((place) => lines[places.indexOf(place)]);
    const told = {
      row: row === "all" ? this.texts.every_row : fillText(this.texts.this_row, { row }),
      measure: kind.unit,
      best: this.name(best),
      high: kind.show(kind.paper(best).mean),
      worst: this.name(worst),
      low: kind.show(kind.paper(worst).mean),
    };
    return `${fillText(this.texts.variations_say, told)} ${this.sayOurs(lines, kind)}`;
  }

  /**
   * How far ours agree, counted from the numbers.
   * @param {any[]} lines
   * @param {any} kind
   */
  sayOurs(lines, kind) {
    const { reduced } = this.lesson.values;
    if (!reduced) return this.texts.reduced_missing;
    const verdicts = lines.map(({ ours }) => ours && kind.ours(ours).verdict).filter(Boolean);
    /** @param {string} verdict */
    const count = (verdict) => verdicts.filter((each) => each === verdict).length;
    if (!verdicts.length) return this.texts.reduced_single;
    return fillText(this.texts.reduced_say, {
      count: verdicts.length,
      same: count("same"),
      other: count("other"),
      noise: count("noise"),
    });
  }

  /** @type {Scene["table"]} */
  table({ row }) {
    const { texts } = this;
    const { bleu, perplexity } = MEASURES;
    const rows = this.lines(row).map((line) => {
      const paper = [bleu.show(line.bleu), perplexity.show(line.perplexity)];
      const ours = line.ours
        ? [bleu, perplexity].flatMap((kind) => this.told(kind.ours(line.ours), kind))
        : ["\u2013", "\u2013", "\u2013", "\u2013"];
      const seeds = line.ours ? String(line.ours.bleu.seeds.length) : "\u2013";
      const size = [
        line.millions === null ? "\u2013" : `${line.millions}`,
        line.counted[0].toFixed(1),
        line.counted[1].toFixed(1),
        line.ours ? (line.ours.parameters / 1e6).toFixed(3) : "\u2013",
      ];
      return [this.name(line), ...paper, ...ours, seeds, ...size];
    });
    const ours = ["BLEU", texts.verdict, "PPL", texts.verdict].map((text) => `${texts.of_ours}: ${text}`);
    return {
      columns: [
        texts.change,
        `${texts.of_paper}: BLEU`,
        `${texts.of_paper}: PPL`,
        ...ours,
        texts.seeds,
        texts.printed,
        `${texts.counted} (37,000)`,
        `${texts.counted} (40,960)`,
        texts.counted_ours,
      ],
      rows,
    };
  }

  /**
   * @param {any} value
   * @param {any} kind
   */
  told(value, kind) {
    const around = value.deviation === null ? "" : ` \u00b1 ${value.deviation.toFixed(kind.digits)}`;
    return [`${kind.show(value.mean)}${around}`, value.verdict ? this.texts[`verdict_${value.verdict}`] : "\u2013"];
  }
}

/**
 * Room for a number on the line of base.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} wide
 * @param {Theme} theme
 */
function clear(context, x, y, wide, theme) {
  context.save();
  context.globalAlpha = 0.8;
  context.fillStyle = theme.background;
  context.fillRect(x - wide / 2 - 1, y - 7, wide + 2, 14);
  context.restore();
}

/**
 * What luck alone may do, behind a lane.
 * @param {CanvasRenderingContext2D} context
 * @param {any[]} pair
 * @param {number} y
 * @param {number} lane
 * @param {Theme} theme
 */
function band(context, [one, other], y, lane, theme) {
  context.save();
  context.globalAlpha = theme.dark ? 0.3 : 0.16;
  context.fillStyle = theme.kinds.encoder;
  context.fillRect(Math.min(one, other), y - lane * 0.36, Math.abs(other - one), lane * 0.72);
  context.restore();
}

/**
 * @param {number} difference
 * @param {any} kind
 */
function signed(difference, kind) {
  const text = kind.show(Math.abs(difference));
  if (Number(text) === 0) return text;
  return `${difference < 0 ? "\u2212" : "+"}${text}`;
}
