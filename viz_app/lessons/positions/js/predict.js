// The sentence backwards, with positions in the encoder and without: what does the model write? The translations of the
// sentence as it was typed stand there from the start, those of the reversed one are revealed.

import { fitted, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";

const LINE = 25;
const MOST_LINES = 4;

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
    const small = width < 520;
    const half = small ? width : (width - 28) / 2;
    /**
     * @param {string} text
     * @param {number} letter
     * @param {number} room
     */
    const lines = (text, letter, room) => Math.min(MOST_LINES, Math.ceil((text.length * letter) / room));
    const read = sentence(tokens);
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
    /** @type {[string, string, number, number][]} */
    const blocks = [
      ["with", theme.kinds.encoder, 0, 0],
      ["off", theme.kinds.decoder, small ? 0 : half + 28, small ? block : 0],
    ];
    for (const [name, colour, x, top] of blocks) {
      let y = this.heading(
        pen,
        this.texts[`group_${name}`],
        name === "off" ? this.texts.note_off : "",
        x,
        top + 10,
        half,
        colour,
      );
      const [one, other] = backwards?.[name] ?? ["\u2026", "\u2026"];
      y = this.pair(pen, { read: sentence(forwards), written: one, shown: true }, x, y + 34, half);
      y = this.pair(pen, { read: sentence([...forwards].reverse()), written: other, shown: revealed }, x, y + 28, half);
      if (revealed && backwards) this.verdict(pen, backwards[name], x, y + 20, half);
    }
  }

  /**
   * @param {Pen} pen
   * @param {string} text
   * @param {string} note
   * @param {any} x
   * @param {number} y
   * @param {number} width
   * @param {any} colour
   */
  heading({ context, theme }, text, note, x, y, width, colour) {
    trace(
      context,
      [
        [x, y + 16],
        [x + width, y + 16],
      ],
      { colour, width: 3 },
    );
    write(context, text, x, y, { colour: theme.text, font: theme.font, size: 16, weight: 650, most: width });
    if (note) write(context, note, x, y + 32, { colour: theme.muted, font: theme.font, size: 13, most: width });
    return y + 16;
  }

  /**
   * What the model reads, and below it what it writes. Returns where the next thing may stand.
   * @param {Pen} pen
   * @param {{ read: any, written: any, shown: any }} given
   * @param {any} x
   * @param {number} y
   * @param {number} width
   */
  pair(pen, { read, written, shown }, x, y, width) {
    const { context, theme } = pen;
    const end = paragraph(context, read, x, y + 12, width, { colour: theme.muted, font: theme.font, size: 16 });
    write(context, "\u2193", x + 4, end + 2, { colour: theme.muted, font: theme.font, size: 15 });
    if (shown)
      return paragraph(context, written, x + 22, end + 3, width - 22, {
        colour: theme.text,
        font: theme.font,
        size: 19,
        weight: 600,
      });
    context.fillStyle = theme.line;
    context.globalAlpha = 0.6;
    context.fillRect(x + 22, end - 10, Math.min(width - 22, 270), 27);
    context.globalAlpha = 1;
    write(context, "?", x + 34, end + 3, { colour: theme.text, font: theme.font, size: 17, weight: 700 });
    return end + LINE;
  }

  /**
   * @param {Pen} pen
   * @param {any[]} pair
   * @param {any} x
   * @param {number} y
   * @param {number} width
   */
  verdict({ context, theme }, [one, other], x, y, width) {
    const same = one === other;
    write(context, same ? `= ${this.texts.same}` : `\u2260 ${this.texts.other}`, x + 22, y, {
      colour: same ? theme.kinds.cross : theme.kinds.decoder,
      font: theme.font,
      size: 15,
      weight: 650,
      most: width - 22,
    });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { backwards } = this.lesson.values;
    if (!backwards) return this.texts.computing;
    if (!revealed) return this.texts.predict_say;
    /** @param {any[]} pair */
    const verdict = ([one, other]) => (one === other ? this.texts.same : this.texts.other);
    /** @param {string} name */
    const told = (name) =>
      `${this.texts[`group_${name}`]}: \u201c${backwards[name][1]}\u201d, ${verdict(backwards[name])}.`;
    return `${told("with")} ${told("off")}`;
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    const { backwards } = this.lesson.values;
    if (!backwards || !revealed) return null;
    const rows = ["with", "off"].map((name) => [this.texts[`group_${name}`], ...backwards[name]]);
    return { columns: ["", this.texts.forwards, this.texts.backwards], rows };
  }
}

/** @param {string[]} tokens */
function sentence(tokens) {
  return tokens.join("").replaceAll("\u2581", " ").trim();
}

/**
 * Text in lines of at most some width, MOST_LINES at most. Returns the middle of the line after the last one.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {any} x
 * @param {number} y
 * @param {number} width
 * @param {any} style
 */
function paragraph(context, text, x, y, width, style) {
  context.save();
  context.font = `${style.weight ?? 400} ${style.size}px ${style.font}`;
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (context.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  if (lines.length > MOST_LINES)
    lines.splice(MOST_LINES - 1, lines.length, fitted(context, lines.slice(MOST_LINES - 1).join(" "), width - 4));
  context.restore();
  lines.forEach((line, index) => write(context, line, x, y + index * LINE, { ...style, most: width }));
  return y + lines.length * LINE;
}
