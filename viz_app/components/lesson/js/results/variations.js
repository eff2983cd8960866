// Table 3: what happens to quality when one thing changes. Each line is a model; base is the line to compare with.

import { fillText } from "../../../common/dom.js";
import { Axis, dot, drawAxis, trace, write } from "../plot.js";
import { Scene } from "../scene.js";

const ROWS = ["A", "B", "C", "D", "E", "big"];
const [TOP, FOOT] = [40, 44];

export class Variations extends Scene {
  get controls() {
    return [{ name: "row", kind: "choice", label: this.texts.row, options: ROWS.map((row) => [row, row]), start: "A" }];
  }

  lines(row) {
    return this.lesson.values.variations.filter((line) => line.row === "base" || line.row === row);
  }

  draw({ context, width, height, theme }, { row }) {
    const lines = this.lines(row);
    const narrow = width < 560;
    const left = narrow ? 104 : 168;
    const right = narrow ? 96 : 250;
    const axis = new Axis(23.5, 26.5, left, width - right);
    const lane = Math.min(64, (height - TOP - FOOT) / lines.length);
    const foot = TOP + lane * lines.length;
    const style = { colour: theme.muted, font: theme.font, size: 12 };
    drawAxis(context, axis, "bottom", foot + 6, { theme, ticks: narrow ? [24, 25, 26] : axis.ticks(6) });
    write(context, "BLEU", (left + width - right) / 2, foot + 36, { ...style, align: "center" });
    const base = axis.place(lines[0].bleu);
    trace(context, [[base, TOP - 6], [base, foot + 4]], { colour: theme.kinds.encoder, width: 1.5, dash: [4, 4] });
    this.heads(context, width, right, narrow, style);
    lines.forEach((line, index) => {
      const y = TOP + (index + 0.5) * lane;
      const own = line.row === "base" || line.row === "big";
      const colour = line.row === "base" ? theme.kinds.encoder : theme.kinds.decoder;
      write(context, own ? line.row : line.change, left - 14, y, { colour: theme.text, font: theme.font, size: 14, weight: own ? 650 : 400, align: "right", most: left - 18 });
      trace(context, [[base, y], [axis.place(line.bleu), y]], { colour, width: 3 });
      dot(context, axis.place(line.bleu), y, 6, colour, theme.background);
      this.numbers(context, line, y, width, right, narrow, theme);
    });
  }

  heads(context, width, right, narrow, style) {
    const at = width - right;
    write(context, "BLEU", at + 46, TOP - 22, { ...style, align: "right" });
    write(context, "PPL", at + (narrow ? 92 : 100), TOP - 22, { ...style, align: "right" });
    if (narrow) return;
    write(context, this.texts.printed, at + 165, TOP - 22, { ...style, align: "right" });
    write(context, this.texts.counted, at + 245, TOP - 22, { ...style, align: "right" });
  }

  numbers(context, line, y, width, right, narrow, theme) {
    const at = width - right;
    const style = { colour: theme.text, font: theme.font, size: 14, align: "right" };
    write(context, line.bleu.toFixed(1), at + 46, y, { ...style, weight: 650 });
    write(context, line.perplexity.toFixed(2), at + (narrow ? 92 : 100), y, style);
    if (narrow) return;
    write(context, line.millions === null ? "" : `${line.millions}\u202fM`, at + 165, y, { ...style, colour: theme.muted });
    write(context, `${line.counted[1].toFixed(1)}\u202fM`, at + 245, y, style);
  }

  say({ row }) {
    const lines = this.lines(row);
    const best = lines.reduce((a, b) => (b.bleu > a.bleu ? b : a));
    const worst = lines.reduce((a, b) => (b.bleu < a.bleu ? b : a));
    return fillText(this.texts.variations_say, { row, best: name(best), high: best.bleu.toFixed(1), worst: name(worst), low: worst.bleu.toFixed(1) });
  }

  table({ row }) {
    const { texts } = this;
    const rows = this.lines(row).map((line) => [name(line), line.bleu.toFixed(1), line.perplexity.toFixed(2), line.millions === null ? "–" : `${line.millions}`, line.counted[0].toFixed(1), line.counted[1].toFixed(1)]);
    return { columns: [texts.change, "BLEU", "PPL", texts.printed, `${texts.counted} (37,000)`, `${texts.counted} (40,960)`], rows };
  }
}

function name(line) {
  return line.change || line.row;
}
