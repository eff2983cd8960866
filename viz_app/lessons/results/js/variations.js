// Table 3: what happens to quality when one thing changes. Each line is a model; base is the line to compare with. On the
// left the paper's models, on the right ours of the same rows in small, with what luck alone may do shaded.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText } from "../../../components/common/text/format.js";
import { choice } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { axisEnds, MEASURES } from "./measures.js";
import { arrange, Panel, TOP } from "./panel.js";

const ROWS = ["A", "B", "C", "D", "E", "big"];
const MISSING = "\u2013";

/** @typedef {import("./measures.js").Line} Line */
/** @typedef {import("./measures.js").Measure} Measure */

/** @extends {Scene<import("./numbers").Values>} */
export class Variations extends Scene {
  get controls() {
    const { texts } = this;
    const rows = Object.fromEntries(ROWS.map((row) => [row, row]));
    const measures = Object.fromEntries(Object.keys(MEASURES).map((name) => [name, texts[`measure_${name}`]]));
    return [choice("row", texts.row, { ...rows, all: texts.all_rows }), choice("measure", texts.measure, measures)];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(430, Math.min(620, room, width * 0.8));
  }

  /**
   * What a line changes, or what it is called.
   * @param {Line} line
   */
  name(line) {
    return line.preset === "table3-e-learned" ? this.texts.learned_positions : line.change || line.row;
  }

  /** @param {string} row */
  lines(row) {
    return this.lesson.values.variations.filter((line) => row === "all" || ["base", row].includes(line.row));
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { encoder: base, decoder, cross } = pen.theme.kinds;
    const { texts } = this;
    const lines = this.lines(settings.row);
    const plan = arrange(pen, lines.length);
    const measure = MEASURES[settings.measure];
    const sides = [
      { from: plan.left, read: measure.paper, title: texts.of_paper, colour: decoder },
      { from: plan.second, read: measure.ours, title: this.title(plan.narrow), colour: cross },
    ];
    this.names(pen, lines, plan);
    for (const { from, read, title, colour } of sides) {
      const most = plan.each + plan.numbers;
      pen.write(title, from, 16, { size: 12.5, weight: 650, most: most + (plan.narrow ? 12 : 66) });
      const ends = axisEnds(this.lesson.values.variations.map(read), measure);
      if (ends) {
        const axis = new Axis(ends[0], ends[1], from, from + plan.each, { log: measure.log });
        new Panel(pen, texts, plan, { axis, measure, read, colours: { base, other: colour } }).draw(lines);
      } else pen.note(texts.none_of_ours, from, TOP + 12, { size: 12.5, most });
    }
  }

  /** @param {boolean} narrow */
  title(narrow) {
    const { reduced } = this.lesson.values;
    if (!reduced || narrow) return this.texts.of_ours;
    const updates = reduced.updates.toLocaleString(this.lesson.language);
    return fillText(this.texts.of_ours_small, { width: reduced.width, layers: reduced.layers, updates });
  }

  /**
   * @param {Pen} pen
   * @param {Line[]} lines
   * @param {ReturnType<typeof arrange>} plan
   */
  names(pen, lines, { left, lane, narrow }) {
    const size = Math.min(narrow ? 12 : 14, Math.max(10, lane * 0.62));
    lines.forEach((line, index) => {
      const weight = ["base", "big"].includes(line.row) ? 650 : 400;
      const y = TOP + (index + 0.5) * lane;
      pen.write(this.name(line), left - 12, y, { size, weight, align: "right", most: left - 14 });
    });
  }

  /** @type {Scene["say"]} */
  say({ row, measure }) {
    const { better, paper, show, unit } = MEASURES[measure];
    if (!better) return this.texts.parameters_say;
    const lines = this.lines(row);
    const ranks = lines.map((line) => paper(line).mean * better);
    const [best, worst] = [Math.max(...ranks), Math.min(...ranks)].map((rank) => lines[ranks.indexOf(rank)]);
    const comparison = fillText(this.texts.variations_say, {
      row: row === "all" ? this.texts.every_row : fillText(this.texts.this_row, { row }),
      measure: unit,
      best: this.name(best),
      high: show(paper(best).mean),
      worst: this.name(worst),
      low: show(paper(worst).mean),
    });
    return `${comparison} ${this.sayOurs(lines, MEASURES[measure])}`;
  }

  /**
   * How far ours agree, counted from the numbers.
   * @param {Line[]} lines
   * @param {Measure} measure
   */
  sayOurs(lines, measure) {
    if (!this.lesson.values.reduced) return this.texts.reduced_missing;
    const verdicts = lines.map((line) => measure.ours(line)?.verdict).filter(Boolean);
    if (!verdicts.length) return this.texts.reduced_single;
    const count = (/** @type {string} */ verdict) => verdicts.filter((each) => each === verdict).length;
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
      const { millions, counted, ours } = line;
      return [
        this.name(line),
        bleu.show(line.bleu),
        perplexity.show(line.perplexity),
        ...this.cells(line, bleu),
        ...this.cells(line, perplexity),
        ours ? String(ours.bleu.seeds.length) : MISSING,
        millions === null ? MISSING : String(millions),
        counted[0].toFixed(1),
        counted[1].toFixed(1),
        ours ? (ours.parameters / 1e6).toFixed(3) : MISSING,
      ];
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
   * Our value with its standard deviation, and how it compares.
   * @param {Line} line
   * @param {Measure} measure
   */
  cells(line, measure) {
    const value = measure.ours(line);
    if (!value) return [MISSING, MISSING];
    const { mean, deviation, verdict } = value;
    const around = deviation ? ` \u00b1 ${deviation.toFixed(measure.digits)}` : "";
    return [`${measure.show(mean)}${around}`, verdict ? this.texts[`verdict_${verdict}`] : MISSING];
  }
}
