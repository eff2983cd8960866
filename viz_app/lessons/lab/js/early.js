// The encoder stopped early: what the decoder generates from its state after each layer.

import { fillText } from "../../../components/common/dom.js";
import { comparedWords } from "../../stage/js/paragraph.js";
import { Bench } from "./bench.js";

/** @param {[string, boolean][]} words */
const lengthOf = (words) => words.reduce((sum, [word]) => sum + word.length + 1, 0);

/** @extends {Bench<import("./numbers").Early>} */
export class Early extends Bench {
  get name() {
    return "early";
  }

  lit() {
    return "memory";
  }

  /** The translations, those that do not end cut off: twice as long as the final one at most. The table has all. */
  get rows() {
    const { rows = [] } = this.own ?? {};
    const most = 2 * lengthOf(rows[rows.length - 1] ?? []) + 10;
    return rows.map((words) => {
      /** @type {[string, boolean][]} */
      const kept = [];
      for (const [word, differs] of words) {
        const room = most - lengthOf(kept);
        if (room <= 1) return [...kept, /** @type {[string, boolean]} */ (["\u2026", false])];
        kept.push([word.length > room ? `${word.slice(0, room)}\u2026` : word, differs]);
      }
      return kept;
    });
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const longest = Math.max(0, ...this.rows.map(lengthOf));
    const lines = Math.ceil((longest * 10.5) / Math.max(200, width - 70)) || 1;
    return Math.max(Math.min(room, 560), (this.own?.rows.length ?? 7) * (lines * 29 + 14) + 40);
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { absence, own, texts } = this;
    if (absence || !own) return pen.message(absence ?? "");
    const { theme, width, height } = pen;
    const size = width < 500 ? 14 : 18;
    pen.note(texts.encoder_layer, 0, 10, { size: 12 });
    const step = (height - 40) / own.rows.length;
    this.rows.forEach((words, layer) => {
      const y = 44 + layer * step;
      const last = layer === own.rows.length - 1;
      pen.line(0, y - 18, width, y - 18, { colour: theme.line, width: 1 });
      pen.write(String(layer), 14, y, { size, weight: 650, colour: theme.kinds.encoder, align: "center" });
      if (words.length) comparedWords(pen, words, 44, y, width - 48, last ? null : theme.kinds.decoder, size);
      else pen.note(texts.nothing, 44, y, { size });
    });
  }

  /** From which layer on the translation is the final one. */
  get settledAt() {
    const rows = this.own?.rows.map((words) => words.map(([word]) => word).join(" ")) ?? [];
    let from = rows.length - 1;
    while (from > 0 && rows[from - 1] === rows[rows.length - 1]) from--;
    return from;
  }

  say() {
    return this.absence ?? fillText(this.texts.early_say, { layer: this.settledAt });
  }

  table() {
    const { own, texts } = this;
    if (!own) return null;
    const rows = own.rows.map((words, layer) => [layer, words.map(([word]) => word).join(" ")]);
    return { columns: [texts.encoder_layer, texts.translation], rows };
  }
}
