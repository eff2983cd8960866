// One wrong token: the translation from the right prefix, and what the model makes of its own.

import { fillText } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { drawBars } from "../../stage/js/barchart.js";
import { stepPlayhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { share } from "./parts.js";
import { drawTitle } from "./square.js";

const HEAD = 46;
const ROW = 24;

/** @extends {Scene<import("./numbers").Values>} */
export class Mistake extends Scene {
  term = "own";

  mistakes = this.lesson.values.mistakes ?? [];
  longest = Math.max(this.lesson.values.outputs.length, ...this.mistakes.map(({ tokens }) => tokens.length));

  missing() {
    return this.mistakes.length ? null : this.texts.computing;
  }

  get playhead() {
    const { length } = this.mistakes;
    return length ? stepPlayhead(this.texts.wrong_at, length, { rate: 0.5, start: Math.min(4, length) }) : null;
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const list = HEAD + ROW * this.longest + 8;
    return isNarrow(width) ? 2 * list : Math.max(320, Math.min(room, list));
  }

  /** @type {Scene["draw"]} */
  draw(pen, { step }) {
    const { width, height, theme } = pen;
    const narrow = isNarrow(width);
    const place = Math.round(step) - 1;
    const { outputs } = this.lesson.values;
    const { tokens, probabilities } = this.mistakes[place];
    const wide = narrow ? width : width / 2 - 16;
    const tall = (narrow ? height / 2 : height) - HEAD;
    const style = { ends: /** @type {[number, number]} */ ([0, 1]), colours: [], left: 0.36 * wide, right: 58 };
    [outputs, tokens].forEach((words, side) => {
      const [x, y] = narrow ? [0, (side * height) / 2] : [side * (wide + 32), 0];
      const name = side ? "own" : "given";
      drawTitle(pen, { x, y, half: wide }, this.texts[name], this.texts[`${name}_about`]);
      const rows = words.map((token, row) => {
        const value = side ? probabilities[row] : Math.exp(this.lesson.arrays.once.at(row));
        const colours = [side && row >= place ? theme.kinds.decoder : theme.kinds.encoder];
        const look = { strong: row === place, colours, alphas: [row < place ? 0.25 : 0.8] };
        return { ...look, name: token, token: true, values: [value], texts: [share(value)] };
      });
      drawBars(pen, { x, y: y + HEAD, width: wide, height: (tall * words.length) / this.longest }, rows, style);
    });
  }

  /** @type {Scene["say"]} */
  say({ step }) {
    const place = Math.round(step) - 1;
    const { tokens, probabilities, text } = this.mistakes[place];
    const right = tokenText(this.lesson.values.outputs[place]);
    const wrong = { token: tokenText(tokens[place]), probability: share(probabilities[place]) };
    return fillText(this.texts.mistake_say, { step: place + 1, right, text, ...wrong });
  }

  table() {
    const { step, token, probability, own } = this.texts;
    const rows = this.mistakes.map((each, at) => [
      at + 1,
      tokenText(each.tokens[at]),
      each.probabilities[at],
      each.text,
    ]);
    return { columns: [step, token, probability, own], rows };
  }
}
