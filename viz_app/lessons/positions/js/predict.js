// The sentence backwards, with positions in the encoder and without: what does the model write? The translations of the
// sentence as it was typed stand there from the start, and for the reversed one they are revealed.

import { joinTokens } from "../../../components/common/text/tokens.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const LINE = 25;
const MAX_LINES = 4;

/** Block: its left edge and its width.
 * @typedef {{ x: number, width: number }} Column */

/** @extends {Scene<import("./numbers").Values>} */
export class Predict extends Scene {
  /** @type {Scene["height"]} */
  height(width) {
    const { small, block } = this.sizes(width);
    return small ? 2 * block : Math.max(340, block);
  }

  /**
   * Width and height of one of the two blocks, for the longest of their texts.
   * @param {number} width
   */
  sizes(width) {
    const { backwards, tokens } = this.lesson.values;
    const small = isNarrow(width);
    const half = small ? width : (width - 28) / 2;
    /**
     * @param {string} text
     * @param {number} letter
     * @param {number} room
     */
    const lines = (text, letter, room) => Math.min(MAX_LINES, Math.ceil((text.length * letter) / room));
    const read = joinTokens(tokens);
    const written = Object.values(backwards ?? {}).flat();
    const tallest =
      lines(read, 8.6, half) + Math.max(...[read, ...written].map((text) => lines(text, 10.6, half - 22)));
    return { small, half, block: 130 + 2 * tallest * LINE + 20 };
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { width, theme, revealed } = pen;
    const { backwards, tokens } = this.lesson.values;
    const { small, half, block } = this.sizes(width);
    const forwards = tokens.slice(0, -1);
    /** @type {["with" | "off", string, number, number][]} */
    const blocks = [
      ["with", theme.kinds.encoder, 0, 0],
      ["off", theme.kinds.decoder, small ? 0 : half + 28, small ? block : 0],
    ];
    for (const [name, colour, x, top] of blocks) {
      const column = { x, width: half };
      const [one, other] = backwards?.[name] ?? ["\u2026", "\u2026"];
      let y = this.heading(pen, name, column, top + 10, colour);
      y = this.pair(pen, joinTokens(forwards), one, column, y + 34);
      y = this.pair(pen, joinTokens([...forwards].reverse()), revealed ? other : null, column, y + 28);
      if (revealed && backwards) this.verdict(pen, one === other, column, y + 20);
    }
  }

  /**
   * Write the way of reading. Returns the y of what follows.
   * @param {Pen} pen
   * @param {"with" | "off"} name
   * @param {Column} column
   * @param {number} y
   * @param {string} colour
   */
  heading(pen, name, { x, width }, y, colour) {
    pen.line(x, y + 16, x + width, y + 16, { colour, width: 3 });
    pen.write(this.texts[`group_${name}`], x, y, { size: 16, weight: 650, most: width });
    if (name === "off") pen.note(this.texts.note_off, x, y + 32, { size: 13, most: width });
    return y + 16;
  }

  /**
   * Write the input, and below it the revealed translation. Returns the y of what follows.
   * @param {Pen} pen
   * @param {string} read
   * @param {string | null} written
   * @param {Column} column
   * @param {number} y
   */
  pair(pen, read, written, { x, width }, y) {
    const { theme } = pen;
    const end = paragraph(pen, read, x, y + 12, width, { colour: theme.muted, size: 16 });
    pen.note("\u2193", x + 4, end + 2, { size: 15 });
    if (written !== null) return paragraph(pen, written, x + 22, end + 3, width - 22, { size: 19, weight: 600 });
    pen.fill(x + 22, end - 10, Math.min(width - 22, 270), 27, theme.line, 0.6);
    pen.write("?", x + 34, end + 3, { size: 17, weight: 700 });
    return end + LINE;
  }

  /**
   * @param {Pen} pen
   * @param {boolean} same
   * @param {Column} column
   * @param {number} y
   */
  verdict(pen, same, { x, width }, y) {
    const { cross, decoder } = pen.theme.kinds;
    const text = same ? `= ${this.texts.same}` : `\u2260 ${this.texts.other}`;
    pen.write(text, x + 22, y, { colour: same ? cross : decoder, size: 15, weight: 650, most: width - 22 });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { backwards } = this.lesson.values;
    if (!backwards) return this.texts.computing;
    if (!revealed) return this.texts.predict_say;
    /** @param {"with" | "off"} name */
    const verdict = (name) => {
      const [one, other] = backwards[name];
      return `${this.texts[`group_${name}`]}: \u201c${other}\u201d, ${one === other ? this.texts.same : this.texts.other}.`;
    };
    return `${verdict("with")} ${verdict("off")}`;
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    const { backwards } = this.lesson.values;
    if (!backwards || !revealed) return null;
    const { group_with, group_off, forwards } = this.texts;
    const rows = [
      [group_with, ...backwards.with],
      [group_off, ...backwards.off],
    ];
    return { columns: ["", forwards, this.texts.backwards], rows };
  }
}

/**
 * Text in lines of at most some width, MAX_LINES at most. Returns the middle of the line after the last one.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {Partial<TextStyle>} style
 */
function paragraph(pen, text, x, y, width, style) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines[lines.length - 1];
    const longer = line ? `${line} ${word}` : word;
    if (pen.measure(longer, style) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const last = MAX_LINES - 1;
  const shown = lines.length > MAX_LINES ? [...lines.slice(0, last), lines.slice(last).join(" ")] : lines;
  const most = lines.length > MAX_LINES ? width - 4 : width;
  shown.forEach((line, index) =>
    pen.write(line, x, y + index * LINE, { ...style, most: index === last ? most : width }),
  );
  return y + shown.length * LINE;
}
