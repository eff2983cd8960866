// Predict: which part of the model holds the most numbers? The bars come when the answer is revealed.

import { fillText } from "../../../components/common/dom.js";
import { grouped } from "../../../components/common/format.js";
import { write } from "../../../components/common/plot.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { faint, NARROW, share } from "./parts.js";

const PARTS = ["attention", "feed_forward", "matrix", "norms"];

export class Predict extends Scene {
  get controls() {
    const { texts } = this;
    return [
      {
        name: "model",
        kind: "choice",
        label: texts.model,
        options: ["this", "base", "big"].map((name) => [name, texts[`model_${name}`]]),
        start: "this",
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 430 : Math.max(360, Math.min(room, 470));
  }

  /**
   * Of each part its places, its numbers and multiply-adds, as counts and as shares of the whole.
   * @param {Settings} settings
   */
  parts({ model }) {
    const found = this.lesson.values.parts[model];
    const [numbers, products] = [0, 1].map((column) => PARTS.reduce((sum, part) => sum + found[part][column], 0));
    return PARTS.map((part) => ({
      part,
      places: found[part][2],
      numbers: found[part][0],
      products: found[part][1],
      share: found[part][0] / numbers,
      work: found[part][1] / products,
    }));
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height, theme, revealed } = pen;
    const { texts } = this;
    const narrow = width < NARROW;
    const name = narrow ? 0 : 190;
    const top = 34;
    const lane = (height - top - (narrow ? 40 : 26)) / PARTS.length;
    const parts = this.parts(settings);
    const room = width - name - (narrow ? 120 : 150);
    const most = Math.max(...parts.flatMap((each) => [each.share, each.work]));
    write(context, fillText(texts.parts_title, { model: texts[`model_${settings.model}`] }), 0, 10, {
      colour: theme.muted,
      font: theme.font,
      size: 13,
      most: width,
    });
    parts.forEach((each, index) => {
      const y = top + index * lane;
      const style = { colour: theme.text, font: theme.font, size: 15, weight: 600 };
      const note = { colour: theme.muted, font: theme.font, size: 12 };
      if (narrow) write(context, texts[`part_${each.part}`], 0, y + 8, { ...style, size: 14 });
      else {
        write(context, texts[`part_${each.part}`], name - 16, y + lane / 2 - 10, {
          ...style,
          align: "right",
          most: name - 18,
        });
        write(
          context,
          fillText(texts[`part_${each.part}_about`], { count: each.places }),
          name - 16,
          y + lane / 2 + 10,
          { ...note, align: "right", most: name - 18 },
        );
      }
      const from = narrow ? y + 22 : y + lane / 2 - 19;
      const colour = {
        attention: theme.kinds.encoder,
        feed_forward: theme.kinds.decoder,
        matrix: theme.kinds.cross,
        norms: theme.muted,
      }[each.part];
      if (!revealed) {
        context.fillStyle = faint(theme.muted, 0.12);
        context.fillRect(name, from, width - name, 38);
        write(context, "?", name + (width - name) / 2, from + 20, {
          colour: theme.mark,
          font: theme.font,
          size: 24,
          weight: 650,
          align: "center",
        });
        return;
      }
      context.fillStyle = colour;
      context.fillRect(name, from, Math.max(1.5, (room * each.share) / most), 22);
      context.fillStyle = faint(colour, 0.4);
      context.fillRect(name, from + 25, Math.max(1.5, (room * each.work) / most), 10);
      write(
        context,
        `${share(each.share)}  \u00b7  ${grouped(each.numbers)}`,
        name + Math.max(1.5, (room * each.share) / most) + 8,
        from + 11,
        { colour: theme.text, font: theme.font, size: 13.5, weight: 600 },
      );
      write(context, share(each.work), name + Math.max(1.5, (room * each.work) / most) + 8, from + 30, {
        ...note,
        size: 11.5,
      });
    });
    if (revealed)
      wrapped(context, texts.parts_legend, name, height - (narrow ? 26 : 8), width - name, {
        colour: theme.muted,
        font: theme.font,
        size: 12,
      });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!revealed) return this.texts.predict_say;
    const parts = this.parts(settings);
    const most = parts.reduce((best, each) => (each.numbers > best.numbers ? each : best));
    const all = parts.reduce((sum, { numbers }) => sum + numbers, 0);
    return fillText(this.texts.predict_answer, {
      model: this.texts[`model_${settings.model}`],
      all: grouped(all),
      part: this.texts[`part_${most.part}`],
      share: share(most.share),
    });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed) return null;
    const { texts } = this;
    const rows = this.parts(settings).map(({ part, numbers, products, share: own, work }) => [
      texts[`part_${part}`],
      numbers,
      own,
      products,
      work,
    ]);
    return {
      columns: [texts.part, texts.numbers, texts.share_of_numbers, texts.products, texts.share_of_products],
      rows,
    };
  }
}
