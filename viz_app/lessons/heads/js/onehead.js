// One head against eight: the same parameters and operations, cut differently.

import { fillText } from "../../../components/common/text/format.js";
import { Chart } from "../../stage/js/chart.js";
import { playhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { picture } from "../../stage/js/map.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";

const LOW = 24.5; // BLEU at the foot of the plot

/** @extends {Scene<import("./numbers").Values>} */
export class OneHead extends Scene {
  size = { narrow: 660, least: 380, most: 560 };
  term = "heads";

  get playhead() {
    const { rows } = this.lesson.values;
    return playhead({
      name: "row",
      label: this.texts.heads,
      max: rows.length - 1,
      rate: 0.6,
      show: (value) => String(rows[Math.round(value)].heads),
    });
  }

  /** @type {Scene["draw"]} */
  draw(pen, { row }) {
    const { width, height } = pen;
    const narrow = isNarrow(width);
    const chosen = Math.round(row);
    const half = narrow ? width : width * 0.52 - 24;
    this.drawCut(pen, chosen, half);
    this.drawScores(pen, chosen, { x: 0, y: 92, width: half, height: (narrow ? 330 : height) - 92 });
    const left = half + 36;
    const beside = { x: left, y: 0, width: width - left, height };
    this.drawSmall(pen, narrow ? { x: 0, y: 356, width, height: height - 356 } : beside);
  }

  /**
   * The width of the model, cut into heads.
   * @param {Pen} pen
   * @param {number} chosen
   * @param {number} width
   */
  drawCut(pen, chosen, width) {
    const { heads, d_k: each, parameters, flops } = this.lesson.values.rows[chosen];
    const title = fillText(this.texts.cut_into, { heads, each, whole: heads * each });
    pen.write(title, 0, 12, { size: 14, weight: 600, most: width });
    const gap = heads > 16 ? 1 : 2;
    for (let head = 0; head < heads; head++) {
      const left = (head * width) / heads;
      pen.fill(left, 28, width / heads - gap, 26, pen.theme.kinds.encoder, 0.35 + 0.5 * (head % 2));
    }
    const cost = { parameters: (parameters / 1e6).toFixed(1), flops: (flops / 1e9).toFixed(2) };
    pen.note(fillText(this.texts.cost, cost), 0, 72, { size: 13, most: width });
  }

  /**
   * BLEU over the number of heads, as the paper printed it.
   * @param {Pen} pen
   * @param {number} chosen
   * @param {Box} box
   */
  drawScores(pen, chosen, box) {
    const { theme } = pen;
    const { rows } = this.lesson.values;
    const x = rows.map((_, index) => index);
    const y = rows.map(({ bleu }) => bleu);
    const names = y.map((bleu) => bleu.toFixed(1));
    const look = { colour: theme.kinds.encoder, dash: [4, 4] };
    const chart = new Chart(pen, box, {
      series: [{ x, y, names, marked: true, look }],
      x: { title: this.texts.heads, ticks: rows.map(({ heads }, index) => [index, String(heads)]) },
      y: { title: this.texts.paper_scores, ends: [LOW, 26] },
    });
    chart.draw();
    pen.dot(chart.across.place(chosen), chart.up.place(y[chosen]), 7, theme.kinds.decoder, theme.background);
  }

  /**
   * The two small models: where they look while they read the same translation.
   * @param {Pen} pen
   * @param {Box} place
   */
  drawSmall(pen, { x, y, width, height }) {
    const { theme } = pen;
    const { small, small_read } = this.lesson.values;
    const { small_base, small_one } = this.lesson.arrays;
    pen.write(this.texts.small_title, x, y + 12, { size: 14, weight: 600, most: width });
    if (!small) {
      const text = small_read ? this.texts.small_missing : this.texts.computing;
      wrapped(pen, text, x, y + 40, width, { colour: theme.muted, size: 13 });
      return;
    }
    const half = (height - 84) / 2;
    this.drawRow(pen, small_base, small.base, { x, y: y + 30, width, height: half });
    this.drawRow(pen, small_one, small.one, { x, y: y + 42 + half, width, height: half });
    pen.note(this.texts.small_note, x, y + height - 10, { most: width });
  }

  /**
   * @param {Pen} pen
   * @param {NdArray} maps
   * @param {import("./numbers").SmallModel} model
   * @param {Box} place
   */
  drawRow(pen, maps, { heads, bleu, outputs, source }, { x, y, width, height }) {
    const { context, theme } = pen;
    const label = fillText(this.texts.small_row, { heads, bleu: bleu.toFixed(1) });
    pen.note(label, x, y + 8, { size: 13, most: width });
    const columns = heads > 4 ? Math.ceil(heads / 2) : heads;
    const rows = Math.ceil(heads / columns);
    const room = [(width - (columns - 1) * 6) / columns, (height - 24 - (rows - 1) * 6) / rows];
    const cell = Math.min(room[0] / source.length, room[1] / outputs.length);
    const [wide, high] = [cell * source.length, cell * outputs.length];
    const shade = (/** @type {number} */ weight) => theme.pixels[weight];
    for (let head = 0; head < heads; head++) {
      const left = x + (head % columns) * (wide + 6);
      const top = y + 22 + Math.floor(head / columns) * (high + 6);
      picture(maps.part(head), shade).draw(context, left, top, wide, high);
      pen.frame(left - 0.5, top - 0.5, wide + 1, high + 1, theme.line, 1.5);
    }
  }

  /** @type {Scene["say"]} */
  say({ row }) {
    const { heads, d_k: each, bleu, perplexity } = this.lesson.values.rows[Math.round(row)];
    return fillText(this.texts.one_say, { heads, each, bleu: bleu.toFixed(1), perplexity: perplexity.toFixed(2) });
  }

  table() {
    const { texts } = this;
    const { rows } = this.lesson.values;
    return {
      columns: [texts.heads, "d_k = d_v", texts.parameters, "FLOPs", texts.perplexity, "BLEU"],
      rows: rows.map((each) => [each.heads, each.d_k, each.parameters, each.flops, each.perplexity, each.bleu]),
    };
  }
}
