// What a word is made of: the flow of a sentence, and an article against that of another gender, once it is revealed.

import { fillText, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { choice } from "../../stage/js/describe.js";
import { drawFlow, flowPlaces, flowToken, flowWord, largestParts, namedParts } from "../../stage/js/foldedflow.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

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
    return made.outputs.map((_, at) => flowWord(at === contrast ? made_of_contrast.data : made_of.part(at).data, made));
  }

  get tokens() {
    return { ...this.lesson.values.made, biases: this.texts.made_biases };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const places = flowPlaces(pen, this.tokens);
    drawFlow(pen, places, this.words(settings), this.chosen(settings), this.hides(settings, pen.revealed));
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
    const hit = flowPlaces(pen, this.tokens).at({ x, y });
    return hit && "output" in hit ? { word: hit.output } : null;
  }

  /** @type {Scene["hit"]} The number of a token. */
  hit(name, pen) {
    return flowToken(flowPlaces(pen, this.tokens), Number(name));
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
    const parts = largestParts(this.parts(settings), (value) => signed(value, 1));
    const [token, other] = [made.outputs[at], made.other ?? ""].map(tokenText);
    const values = { token, other, parts, biases: signed(chosen.biases, 1) };
    const said = this.contrasted(settings) ? this.texts.made_say_contrast : this.texts.made_say;
    return fillText(said, { ...values, logit: signed(chosen.logit, 1) });
  }

  /** @param {Settings} settings */
  parts(settings) {
    const at = this.chosen(settings);
    return namedParts(this.words(settings)[at], at, this.tokens);
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (this.hides(settings, revealed)) return null;
    return { columns: [this.texts.made_token, this.texts.made_part], rows: this.parts(settings) };
  }
}
