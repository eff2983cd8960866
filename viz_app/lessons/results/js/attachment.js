// Predict: where does the last phrase attach? Both trees of a sentence, then how probable the parser finds either.

import { fillText, percent, signed } from "../../../components/common/text/format.js";
import { choice } from "../../stage/js/describe.js";
import { split } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const WORD = 14; // letters, in pixels, at most
const [HEAD, FOOT] = [26, 40];

/** @typedef {import("./numbers").Sentence} Sentence */

/** @extends {Scene<import("./numbers").Values>} */
export class Attachment extends Scene {
  size = { narrow: 540, least: 300, most: 560, share: 0.75 };

  get controls() {
    const { texts } = this;
    const names = Object.fromEntries(Object.keys(this.sentences).map((name) => [name, texts[`sentence_${name}`]]));
    return [choice("sentence", texts.sentence, names)];
  }

  get sentences() {
    return this.lesson.values.sentences ?? {};
  }

  /** @param {Sentence} sentence */
  shares({ readings }) {
    const [verb, noun] = [readings.verb.log_probability, readings.noun.log_probability];
    const share = 1 / (1 + Math.exp(noun - verb));
    return { verb: share, noun: 1 - share };
  }

  /** @type {Scene["missing"]} */
  missing({ sentence }) {
    return this.sentences[sentence] ? null : this.texts.no_parser;
  }

  /** @type {Scene["draw"]} */
  draw(pen, { sentence: name }) {
    const sentence = this.sentences[String(name)];
    const [left, right] = split({ x: 8, y: 0, width: pen.width - 16, height: pen.height }, { gap: 16 });
    this.drawReading(pen, sentence, "verb", left);
    this.drawReading(pen, sentence, "noun", right);
  }

  /**
   * @param {import("../../stage/js/pen.js").Pen} pen
   * @param {Sentence} sentence
   * @param {"verb" | "noun"} reading
   * @param {{ x: number, y: number, width: number, height: number }} box
   */
  drawReading(pen, sentence, reading, { x, y, width, height }) {
    const { theme, revealed } = pen;
    const middle = x + width / 2;
    pen.write(this.texts[`attaches_${reading}`], middle, y + 12, {
      size: 14,
      weight: 600,
      align: "center",
      most: width,
    });
    const { log_probability: total } = sentence.readings[reading];
    drawTree(pen, sentence.words, sentence.readings[reading], { x, y: y + HEAD, width, height: height - HEAD - FOOT });
    const bar = y + height - FOOT + 8;
    pen.fill(x, bar, width, 8, theme.line);
    if (!revealed) return pen.note("?", middle, bar + 20, { size: 15, weight: 650, align: "center" });
    const share = this.shares(sentence)[reading];
    pen.fill(x, bar, width * share, 8, theme.kinds.encoder);
    const mark = sentence.best === reading ? ` \u00b7 ${this.texts.best}` : "";
    pen.write(`${percent(share)} \u00b7 ${signed(total)}${mark}`, middle, bar + 21, {
      size: 14,
      align: "center",
      most: width,
    });
  }

  /** @type {Scene["say"]} */
  say({ sentence: name }, revealed) {
    const sentence = this.sentences[String(name)];
    if (!revealed) return this.texts.predict_say;
    const { verb } = this.shares(sentence);
    const other = sentence.best ? "" : ` ${this.texts.best_other}`;
    return `${fillText(this.texts.attachment_say, { verb: percent(verb), noun: percent(1 - verb) })}${other}`;
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed) return null;
    const { texts } = this;
    const rows = Object.values(this.sentences).map((sentence) => {
      const { verb, noun } = sentence.readings;
      const best = sentence.best ? texts[`attaches_${sentence.best}`] : texts.another_tree;
      return [sentence.words.join(" "), signed(verb.log_probability), signed(noun.log_probability), best];
    });
    return { columns: [texts.sentence, texts.attaches_verb, texts.attaches_noun, texts.best], rows };
  }
}

/**
 * A tree as Python has placed it, as large as its box allows; the last phrase stands out.
 * @param {Pen} pen
 * @param {string[]} words
 * @param {import("./numbers").Reading} reading
 * @param {Box} box
 */
function drawTree(pen, words, { nodes, places }, { x, y, width, height }) {
  const { theme } = pen;
  const size = Math.min(WORD, width / places.width);
  const down = Math.min(1.5 * size, (height - 22) / places.height); // a font size downwards
  const left = x + (width - size * places.width) / 2;
  /** @param {[number, number]} place */
  const at = ([across, deep]) => [left + size * across, y + 10 + down * deep];
  const phrase = nodes.findLastIndex(([label]) => label === "PP");
  const [, begin, end] = nodes[phrase];
  places.edges.forEach((edge, index) => {
    const marked = index + 1 === phrase;
    const colour = marked ? theme.kinds.encoder : index + 1 < nodes.length ? theme.muted : theme.line;
    pen.trace(edge.map(at), { colour, width: marked ? 3 : 1 });
  });
  const labels = [
    ...nodes.map(([text], index) => ({ text, place: places.nodes[index], strong: true, marked: index === phrase })),
    ...words.map((text, index) => ({ text, place: places.words[index], marked: begin <= index && index < end })),
  ];
  for (const { text, place, marked, ...more } of labels) {
    const [middle, line] = at(place);
    const colour = marked ? theme.kinds.encoder : theme.text;
    pen.write(text, middle, line, { size, weight: "strong" in more ? 600 : 400, align: "center", colour });
  }
}
