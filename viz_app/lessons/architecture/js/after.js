// What came after: the encoder alone, and the decoder alone, by the masks on the reader's sentence.

import { compact, fillText } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { faint } from "./parts.js";
import { drawCells, drawCounts, drawFrame, drawOutline, drawTitle } from "./square.js";
import { Training } from "./training.js";

/** @type {("encoder" | "decoder")[]} */
const SIDES = ["encoder", "decoder"];

export class After extends Training {
  get count() {
    return Math.max(...Object.values(this.lesson.values.tokens).map(({ length }) => length));
  }

  get controls() {
    return [];
  }

  /**
   * The row of a side that is shown, and how many of its tokens it sees.
   * @param {"encoder" | "decoder"} side
   * @param {Settings} settings
   */
  seen(side, { step }) {
    const tokens = this.lesson.values.tokens[side];
    const row = Math.min(Math.round(step), tokens.length) - 1;
    return { tokens, row, count: side === "encoder" ? tokens.length : row + 1 };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { texts, lesson } = this;
    const { halves } = lesson.values;
    this.places(pen).forEach((whole, index) => {
      const side = SIDES[index];
      const { tokens, row } = this.seen(side, settings);
      const place = { ...whole, side: whole.cell * tokens.length };
      drawTitle(pen, place, texts[`after_${side}`], texts[`after_${side}_about`]);
      tokens.forEach((_, q) => {
        const colour = faint(pen.theme.kinds[side], q === row ? 0.62 : 0.3);
        drawCells(pen, place, q, tokens.length, colour, this.seen(side, { step: q + 1 }).count - 1);
      });
      drawFrame(pen, place);
      this.names(pen, place, tokens.length, row, tokens);
      drawOutline(pen, place, row);
      const kept = fillText(texts.after_kept, { count: compact(halves[side], lesson.language) });
      const left = fillText(texts.after_left, { count: compact(halves.cross, lesson.language) });
      drawCounts(pen, place, [[kept], [side === "decoder" ? left : ""]]);
    });
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const [encoder, decoder] = SIDES.map((side) => this.seen(side, settings));
    const [token, other] = [encoder, decoder].map(({ tokens, row }) => tokenText(tokens[row]));
    const counts = { all: encoder.count, seen: decoder.count, whole: decoder.tokens.length };
    return fillText(this.texts.after_say, { token, other, ...counts });
  }

  /** @type {Scene["table"]} */
  table() {
    return null;
  }
}
