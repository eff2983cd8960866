// Predict: which part of the model holds the most numbers? The bars come when the answer is revealed.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { choice } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { faint, share } from "./parts.js";

/** @type {("attention" | "feed_forward" | "matrix" | "norms")[]} */
const PARTS = ["attention", "feed_forward", "matrix", "norms"];

/** @extends {Scene<import("./numbers").Values>} */
export class Predict extends Scene {
  size = { narrow: 430, least: 360, most: 470 };

  get controls() {
    const { texts } = this;
    return [choice("model", texts.model, { this: texts.model_this, base: texts.model_base, big: texts.model_big })];
  }

  /**
   * Return places, parameters and multiply-adds of each part, as counts and as shares.
   * @param {Settings} settings
   */
  parts({ model }) {
    const partCounts = this.lesson.values.parts[model];
    const [all, work] = [0, 1].map((column) => PARTS.reduce((sum, part) => sum + partCounts[part][column], 0));
    return PARTS.map((part) => {
      const [numbers, products, places] = partCounts[part];
      return { part, places, numbers, products, share: numbers / all, work: products / work };
    });
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height, theme, revealed } = pen;
    const { texts } = this;
    const narrow = isNarrow(width);
    const left = narrow ? 0 : 190;
    const top = 34;
    const lane = (height - top - (narrow ? 40 : 26)) / PARTS.length;
    const parts = this.parts(settings);
    const room = width - left - (narrow ? 120 : 150);
    const most = Math.max(...parts.flatMap((each) => [each.share, each.work]));
    const title = fillText(texts.parts_title, { model: texts[`model_${settings.model}`] });
    pen.note(title, 0, 10, { size: 13, most: width });
    parts.forEach((each, index) => {
      const y = top + index * lane;
      const name = texts[`part_${each.part}`];
      const middle = y + lane / 2;
      if (narrow) pen.write(name, 0, y + 8, { size: 14, weight: 600 });
      else {
        const about = fillText(texts[`part_${each.part}_about`], { count: each.places });
        const beside = { align: "right", most: left - 18 };
        pen.write(name, left - 16, middle - 10, { size: 15, weight: 600, ...beside });
        pen.note(about, left - 16, middle + 10, beside);
      }
      const from = narrow ? y + 22 : middle - 19;
      const { encoder: attention, decoder: feed_forward, cross: matrix } = theme.kinds;
      const colour = { attention, feed_forward, matrix, norms: theme.muted }[each.part];
      if (!revealed) {
        pen.fill(left, from, width - left, 38, faint(theme.muted, 0.12));
        const style = { colour: theme.muted, size: 24, weight: 650, align: "center" };
        pen.write("?", left + (width - left) / 2, from + 20, style);
        return;
      }
      const [long, short] = [each.share, each.work].map((part) => Math.max(1.5, (room * part) / most));
      pen.fill(left, from, long, 22, colour);
      pen.fill(left, from + 25, short, 10, faint(colour, 0.4));
      const counted = `${share(each.share)}  \u00b7  ${formatCount(each.numbers)}`;
      pen.write(counted, left + long + 8, from + 11, { size: 13.5, weight: 600 });
      pen.note(share(each.work), left + short + 8, from + 30, { size: 11.5 });
    });
    const quiet = { colour: theme.muted, size: 12 };
    if (revealed) wrapped(pen, texts.parts_legend, left, height - (narrow ? 26 : 8), width - left, quiet);
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!revealed) return this.texts.predict_say;
    const parts = this.parts(settings);
    const most = parts.reduce((best, each) => (each.numbers > best.numbers ? each : best));
    const all = parts.reduce((sum, { numbers }) => sum + numbers, 0);
    return fillText(this.texts.predict_answer, {
      model: this.texts[`model_${settings.model}`],
      all: formatCount(all),
      part: this.texts[`part_${most.part}`],
      share: share(most.share),
    });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed) return null;
    const { texts } = this;
    const { part, numbers, share_of_numbers, products, share_of_products } = texts;
    return {
      columns: [part, numbers, share_of_numbers, products, share_of_products],
      rows: this.parts(settings).map((own) => [
        texts[`part_${own.part}`],
        own.numbers,
        own.share,
        own.products,
        own.work,
      ]),
    };
  }
}
