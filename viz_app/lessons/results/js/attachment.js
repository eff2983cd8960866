// Predict: where does the last phrase attach? Both trees of a sentence, then how probable the parser finds either.

import { fillText, percent, signed } from "../../../components/common/text/format.js";
import { choice } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const [WORD, LABEL] = [14, 13]; // letters, in pixels
const GAP = 12; // between words
const [HEAD, FOOT] = [26, 40];

/** @typedef {import("./numbers").Sentence} Sentence */
/** @typedef {import("./numbers").TreeNode} TreeNode */

/** @extends {Scene<import("./numbers").Values>} */
export class Attachment extends Scene {
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
    const beside = !isNarrow(pen.width);
    const [width, height] = beside ? [pen.width / 2, pen.height] : [pen.width, pen.height / 2];
    for (const [index, reading] of /** @type {const} */ (["verb", "noun"]).entries()) {
      const [x, y] = beside ? [index * width, 0] : [0, index * height];
      this.drawReading(pen, sentence, reading, { x: x + 8, y, width: width - 16, height });
    }
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
    const { nodes, log_probability: total } = sentence.readings[reading];
    drawTree(pen, sentence.words, nodes, { x, y: y + HEAD, width, height: height - HEAD - FOOT });
    const bar = y + height - FOOT + 8;
    pen.fill(x, bar, width, 8, theme.line);
    if (!revealed) return pen.note("?", middle, bar + 20, { size: 15, weight: 650, align: "center" });
    const share = this.shares(sentence)[reading];
    pen.fill(x, bar, width * share, 8, theme.kinds.encoder);
    const found = sentence.found === reading ? ` \u00b7 ${this.texts.found}` : "";
    pen.write(`${percent(share)} \u00b7 ${signed(total)}${found}`, middle, bar + 21, {
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
    const other = sentence.found ? "" : ` ${this.texts.found_other}`;
    return `${fillText(this.texts.attachment_say, { verb: percent(verb), noun: percent(1 - verb) })}${other}`;
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed) return null;
    const { texts } = this;
    const rows = Object.values(this.sentences).map((sentence) => {
      const { verb, noun } = sentence.readings;
      const found = sentence.found ? texts[`attaches_${sentence.found}`] : texts.another_tree;
      return [sentence.words.join(" "), signed(verb.log_probability), signed(noun.log_probability), found];
    });
    return { columns: [texts.sentence, texts.attaches_verb, texts.attaches_noun, texts.found], rows };
  }
}

/**
 * A tree over words in one row at the foot; the last phrase stands out.
 * @param {import("../../stage/js/pen.js").Pen} pen
 * @param {string[]} words
 * @param {TreeNode[]} nodes Parents first.
 * @param {{ x: number, y: number, width: number, height: number }} box
 */
function drawTree(pen, words, nodes, { x, y, width, height }) {
  const { theme } = pen;
  const widths = words.map((word) => pen.measure(word, { size: WORD }));
  const natural = widths.reduce((sum, each) => sum + each + GAP, -GAP);
  const scale = Math.min(1, width / natural);
  /** @type {number[]} */
  const begins = [];
  for (let at = x + (width - natural * scale) / 2, i = 0; i < words.length; at += (widths[i] + GAP) * scale, i++)
    begins.push(at);
  const places = treePlaces(nodes, (i) => begins[i] + (widths[i] * scale) / 2, words.length);
  const deepest = Math.max(...places.map(({ depth }) => depth)) + 1;
  const floor = y + height - 12;
  /** @param {number} depth */
  const level = (depth) => y + 10 + (depth * (floor - y - 10)) / deepest;
  const phrase = nodes.findLastIndex(([label]) => label === "PP");
  const [, begin, end] = nodes[phrase];
  nodes.forEach(([, , , parent], index) => {
    if (parent < 0) return;
    const marked = index === phrase;
    const style = { colour: marked ? theme.kinds.encoder : theme.muted, width: marked ? 3 : 1 };
    pen.line(places[parent].x, level(places[parent].depth) + 9, places[index].x, level(places[index].depth) - 9, style);
  });
  words.forEach((word, index) => {
    const { x: above, depth } = places[places[0].owners[index]];
    const at = begins[index] + (widths[index] * scale) / 2;
    pen.line(above, level(depth) + 9, at, floor - 10, { colour: theme.line, width: 1 });
    const colour = begin <= index && index < end ? theme.kinds.encoder : theme.text;
    pen.write(word, at, floor, { size: WORD * scale, align: "center", colour });
  });
  nodes.forEach(([label], index) => {
    const colour = index === phrase ? theme.kinds.encoder : theme.text;
    pen.write(label, places[index].x, level(places[index].depth), {
      size: LABEL,
      weight: 600,
      align: "center",
      colour,
    });
  });
}

/**
 * Where each constituent stands: above the middle of its children; and which one owns each word directly.
 * @param {TreeNode[]} nodes
 * @param {(word: number) => number} middle
 * @param {number} count Of the words.
 */
export function treePlaces(nodes, middle, count) {
  const owners = Array.from({ length: count }, () => 0);
  const depths = nodes.map(() => 0);
  nodes.forEach(([, begin, end, parent], index) => {
    depths[index] = parent < 0 ? 0 : depths[parent] + 1;
    owners.fill(index, begin, end); // parents come first, so that the innermost has the last word
  });
  /** @type {number[][]} */
  const children = nodes.map(() => []);
  owners.forEach((owner, word) => children[owner].push(middle(word)));
  const places = nodes.map(() => ({ x: 0, depth: 0, owners }));
  for (let index = nodes.length - 1; index >= 0; index--) {
    const [low, high] = [Math.min(...children[index]), Math.max(...children[index])];
    places[index] = { x: (low + high) / 2, depth: depths[index], owners };
    const parent = nodes[index][3];
    if (parent >= 0) children[parent].push(places[index].x);
  }
  return places;
}
