// A suspect beside a healthy model: five tests of both on the visitor's sentence, and what both write.

import { fillText, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { choice, slider } from "../../stage/js/describe.js";
import { Case } from "./case.js";
import { drawEvenness, drawLoss, drawOrder, drawVectors, nameOf } from "./charts.js";

const TESTS = ["loss", "attention", "order", "vectors", "evenness"];

class Suspect extends Case {
  get heads() {
    return this.ready ? this.lesson.arrays.evenness.shape[1] : 16;
  }

  /** Heads of a layer: all models of this lesson have two layers of the encoder. */
  get perLayer() {
    return this.heads / (this.ready ? this.lesson.arrays.alike.shape[1] - 1 : 2);
  }

  get controls() {
    const { texts } = this;
    const tests = Object.fromEntries(TESTS.map((test) => [test, texts[`exhibit_${test}`]]));
    const show = (/** @type {number} */ head) => nameOf(head, this.perLayer);
    return [
      choice("exhibit", texts.exhibit, tests),
      slider({
        name: "head",
        label: texts.head,
        max: this.heads - 1,
        show,
        where: ({ exhibit }) => exhibit === "attention",
      }),
    ];
  }

  /** The sentence with its words in reverse order, punctuation where it was. */
  get reversed() {
    const words = this.lesson.values.words.slice(0, -1);
    const isWord = (/** @type {string} */ word) => /[\p{L}\p{N}]/u.test(word);
    const reversed = words.filter(isWord).reverse();
    return words
      .map((word) => (isWord(word) ? ` ${reversed.shift()}` : word))
      .join("")
      .trim();
  }

  /** @type {Scene["draw"]} */
  draw(pen, { exhibit, head }) {
    if (!this.ready) return pen.message(this.waiting);
    const { arrays, values } = this.lesson;
    const { texts, names } = this;
    const colours = this.colours(pen.theme);
    const [read, written] = exhibit === "order" ? [this.reversed, values.turned] : [values.read, values.wrote];
    const lines = written.map((text, row) => ({ name: names[row], text, colour: colours[row] }));
    if (exhibit !== "order") lines.push(...this.chosen(pen.theme));
    const box = this.drawLines(pen, read, lines);
    if (exhibit === "attention")
      this.drawPair(pen, box, { labels: values.tokens, weights: (row) => arrays.attention.part(row, head) });
    else if (exhibit === "order")
      drawOrder(pen, { moved: arrays.moved, words: values.words }, box, colours, texts.moved);
    else if (exhibit === "vectors") drawVectors(pen, arrays.alike, box, colours, [texts.after_layer, texts.alike]);
    else if (exhibit === "evenness")
      drawEvenness(pen, arrays.evenness, box, colours, [texts.head_number, texts.evenness], this.perLayer);
    else drawLoss(pen, arrays, box, colours, [texts.update, texts.loss]);
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!this.ready) return this.waiting;
    const { texts } = this;
    return [
      fillText(texts[`say_${settings.exhibit}`], this.numbers(settings)),
      ...(this.lesson.values.cut ? [texts.cut] : []),
      ...(revealed ? [this.verdict] : []),
    ].join(" ");
  }

  /**
   * What a test comes to, in numbers.
   * @param {Settings} settings
   */
  numbers({ exhibit, head }) {
    const { evenness, moved, alike } = this.lesson.arrays;
    const both = (/** @type {(row: number) => number} */ of) => ({ one: signed(of(0)), other: signed(of(1)) });
    const mean = (/** @type {NdArray} */ array) =>
      both((row) => array.part(row).data.reduce((sum, value) => sum + value, 0) / array.shape[1]);
    if (exhibit === "loss") return this.lastLoss();
    if (exhibit === "attention") return { head: nameOf(head, this.perLayer), ...both((row) => evenness.at(row, head)) };
    if (exhibit === "order") return mean(moved);
    if (exhibit === "evenness") return { heads: this.heads, ...mean(evenness) };
    const last = alike.shape[1] - 1;
    return { layer: last, ...both((row) => alike.at(row, last)) };
  }

  /** @type {Scene["table"]} */
  table({ exhibit, head }) {
    if (!this.ready) return null;
    const { arrays, values } = this.lesson;
    const { texts } = this;
    if (exhibit === "loss") return this.pairs(texts.update, arrays.loss, (i) => arrays.step.at(0, i));
    if (exhibit === "order") return this.pairs(texts.word, arrays.moved, (i) => values.words[i]);
    if (exhibit === "vectors") return this.pairs(texts.after_layer, arrays.alike, (i) => i);
    if (exhibit === "evenness") return this.pairs(texts.head, arrays.evenness, (i) => nameOf(i, this.perLayer));
    const rows = this.names.flatMap((name, row) =>
      values.tokens.map((token, query) => [
        name,
        tokenText(token),
        ...Array.from(arrays.attention.part(row, head, query).data, (byte) => byte / 255),
      ]),
    );
    return { columns: ["", texts.query, ...values.tokens.map(tokenText)], rows };
  }
}

/**
 * The scene of a suspect.
 * @param {string} letter
 */
export function suspectScene(letter) {
  return class extends Suspect {
    get name() {
      return letter;
    }
  };
}
