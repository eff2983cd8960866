// What a word is made of: the flow of a sentence, and an article against that of another gender, once it is revealed.

import { fillText, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { tokenPositions } from "../../../components/explorer/js/data/headview.js";
import { partsOf } from "../../../components/explorer/js/flow/flowparts.js";
import { Brush } from "../../../components/explorer/js/flow/flowshapes.js";
import { FoldedPlaces } from "../../../components/explorer/js/flow/foldedplaces.js";
import { allWords, foldedScene } from "../../../components/explorer/js/flow/foldedscene.js";
import { choice } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const isSpecial = (/** @type {string} */ token) => token === "<s>" || token === "</s>";
const BEHIND = 0.3; // how strong the other words are
const LISTED = 3; // parts that are said

/** @typedef {import("./numbers").Values["made"]} Made */

/** @extends {Scene<import("./numbers").Values>} */
export class MadeOf extends Scene {
  get controls() {
    const { made } = this.lesson.values;
    const article = made?.article ?? null;
    const other = tokenText(made?.other ?? "");
    /** @type {Record<string, string>} */
    const options = article === null ? {} : { other, mean: this.texts.made_mean };
    const where = (/** @type {Settings} */ settings) => article !== null && this.chosen(settings) === article;
    return [choice("against", this.texts.made_against, options, { where }), { name: "word", kind: "held", start: -1 }];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const { made } = this.lesson.values;
    return isNarrow(width) ? 30 + 24 * ((made?.source.length ?? 8) + 2) : Math.max(320, Math.min(room, 440));
  }

  missing() {
    return this.lesson.values.made ? null : this.texts.made_missing;
  }

  /** @param {Settings} settings */
  chosen({ word }) {
    const { outputs, article } = this.lesson.values.made;
    return word >= 0 && word < outputs.length ? Math.round(word) : (article ?? outputs.length - 2);
  }

  /** @param {Settings} settings */
  contrasted(settings) {
    return this.chosen(settings) === this.lesson.values.made.article && settings.against !== "mean";
  }

  /** @param {Settings} settings */
  words(settings) {
    const { made } = this.lesson.values;
    const { made_of, made_of_contrast } = this.lesson.arrays;
    const contrast = this.contrasted(settings) ? this.chosen(settings) : null;
    return made.outputs.map((_, at) => word(at === contrast ? made_of_contrast.data : made_of.part(at).data, made));
  }

  /** @param {Pen} pen */
  places(pen) {
    const { source, outputs } = this.lesson.values.made;
    const tokens = {
      source: tokenPositions(source, source.map(isSpecial)),
      outputs: tokenPositions(outputs, outputs.map(isSpecial)),
      first: tokenPositions(["<s>"], [true])[0],
    };
    const measure = (/** @type {string} */ text, /** @type {number} */ size) => pen.measure(text, { size });
    return new FoldedPlaces({ ...tokens, biases: this.texts.made_biases }, pen.width, pen.height, measure);
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { theme } = pen;
    const places = this.places(pen);
    const words = this.words(settings);
    const hides = this.hides(settings, pen.revealed);
    const brush = new Brush(pen.context, theme, theme.font);
    const others = words.map((each, at) => (at === this.chosen(settings) ? null : each));
    brush.draw(allWords(places, others, theme), 1, BEHIND);
    const seen = hides ? words.map(() => null) : words;
    brush.draw(foldedScene(places, seen, { output: this.chosen(settings) }, theme));
  }

  /**
   * Whether the parts are the answer to the question.
   * @param {Settings} settings
   * @param {boolean} [revealed]
   */
  hides(settings, revealed) {
    return !revealed && this.chosen(settings) === this.lesson.values.made.article;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    const hit = this.places(pen).at({ x, y });
    return hit && "output" in hit ? { word: hit.output } : null;
  }

  /** @type {Scene["hit"]} The number of a token. */
  hit(name, pen) {
    const places = this.places(pen);
    const { at } = places.place(`i${Number(name) + 1}`);
    return places.across ? { x: at, y: places.output } : { x: places.output, y: at };
  }

  /** @type {Scene["stepped"]} */
  stepped(count, settings) {
    const { length } = this.lesson.values.made.outputs;
    return { word: (this.chosen(settings) + count + length) % length };
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { made } = this.lesson.values;
    if (this.hides(settings, revealed)) return this.texts.made_ask;
    const at = this.chosen(settings);
    const chosen = this.words(settings)[at];
    const largest = this.parts(settings)
      .filter(([, value]) => value > 0)
      .sort((a, b) => b[1] - a[1]);
    const parts = largest.slice(0, LISTED).map(([name, value]) => `${name} ${signed(value, 1)}`);
    const [token, other] = [made.outputs[at], made.other ?? ""].map(tokenText);
    const values = { token, other, parts: parts.join(", "), biases: signed(chosen.biases, 1) };
    const said = this.contrasted(settings) ? this.texts.made_say_contrast : this.texts.made_say;
    return fillText(said, { ...values, logit: signed(chosen.logit, 1) });
  }

  /**
   * Names and values of all parts of the chosen word; tokens that were generated stand in angle brackets.
   * @param {Settings} settings
   * @returns {[string, number][]}
   */
  parts(settings) {
    const { source, outputs } = this.lesson.values.made;
    const at = this.chosen(settings);
    const inputs = ["<s>", ...outputs];
    const name = (/** @type {string} */ part) => {
      if (part === "b") return this.texts.made_biases;
      const text = tokenText((part[0] === "s" ? source : inputs)[Number(part.slice(1))]);
      return part[0] === "s" || text === "<s>" ? text : `<${text}>`;
    };
    return partsOf(this.words(settings)[at], at).map(({ name: part, value }) => [name(part), value]);
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (this.hides(settings, revealed)) return null;
    return { columns: [this.texts.made_token, this.texts.made_part], rows: this.parts(settings) };
  }
}

/**
 * @param {ArrayLike<number>} data Parts of source tokens, of inputs, of biases, and their sum.
 * @param {Made} made
 * @returns {FlowWord}
 */
function word(data, { source, outputs }) {
  const values = Array.from(data);
  const [inputs, biases] = [source.length, source.length + outputs.length];
  const sums = { logit: values[biases + 1], biases: values[biases], total: 0, count: 0 };
  const none = { ways: [], flows: [], heads: [], neurons: [], states: NONE, residuals: NONE };
  return { ...none, ...sums, source: values.slice(0, inputs), inputs: values.slice(inputs, biases) };
}

/** @type {{ encoder: number[][], decoder: number[][] }} The picture shows no layers. */
const NONE = { encoder: [], decoder: [] };
