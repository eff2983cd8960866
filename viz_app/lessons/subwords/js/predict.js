// A word of the sentence and the same word misspelt: how many pieces does a word have that the vocabulary has never seen?

import { fillText } from "../../../components/common/dom.js";
import { write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { box, pieces } from "./boxes.js";

export class Predict extends Scene {
  /** @type {Scene["height"]} */
  height(width) {
    return width < 520 ? 300 : 340;
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { context, width, theme, revealed } = pen;
    const { word, word_pieces } = this.lesson.values;
    const longest = Math.max(...word_pieces.map((each) => each.join("").length + 1.3 * each.length));
    const size = Math.max(11, Math.min(26, (width - 20) / (0.62 * longest + 1)));
    word.forEach((text, index) => {
      const y = 24 + index * 150;
      write(context, text, 0, y, { colour: theme.text, font: theme.font, size: 24, weight: 650, most: width - 130 });
      const hidden = index && !revealed;
      const count = hidden ? "?" : fillText(this.texts.piece_count, { count: word_pieces[index].length });
      write(context, count, width, y, { colour: theme.muted, font: theme.font, size: 17, weight: 600, align: "right" });
      if (!hidden)
        return pieces(context, word_pieces[index], 1, y + 58, {
          theme,
          size,
          colour: index ? theme.kinds.decoder : theme.kinds.encoder,
        });
      box(context, 1, y + 58 - size, Math.min(width - 2, 260), 2 * size, { fill: theme.line, alpha: 0.6 });
      return write(context, "?", 22, y + 58, { colour: theme.text, font: theme.font, size: 20, weight: 700 });
    });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { word, word_pieces } = this.lesson.values;
    return revealed
      ? fillText(this.texts.predict_say, { word: word[1], pieces: word_pieces[1].join(" ").replaceAll("\u2581", "") })
      : this.texts.predict_hidden;
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    const { word, word_pieces } = this.lesson.values;
    const rows = word.map((text, index) => [
      text,
      word_pieces[index].length,
      word_pieces[index].join(" ").replaceAll("\u2581", ""),
    ]);
    return { columns: [this.texts.word, this.texts.pieces, ""], rows: revealed ? rows : rows.slice(0, 1) };
  }
}
