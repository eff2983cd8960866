// A recorded training: a small model learns to write words backwards. Its loss after every step, and its attention for
// one word.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { shade } from "../../stage/js/bars.js";
import { Chart } from "../../stage/js/chart.js";
import { playhead } from "../../stage/js/describe.js";
import { split } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const TOP = 30;
const GAP = 14; // between maps
const EDGE = 50; // left of the first map, for the letters
const END = "\u2190"; // for the end sign

/** @extends {Scene<import("./numbers").Values>} */
export class Training extends Scene {
  size = { narrow: 430, least: 320, share: 0.5 };

  recorded = this.lesson.values.recorded;
  /** @type {number[]} Of every step. */
  loss = [...this.lesson.arrays.recorded_loss.data];
  /** Attention after some steps: (moments, heads, queries, keys) */
  attention = this.lesson.arrays.recorded_attention;
  steps = this.loss.length;

  get playhead() {
    const { steps } = this;
    return playhead({
      name: "at",
      label: this.texts.update,
      max: steps,
      step: 10,
      rate: steps / 20,
      show: formatCount,
    });
  }

  /**
   * Index of the last snapshot up to a step.
   * @param {number} at
   */
  moment(at) {
    const { moments } = this.recorded;
    return Math.max(
      0,
      moments.findLastIndex((moment) => moment <= at),
    );
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height } = pen;
    const [loss, maps] = split({ x: 0, y: 0, width, height }, { gap: 24, share: 0.42, top: 176 });
    this.drawLoss(pen, loss, settings.at);
    this.drawMaps(pen, maps, this.moment(settings.at));
  }

  /**
   * @param {Pen} pen
   * @param {Box} box
   * @param {number} at
   */
  drawLoss(pen, box, at) {
    const x = this.loss.map((_, index) => index + 1);
    const chart = new Chart(pen, box, {
      series: [{ x, y: this.loss, marked: true, look: { line: false, radius: 1.2 } }],
      x: { title: this.texts.update, ends: [0, this.steps] },
      y: { title: this.texts.loss_letter, ends: [0, Math.ceil(Math.max(...this.loss))] },
      cut: at,
      fade: true,
    });
    chart.draw();
    const now = this.loss[Math.max(0, Math.floor(at) - 1)];
    const [shift, align] = at > this.steps * 0.75 ? [-8, "right"] : [8, "left"];
    if (now === undefined) return;
    pen.write(now.toFixed(2), chart.across.place(at) + shift, chart.up.to + 8, { size: 16, weight: 650, align });
  }

  /**
   * A map for each head; beside the rows what the model writes there.
   * @param {Pen} pen
   * @param {Box} box
   * @param {number} moment
   */
  drawMaps(pen, box, moment) {
    const { theme } = pen;
    const { word, guesses } = this.recorded;
    const [heads, rows, columns] = this.attention.shape.slice(1);
    const widest = (box.width - EDGE - GAP * (heads - 1)) / (heads * columns);
    const cell = Math.floor(Math.min(widest, (box.height - TOP - 44) / rows));
    const side = cell * columns;
    const left = box.x + EDGE;
    const top = box.y + TOP + 16;
    const letter = { font: theme.code, size: Math.min(15, cell - 1), weight: 600, align: "center" };
    backwards(word).forEach((right, row) => {
      const y = top + (row + 0.5) * cell;
      const guess = guesses[moment][row] ?? "";
      const colour = guess === right ? theme.kinds.cross : theme.kinds.decoder;
      pen.write(guess === "." ? END : guess, left - 14, y, { ...letter, colour });
      pen.note(right === "." ? "" : right, left - 38, y, { ...letter, weight: 400 });
    });
    for (let head = 0; head < heads; head++) {
      const x = left + head * (side + GAP);
      const weights = this.attention.part(moment, head);
      for (let row = 0; row < guesses[moment].length; row++)
        for (let column = 0; column < columns; column++) {
          const colour = shade(theme, weights.at(row, column) / 255);
          pen.fill(x + column * cell, top + row * cell, cell, cell, colour);
        }
      pen.note(fillText(this.texts.head, { head: head + 1 }), x, box.y + 8);
      [...word].forEach((read, column) => pen.write(read, x + (column + 0.5) * cell, top - 10, letter));
      pen.frame(x - 0.5, top - 0.5, side + 1, cell * rows + 1, theme.line);
    }
    pen.note(this.texts.maps_say, left, top + cell * rows + 14, { most: box.width - EDGE });
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { word, guesses } = this.recorded;
    const at = Math.floor(settings.at);
    const guess = guesses[this.moment(at)];
    const right = rightLetters(word, guess);
    const all = word.length + 1;
    const written = guess.replace(".", END);
    return fillText(this.texts.training_say, { update: formatCount(at), word, right, all, guess: written });
  }

  /** @type {Scene["table"]} */
  table() {
    const { moments, guesses } = this.recorded;
    const rows = moments.map((moment, index) => [moment, moment ? this.loss[moment - 1] : "", guesses[index]]);
    return { columns: [this.texts.update, this.texts.loss_letter, this.texts.guess], rows };
  }
}

/**
 * The letters to write, and the end sign.
 * @param {string} word
 */
function backwards(word) {
  return [...[...word].reverse(), "."];
}

/**
 * Count the places where a guess is right, the end sign included.
 * @param {string} word
 * @param {string} guess
 */
export function rightLetters(word, guess) {
  return backwards(word).filter((letter, place) => guess[place] === letter).length;
}
