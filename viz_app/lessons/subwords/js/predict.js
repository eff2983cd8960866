// A word of the sentence and the same word misspelt: how many tokens does a word have that the vocabulary has never seen?

import { fillText } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { tokens } from "./boxes.js";

/** @extends {Scene<import("./numbers").Values>} */
export class Predict extends Scene {
  /** @type {Scene["height"]} */
  height(width) {
    return isNarrow(width) ? 300 : 340;
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { width, theme, revealed } = pen;
    const { word, word_tokens } = this.lesson.values;
    const longest = Math.max(...word_tokens.map((each) => each.join("").length + 1.3 * each.length));
    const size = Math.max(11, Math.min(26, (width - 20) / (0.62 * longest + 1)));
    word.forEach((text, index) => {
      const y = 24 + index * 150;
      const hidden = index && !revealed;
      const count = hidden ? "?" : fillText(this.texts.token_count, { count: word_tokens[index].length });
      pen.write(text, 0, y, { size: 24, weight: 650, most: width - 130 });
      pen.note(count, width, y, { size: 17, weight: 600, align: "right" });
      if (hidden) {
        pen.box(1, y + 58 - size, Math.min(width - 2, 260), 2 * size, { fill: theme.line, alpha: 0.6, radius: 5 });
        pen.write("?", 22, y + 58, { size: 20, weight: 700 });
      } else {
        const colour = index ? theme.kinds.decoder : theme.kinds.encoder;
        tokens(pen, word_tokens[index], 1, y + 58, { size, colour });
      }
    });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { word, word_tokens } = this.lesson.values;
    if (!revealed) return this.texts.predict_hidden;
    return fillText(this.texts.predict_say, { word: word[1], tokens: joined(word_tokens[1]) });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    const { word, word_tokens } = this.lesson.values;
    const rows = word.map((text, index) => [text, word_tokens[index].length, joined(word_tokens[index])]);
    return { columns: [this.texts.word, this.texts.tokens, ""], rows: revealed ? rows : rows.slice(0, 1) };
  }
}

/** @param {string[]} texts */
function joined(texts) {
  return texts.map(tokenText).join(" ");
}
