// The length penalty: what the search finished, scored again while alpha moves.

import { fillText, signed } from "../../../components/common/text/format.js";
import { lengthPenalty, Search } from "../../../components/explorer/js/data/search.js";
import { Chart } from "../../stage/js/chart.js";
import { choice, playhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { ranked, SearchScene } from "./beams.js";

const SHOWN = 5;
const ROW = 34;

export class Alpha extends SearchScene {
  size = { narrow: 500, least: 390, most: 560 };

  get playhead() {
    const { most_alpha: max, tree } = this.lesson.values;
    const show = (/** @type {number} */ value) => value.toFixed(2);
    return playhead({ name: "alpha", label: "\u03b1", max, step: 0.1, rate: 0.25, start: tree.alpha ?? 0.6, show });
  }

  /** An example in which alpha decides. */
  example = this.lesson.values.decided && new Search(this.lesson.values.decided.tree);

  get controls() {
    const { decided } = this.lesson.values;
    const { of, of_own } = this.texts;
    const start = decides(this.search) ? "own" : "example";
    return decides(this.example) ? [choice("of", of, { own: of_own, example: decided?.text ?? "" }, { start })] : [];
  }

  /** @param {string} of The chosen sentence. */
  chosen(of) {
    return (of === "example" && this.example) || this.search;
  }

  /** @type {Scene["lit"]} */
  lit({ alpha }) {
    return alpha > 0 ? "penalty" : null;
  }

  /** @type {Scene["draw"]} */
  draw(pen, { alpha, of }) {
    const { width, height, theme } = pen;
    const [search, texts] = [this.chosen(of), this.texts];
    const rows = ranked(search, alpha, SHOWN);
    const list = 30 + rows.length * ROW;
    this.drawCurves(pen, search, alpha);
    const top = height - list;
    const narrow = isNarrow(width);
    const columns = narrow ? [18, 58, 0, 108] : [18, 70, 150, 222]; // on a phone the table alone has log P
    ["", texts.length, "log P", texts.score].forEach((title, index) => {
      if (columns[index]) pen.note(title, columns[index], top + 10, { align: "right", most: 70 });
    });
    rows.forEach(({ node, text, length, total, score }, index) => {
      const y = top + 36 + index * ROW;
      const look = index ? { colour: theme.text, weight: 400 } : { colour: theme.kinds.cross, weight: 650 };
      const style = { ...look, size: narrow ? 13 : 14 };
      [String(index + 1), String(length), signed(total), signed(score)].forEach((value, column) => {
        if (columns[column]) pen.write(value, columns[column], y, { ...style, align: "right" });
      });
      pen.write(text, columns[3] + 18, y, { ...style, most: width - columns[3] - 20 });
      if (node === search.leaves[0]) pen.fill(0, y - 10, 3, 20, theme.kinds.cross);
    });
  }

  /**
   * Score of each hypothesis over alpha, with a cut at the alpha that is chosen.
   * @param {Pen} pen
   * @param {Search} search
   * @param {number} alpha
   */
  chart(pen, search, alpha) {
    const { theme } = pen;
    const most = this.lesson.values.most_alpha;
    const rows = ranked(search, alpha, SHOWN);
    const x = Array.from({ length: 41 }, (_, index) => (most * index) / 40);
    const series = rows.map(({ node }, index) => ({
      x,
      y: x.map((each) => search.score(node, each)),
      look: index ? { colour: theme.mark, width: 1.5 } : { colour: theme.kinds.cross, width: 2.5 },
    }));
    const height = pen.height - 30 - rows.length * ROW - 12;
    return new Chart(
      pen,
      { x: 0, y: 0, width: pen.width, height },
      {
        series: series.reverse(),
        x: { title: "\u03b1" },
        y: { title: this.texts.score, show: (value) => signed(value, 1) },
        cut: alpha,
      },
    );
  }

  /**
   * @param {Pen} pen
   * @param {Search} search
   * @param {number} alpha
   */
  drawCurves(pen, search, alpha) {
    const chart = this.chart(pen, search, alpha);
    const { across, up } = chart;
    const x = across.place(search.alpha);
    pen.line(x, up.to, x, up.from, { colour: pen.theme.muted, width: 1, dash: [3, 4] });
    chart.draw();
    pen.note(fillText(this.texts.searched_with, { alpha: search.alpha }), x + 6, up.from - 12, { size: 11 });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { alpha, of }) {
    return { alpha: this.chart(pen, this.chosen(of), alpha).across.value(x) };
  }

  /** @type {Scene["say"]} */
  say({ alpha, of }) {
    const search = this.chosen(of);
    const [{ text, length }] = ranked(search, alpha, 1);
    const penalty = lengthPenalty(length, alpha, search.penalty).toFixed(2);
    return fillText(this.texts.alpha_say, { alpha: alpha.toFixed(2), text, penalty });
  }

  /** @type {Scene["table"]} */
  table({ alpha, of }) {
    const [search, texts] = [this.chosen(of), this.texts];
    const rows = ranked(search, alpha).map(({ text, length, total, score }, index) => [
      index + 1,
      text,
      length,
      total,
      lengthPenalty(length, alpha, search.penalty),
      score,
    ]);
    return { columns: ["", texts.translation, texts.length, "log P", "lp", texts.score], rows };
  }
}

/**
 * Whether the winner of a search is another one with alpha 0.
 * @param {Search | null} search
 */
function decides(search) {
  const winners = search ? [0, search.alpha].map((alpha) => ranked(search, alpha, 1)[0]?.node) : [];
  return winners[0] !== winners[1];
}
