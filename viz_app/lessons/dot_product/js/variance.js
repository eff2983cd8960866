// Predict: how much do dot products of wide vectors vary? Histograms of drawn products; the wide one is shown later.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText } from "../../../components/common/text/format.js";
import { Scene } from "../../stage/js/scene.js";

const LEFT = 20;
const RIGHT = 20;

/** @extends {Scene<import("./numbers").Values>} */
export class Variance extends Scene {
  size = { least: 320, most: 540, share: 0.6 };

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { narrow, wide } = this.lesson.values.histograms;
    const lane = pen.height / 2;
    this.drawOne(pen, narrow, 0, lane, true);
    this.drawOne(pen, wide, lane, lane, pen.revealed);
  }

  /**
   * @param {Pen} pen
   * @param {import("./numbers").Histogram} histogram
   * @param {number} top
   * @param {number} lane
   * @param {boolean} open
   */
  drawOne(pen, { d_k, variance, counts, low, high }, top, lane, open) {
    const { theme, width } = pen;
    const across = new Axis(low, high, LEFT, width - RIGHT);
    const base = top + lane - 34;
    const most = Math.max(...counts);
    const step = (across.to - across.from) / counts.length;
    const title = open
      ? fillText(this.texts.variance_is, { width: d_k, variance: variance.toFixed(1) })
      : fillText(this.texts.variance_ask, { width: d_k });
    pen.write(title, LEFT, top + 14, { size: 15, weight: 650, most: width - 40 });
    const unknown = { colour: theme.muted, size: 40, weight: 600, align: "center" };
    if (!open) pen.write("?", width / 2, top + lane / 2, unknown);
    for (const [index, count] of open ? counts.entries() : []) {
      const tall = ((lane - 76) * count) / most;
      pen.fill(across.from + index * step, base - tall, step - 1, tall, theme.kinds.encoder);
    }
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
