// Predict: how much do dot products of wide vectors vary? Histograms of drawn products; the wide one is shown later.

import { fillText } from "../../../components/common/dom.js";
import { Axis } from "../../../components/common/plot.js";
import { bar } from "../../stage/js/bars.js";
import { Scene } from "../../stage/js/scene.js";

const LEFT = 20;
const RIGHT = 20;

export class Variance extends Scene {
  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(320, Math.min(room, 0.6 * width, 540));
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { narrow, wide } = this.lesson.values.histograms;
    const lane = pen.height / 2;
    this.drawOne(pen, narrow, 0, lane, true);
    this.drawOne(pen, wide, lane, lane, pen.revealed);
  }

  /**
   * @param {Pen} pen
   * @param {{ d_k: any, variance: any, counts: any[], low: number, high: number }} given
   * @param {number} top
   * @param {number} lane
   * @param {boolean} open
   */
  drawOne(pen, { d_k, variance, counts, low, high }, top, lane, open) {
    const { context, theme, width } = pen;
    const across = new Axis(low, high, LEFT, width - RIGHT);
    const base = top + lane - 34;
    const most = Math.max(...counts);
    const step = (across.to - across.from) / counts.length;
    const told = open
      ? fillText(this.texts.variance_is, { width: d_k, variance: variance.toFixed(1) })
      : fillText(this.texts.variance_ask, { width: d_k });
    pen.write(told, LEFT, top + 14, {
      size: 15,
      weight: 650,
      most: width - 40,
    });
    if (open)
      counts.forEach((count, index) =>
        bar(context, across.from + index * step, base, step - 1, ((lane - 76) * count) / most, theme.kinds.encoder),
      );
    else
      pen.write("?", width / 2, top + lane / 2, {
        colour: theme.mark,
        size: 40,
        weight: 600,
        align: "center",
      });
    pen.line(LEFT, base, width - RIGHT, base, { colour: theme.muted, width: 1 });
    pen.axis(across, "bottom", base, { ticks: across.ticks(8), show: (tick) => String(tick).replace("-", "\u2212") });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    return revealed ? this.texts.predict_say : this.texts.predict_ask;
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    const { narrow, wide } = this.lesson.values.histograms;
    const rows = (revealed ? [narrow, wide] : [narrow]).map(({ d_k, variance }) => [d_k, variance]);
    return { columns: ["d_k", this.texts.variance], rows };
  }
}
