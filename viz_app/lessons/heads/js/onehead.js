// One head against eight: the same parameters and operations, cut differently.

import { fillText } from "../../../components/common/dom.js";
import { Axis, dot, trace, write } from "../../../components/common/plot.js";
import { picture } from "../../stage/js/map.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";

const NARROW = 620;
const LOW = 24.5; // BLEU at the foot of the plot

export class OneHead extends Scene {
  get playhead() {
    const { rows } = this.lesson.values;
    return {
      name: "row",
      label: this.texts.heads,
      min: 0,
      max: rows.length - 1,
      step: 1,
      rate: 0.6,
      start: 0,
      /** @param {number} value */
      show: (value) => String(rows[Math.round(value)].heads),
    };
  }

  lit() {
    return "heads";
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 660 : Math.max(380, Math.min(room, 560));
  }

  /** @type {Scene["draw"]} */
  draw(pen, { row }) {
    const { width, height } = pen;
    const narrow = width < NARROW;
    const chosen = Math.round(row);
    const half = narrow ? width : width * 0.52;
    this.drawCut(pen, chosen, half - (narrow ? 0 : 24));
    this.drawScores(pen, chosen, {
      x: 0,
      y: 92,
      width: half - (narrow ? 0 : 24),
      height: (narrow ? 330 : height) - 92,
    });
    this.drawSmall(
      pen,
      narrow ? { x: 0, y: 356, width, height: height - 356 } : { x: half + 12, y: 0, width: width - half - 12, height },
    );
  }

  /**
   * The width of the model, cut into heads.
   * @param {Pen} pen
   * @param {number} chosen
   * @param {number} width
   */
  drawCut({ context, theme }, chosen, width) {
    const { heads, d_k: each } = this.lesson.values.rows[chosen];
    const label = { colour: theme.text, font: theme.font, size: 14, most: width };
    write(context, fillText(this.texts.cut_into, { heads, each, whole: heads * each }), 0, 12, {
      ...label,
      weight: 600,
    });
    const gap = heads > 16 ? 1 : 2;
    for (let head = 0; head < heads; head++) {
      const left = (head * width) / heads;
      context.fillStyle = theme.kinds.encoder;
      context.globalAlpha = 0.35 + 0.5 * (head % 2);
      context.fillRect(left, 28, width / heads - gap, 26);
    }
    context.globalAlpha = 1;
    const { parameters, flops } = this.lesson.values.rows[chosen];
    const cost = fillText(this.texts.cost, {
      parameters: (parameters / 1e6).toFixed(1),
      flops: (flops / 1e9).toFixed(2),
    });
    write(context, cost, 0, 72, { ...label, colour: theme.muted, size: 13 });
  }

  /**
   * BLEU over the number of heads, as the paper printed it.
   * @param {Pen} pen
   * @param {number} chosen
   * @param {{ x: number, y: number, width: number, height: number }} given
   */
  drawScores({ context, theme }, chosen, { x, y, width, height }) {
    const { rows } = this.lesson.values;
    const across = new Axis(0, rows.length - 1, x + 34, x + width - 34);
    const up = new Axis(LOW, 26, y + height - 46, y + 40);
    write(context, this.texts.paper_scores, x, y + 12, {
      colour: theme.muted,
      font: theme.font,
      size: 12,
      most: width,
    });
    trace(
      context,
      [
        [x, up.place(LOW)],
        [x + width, up.place(LOW)],
      ],
      { colour: theme.line, width: 1 },
    );
    trace(
      context,
      rows.map(({ bleu }, index) => [across.place(index), up.place(bleu)]),
      { colour: theme.muted, width: 1.5, dash: [4, 4] },
    );
    rows.forEach(({ heads, bleu }, index) => {
      const here = index === chosen;
      const at = [across.place(index), up.place(bleu)];
      dot(context, at[0], at[1], here ? 7 : 5, here ? theme.kinds.decoder : theme.kinds.encoder, theme.background);
      context.clearRect(at[0] - 18, at[1] - 27, 36, 19);
      write(context, bleu.toFixed(1), at[0], at[1] - 17, {
        colour: theme.text,
        font: theme.font,
        size: here ? 16 : 13,
        weight: here ? 700 : 400,
        align: "center",
      });
      write(context, String(heads), at[0], up.place(LOW) + 16, {
        colour: here ? theme.text : theme.muted,
        font: theme.font,
        size: 13,
        weight: here ? 700 : 400,
        align: "center",
      });
    });
    write(context, this.texts.heads, x + width / 2, up.place(LOW) + 36, {
      colour: theme.muted,
      font: theme.font,
      size: 12,
      align: "center",
    });
  }

  /**
   * The two small models: where they look while they read the same translation.
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number, height: number }} given
   */
  drawSmall(pen, { x, y, width, height }) {
    const { context, theme } = pen;
    const { small } = this.lesson.values;
    const title = { colour: theme.text, font: theme.font, size: 14, weight: 600, most: width };
    write(context, this.texts.small_title, x, y + 12, title);
    if (!small) {
      wrapped(
        context,
        this.lesson.values.small_read ? this.texts.small_missing : this.texts.computing,
        x,
        y + 40,
        width,
        { colour: theme.muted, font: theme.font, size: 13 },
      );
      return;
    }
    const half = (height - 84) / 2;
    const eight = this.lesson.arrays.small_base;
    this.drawRow(pen, eight, small.base, { x, y: y + 30, width, height: half });
    this.drawRow(pen, this.lesson.arrays.small_one, small.one, { x, y: y + 42 + half, width, height: half });
    write(context, this.texts.small_note, x, y + height - 10, {
      colour: theme.muted,
      font: theme.font,
      size: 12,
      most: width,
    });
  }

  /**
   * @param {Pen} pen
   * @param {NdArray} maps
   * @param {{ heads: any, bleu: any, outputs: any, source: any }} given
   * @param {{ x: number, y: number, width: number, height: number }} given4
   */
  drawRow({ context, theme }, maps, { heads, bleu, outputs, source }, { x, y, width, height }) {
    const label = fillText(this.texts.small_row, { heads, bleu: bleu.toFixed(1) });
    write(context, label, x, y + 8, { colour: theme.muted, font: theme.font, size: 13, most: width });
    const columns = heads > 4 ? Math.ceil(heads / 2) : heads;
    const rows = Math.ceil(heads / columns);
    const room = [(width - (columns - 1) * 6) / columns, (height - 24 - (rows - 1) * 6) / rows];
    const cell = Math.min(room[0] / source.length, room[1] / outputs.length);
    context.imageSmoothingEnabled = false;
    for (let head = 0; head < heads; head++) {
      const left = x + (head % columns) * (cell * source.length + 6);
      const top = y + 22 + Math.floor(head / columns) * (cell * outputs.length + 6);
      context.drawImage(
        picture(maps.part(head), (weight) => theme.pixels[weight]),
        left,
        top,
        cell * source.length,
        cell * outputs.length,
      );
      context.strokeStyle = theme.line;
      context.strokeRect(left - 0.5, top - 0.5, cell * source.length + 1, cell * outputs.length + 1);
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
