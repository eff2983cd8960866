// A suspect beside a healthy model: five tests of both on the visitor's sentence, and what both write.

import { fillText } from "../../../components/common/dom.js";
import { plain } from "../../stage/js/map.js";
import { Case, number } from "./case.js";
import { drawEvenness, drawLoss, drawOrder, drawVectors, headName } from "./charts.js";

const TESTS = ["loss", "attention", "order", "vectors", "evenness"];

export class Suspect extends Case {
  get heads() {
    return this.ready ? this.lesson.arrays.evenness.shape[1] : 16;
  }

  /** Heads of a layer: all models of this lesson have two layers of the encoder. */
  get perLayer() {
    return this.heads / (this.ready ? this.lesson.arrays.alike.shape[1] - 1 : 2);
  }

  get controls() {
    const { texts } = this;
    return [
      {
        name: "exhibit",
        kind: "choice",
        label: texts.exhibit,
        options: TESTS.map((test) => [test, texts[`exhibit_${test}`]]),
        start: "loss",
      },
      {
        name: "head",
        kind: "range",
        label: texts.head,
        min: 0,
        max: this.heads - 1,
        step: 1,
        start: 0,
        /** @param {number} head */
        show: (head) => headName(head, this.perLayer),
      },
    ];
  }

  /**
   * The sentence as it is read in a test, and both translations of it.
   * @param {Settings} settings
   */
  linesOf({ exhibit }) {
    const { values } = this.lesson;
    if (exhibit !== "order") return [values.read, ...values.wrote];
    const shown = values.words.slice(0, -1);
    /** @param {string} word */
    const letters = (word) => /[\p{L}\p{N}]/u.test(word);
    const turned = shown.filter(letters).reverse();
    const read = shown
      .map((word) => (letters(word) ? ` ${turned.shift()}` : word))
      .join("")
      .trim();
    return [read, ...values.turned];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    if (!this.ready) return this.drawWaiting(pen);
    const { width, height, theme } = pen;
    const { arrays, values } = this.lesson;
    const { texts } = this;
    const colours = this.colours(theme);
    const [read, ...wrote] = this.linesOf(settings);
    const names = this.names;
    const top = this.drawLines(pen, [
      [texts.reads, read, null],
      ...wrote.map((text, row) => [names[row], text, colours[row]]),
    ]);
    const box = { x: 0, y: top, width, height: height - top };
    if (settings.exhibit === "attention")
      this.drawPair(pen, box, { labels: values.pieces, weights: (row) => arrays.attention.part(row, settings.head) });
    else if (settings.exhibit === "order")
      drawOrder(pen, { moved: arrays.moved, words: values.words }, box, colours, texts.moved);
    else if (settings.exhibit === "vectors")
      drawVectors(pen, arrays.alike, box, colours, [texts.after_layer, texts.alike]);
    else if (settings.exhibit === "evenness")
      drawEvenness(pen, arrays.evenness, box, colours, [texts.head_number, texts.evenness], this.perLayer);
    else drawLoss(pen, arrays, box, colours, [texts.update, texts.loss]);
    return undefined;
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!this.ready) return this.waiting;
    const { texts } = this;
    const { values } = this.lesson;
    const said = [fillText(texts[`say_${settings.exhibit}`], this.numbers(settings))];
    if (values.cut) said.push(texts.cut);
    if (revealed)
      said.push(fillText(texts.verdict, { one: values.bleu[0].toFixed(1), other: values.bleu[1].toFixed(1) }));
    return said.join(" ");
  }

  /**
   * What a test comes to, in numbers.
   * @param {Settings} settings
   */
  numbers({ exhibit, head }) {
    const { arrays } = this.lesson;
    /** @param {any} of */
    const both = (of) => ({ one: number(of(0)), other: number(of(1)) });
    /** @param {NdArray} array */
    const mean = (array) => both((row) => array.part(row).data.reduce((sum, value) => sum + value, 0) / array.shape[1]);
    if (exhibit === "loss") return this.lastLoss();
    if (exhibit === "attention")
      return { head: headName(head, this.perLayer), ...both((row) => arrays.evenness.at(row, head)) };
    if (exhibit === "order") return mean(arrays.moved);
    if (exhibit === "evenness") return { heads: this.heads, ...mean(arrays.evenness) };
    const last = arrays.alike.shape[1] - 1;
    return { layer: last, ...both((row) => arrays.alike.at(row, last)) };
  }

  /** @type {Scene["table"]} */
  table({ exhibit, head }) {
    if (!this.ready) return null;
    const { arrays, values } = this.lesson;
    const { texts } = this;
    /**
     * @param {NdArray} array
     * @param {any} label
     */
    const pairs = (array, label) =>
      Array.from({ length: array.shape[1] }, (_, i) => [label(i), array.at(0, i), array.at(1, i)]);
    if (exhibit === "loss")
      return { columns: [texts.update, ...this.names], rows: pairs(arrays.loss, (i) => arrays.step.at(0, i)) };
    if (exhibit === "order")
      return { columns: [texts.word, ...this.names], rows: pairs(arrays.moved, (i) => values.words[i]) };
    if (exhibit === "vectors")
      return { columns: [texts.after_layer, ...this.names], rows: pairs(arrays.alike, (i) => i) };
    if (exhibit === "evenness")
      return { columns: [texts.head, ...this.names], rows: pairs(arrays.evenness, (i) => headName(i, this.perLayer)) };
    const rows = this.names.flatMap((name, row) =>
      values.pieces.map((piece, query) => [
        name,
        plain(piece),
        ...Array.from(arrays.attention.part(row, head, query).data, (byte) => byte / 255),
      ]),
    );
    return { columns: ["", texts.query, ...values.pieces.map(plain)], rows };
  }
}
