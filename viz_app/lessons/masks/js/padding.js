// Two sentences in one batch: the shorter one is filled up, and the mask sinks until nothing looks at what fills it.

import { headAddress } from "../../../components/common/heads/heads.js";
import { ease, fillText, percent } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { shade } from "../../stage/js/bars.js";
import { playhead, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { futureColour, Grid } from "./grid.js";
import { hiddenMass, weightsUnder } from "./softmax.js";

const GAP = 14;
const RIGHT = 24; // for the slanted label of the last column

/** @extends {Scene<import("./numbers").Values>} */
export class Padding extends Scene {
  term = "mask";

  get numbers() {
    return this.lesson.values.padding;
  }

  get count() {
    return this.numbers.tokens[0].length;
  }

  get controls() {
    const { head, layer } = this.numbers;
    const max = this.lesson.arrays.padded.shape[0] - 1;
    return [
      slider({
        name: "head",
        label: this.texts.head,
        max,
        start: head,
        show: (each) => headAddress({ kind: "encoder", layer, head: each }),
      }),
    ];
  }

  get playhead() {
    return playhead({
      name: "mask",
      label: this.texts.mask,
      max: 1,
      rate: 0.4,
      show: (value) => (value >= 1 ? "\u2212\u221e" : value <= 0 ? "0" : "\u2026"),
    });
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    if (isNarrow(width)) return 2 * (Math.max(15 * this.count, width - 62 - RIGHT) + 122); // square, or legible
    return Math.max(300, Math.min(room, width / 2 + 40));
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  place(width, height) {
    const below = isNarrow(width);
    const side = below ? 62 : 84;
    const inner = below ? width - side - RIGHT : (width - 2 * side - GAP - RIGHT) / 2;
    const head = Grid.headroom(inner, this.count) + 26;
    const tall = below ? height / 2 - head - 44 : Math.min(height - head - 48, inner * 0.95);
    return [0, 1].map((sentence) => {
      const left = side + (below ? 0 : sentence * (inner + side + GAP));
      const top = head + (below ? (sentence * height) / 2 : 0);
      return new Grid(left, top, inner, tall, this.count, this.count);
    });
  }

  /**
   * @param {number} sentence
   * @param {number} head
   * @param {number} open
   */
  weights(sentence, head, open) {
    const length = this.numbers.lengths[sentence];
    const scores = this.lesson.arrays.padded.part(head, sentence);
    return Array.from({ length: this.count }, (_, q) => weightsUnder(scores.part(q).data, (k) => k >= length, open));
  }

  /**
   * Share of the attention of real rows that goes to padding.
   * @param {number} sentence
   * @param {number[][]} rows
   */
  lost(sentence, rows) {
    const length = this.numbers.lengths[sentence];
    return rows.slice(0, length).reduce((sum, row) => sum + hiddenMass(row, (k) => k >= length), 0) / length;
  }

  /** @type {Scene["draw"]} */
  draw(pen, { mask, head }) {
    const { theme, width, height } = pen;
    const { texts, numbers } = this;
    this.place(width, height).forEach((grid, sentence) => {
      const length = numbers.lengths[sentence];
      /** @param {number} k */
      const filler = (k) => k >= length;
      const rows = this.weights(sentence, head, 1 - ease(mask));
      grid.paint(pen, (q, k) => (filler(q) ? null : shade(theme, rows[q][k])));
      grid.paint(pen, (q, k) => (filler(q) ? shade(theme, rows[q][k]) : null), 0.25);
      grid.hatch(pen, (q, k) => filler(k), ease(mask));
      grid.frame(pen);
      grid.nameColumns(pen, numbers.tokens[sentence]);
      grid.nameRows(pen, numbers.tokens[sentence], "left", { most: 76 });
      const top = grid.top - Grid.headroom(grid.width, this.count) - 17;
      const middle = grid.left + grid.width / 2;
      const title = fillText(texts.sentence_of_batch, { number: sentence + 1 });
      pen.write(title, middle, top, { weight: 600, align: "center" });
      const lost = this.lost(sentence, rows);
      const text = length < this.count ? `${texts.on_padding} ${percent(lost)}` : texts.no_padding;
      const strong = lost > 0.005;
      const style = { colour: strong ? futureColour(theme) : theme.muted, weight: strong ? 600 : 400 };
      pen.write(text, middle, grid.top + grid.height + 18, { ...style, align: "center", most: grid.width + 60 });
    });
  }

  /** @type {Scene["say"]} */
  say({ mask }) {
    const { shift_masked, shift_open } = this.numbers;
    return mask < 1
      ? fillText(this.texts.padding_open, { shift: shift_open.toFixed(2) })
      : fillText(this.texts.padding_masked, { shift: small(shift_masked) });
  }

  /** @type {Scene["table"]} */
  table({ head }) {
    const { texts, numbers } = this;
    const rows = numbers.tokens.flatMap((tokens, sentence) => {
      const [masked, open] = [this.weights(sentence, head, 0), this.weights(sentence, head, 1)];
      return tokens.flatMap((query, q) =>
        q < numbers.lengths[sentence]
          ? tokens.map((key, k) => [sentence + 1, tokenText(query), tokenText(key), masked[q][k], open[q][k]])
          : [],
      );
    });
    return { columns: [texts.sentence, texts.query, texts.key, texts.masked, texts.unmasked], rows };
  }
}

/**
 * A number that may be nothing but rounding.
 * @param {number} value
 */
function small(value) {
  return value === 0 ? "0" : value < 0.001 ? value.toExponential(0) : value.toFixed(3);
}
