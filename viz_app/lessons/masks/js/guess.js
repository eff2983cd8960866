// Predict: which rows would change if the masks were lifted? Every head's freed attention, row by row, once revealed.

import { Axis } from "../../../components/common/draw/plot.js";
import { percent } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { futureColour } from "./grid.js";
import { HeadScene } from "./headscene.js";

const LEFT = 52;
const RIGHT = 18;
const FOOT = 58;
const HEAD = 48;

export class Guess extends HeadScene {
  size = { least: 300, most: 560, share: 0.6 };

  /** @type {number[][] | undefined} */
  known;

  get controls() {
    return [];
  }

  /** Freed attention of every head, [row][head]. */
  get masses() {
    const [heads] = this.lesson.arrays.scores.shape;
    this.known ??= Array.from({ length: this.count }, (_, row) =>
      Array.from({ length: heads }, (_, head) => this.freed(head, row)),
    );
    return this.known;
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { theme, width, height, revealed } = pen;
    const { inputs } = this.lesson.values;
    const across = new Axis(0, this.count, LEFT, width - RIGHT);
    const axis = new Axis(0, 1, height - FOOT, HEAD);
    const room = across.place(1) - across.place(0);
    pen.axis(axis, "left", LEFT, { ticks: [0, 0.25, 0.5, 0.75, 1], show: percent, grid: width - RIGHT - LEFT });
    inputs.forEach((token, row) => {
      const middle = across.place(row + 0.5);
      const place = room > 44 ? { align: "center", most: room - 4 } : { align: "right", most: 56, turn: -Math.PI / 4 };
      pen.write(tokenText(token), middle, height - FOOT + 16, { ...place, font: theme.code, size: 12 });
      const unknown = { colour: theme.muted, size: 26, weight: 600, align: "center" };
      if (!revealed) pen.write("?", middle, axis.place(0.5), unknown);
      else this.drawRow(pen, row, middle, axis, room);
    });
    pen.note(this.texts.freed, LEFT, 8, { most: width - LEFT });
  }

  /**
   * A dot for each head, and their mean as a line.
   * @param {Pen} pen
   * @param {number} row
   * @param {number} middle
   * @param {Axis} axis
   * @param {number} room
   */
  drawRow(pen, row, middle, axis, room) {
    const { context, theme } = pen;
    const masses = this.masses[row];
    masses.forEach((mass, head) => {
      context.globalAlpha = 0.55;
      pen.dot(middle + (((head * 7) % 11) / 10 - 0.5) * room * 0.5, axis.place(mass), 3, futureColour(theme));
    });
    context.globalAlpha = 1;
    const mean = masses.reduce((sum, mass) => sum + mass, 0) / masses.length;
    const y = axis.place(mean);
    pen.line(middle - room * 0.36, y, middle + room * 0.36, y, { colour: theme.text, width: 2.5 });
    pen.write(percent(mean), middle, HEAD - 16, { size: 12, weight: 600, align: "center" });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    return revealed ? this.texts.guess_say : this.texts.guess_ask;
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed) return null;
    const { inputs } = this.lesson.values;
    const rows = this.masses.flatMap((masses, row) =>
      masses.map((mass, head) => [tokenText(inputs[row]), this.address(head), mass]),
    );
    return { columns: [this.texts.reads, this.texts.head, this.texts.freed], rows };
  }
}
