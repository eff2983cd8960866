// A head with its mask, without it, and the difference; a step bar stops at the row of the decoding.

import { fillText, percent } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { shade, twoSided } from "../../stage/js/bars.js";
import { stepPlayhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { futureColour, Grid } from "./grid.js";
import { HeadScene } from "./headscene.js";

export class Compare extends HeadScene {
  term = "mask";

  get playhead() {
    return stepPlayhead(this.texts.step, this.count, { start: Math.min(4, this.count) });
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    if (isNarrow(width)) return 3 * (this.count * 13 + 34) + 44;
    return Math.max(300, Math.min(room, (width - 190) / 3 + 120));
  }

  /**
   * Three maps beside each other, or below each other where there is no room.
   * @param {number} width
   * @param {number} height
   */
  place(width, height) {
    const below = isNarrow(width);
    const side = below ? 58 : 92;
    const inner = below ? width - 2 * side : (width - 2 * side - 36) / 3;
    const head = Grid.headroom(inner, this.count) + 24;
    const tall = below ? (height - head - 16 - 2 * 30) / 3 : Math.min(height - head - 30, inner * 1.1);
    return [0, 1, 2].map((index) => {
      const left = below ? side : side + index * (inner + 18);
      return new Grid(left, below ? head + index * (tall + 30) : head, inner, tall, this.count, this.count);
    });
  }

  /** @type {Scene["draw"]} */
  draw(pen, { step, head }) {
    const { theme, width, height } = pen;
    const { texts } = this;
    const { inputs, outputs } = this.lesson.values;
    const grids = this.place(width, height);
    const row = Math.round(step) - 1;
    const masked = inputs.map((_, q) => this.weights(head, q, 0));
    const unmasked = inputs.map((_, q) => this.weights(head, q, 1));
    /** @type {((q: number, k: number) => string)[]} */
    const colours = [
      (q, k) => shade(theme, masked[q][k]),
      (q, k) => shade(theme, unmasked[q][k]),
      (q, k) => twoSided(theme, masked[q][k] - unmasked[q][k]),
    ];
    const below = isNarrow(width);
    /** @param {number} q */
    const strong = (q) => q === row;
    grids.forEach((grid, index) => {
      grid.paint(pen, (q, k) => (q <= row ? colours[index](q, k) : null));
      grid.paint(pen, (q, k) => (q > row ? colours[index](q, k) : null), 0.25);
      if (index === 0) grid.hatch(pen, (q, k) => k > q);
      grid.frame(pen);
      grid.outline(pen, row, theme.kinds.decoder);
      const heading = [texts.masked, texts.unmasked, texts.difference][index];
      const top = below && index ? grid.top - 12 : 9;
      const style = { weight: 600, align: "center", most: grid.width + 60 };
      pen.write(heading, grid.left + grid.width / 2, top, style);
      if (!below || index === 0) grid.nameColumns(pen, inputs, { strong });
      if (below || index === 0) grid.nameRows(pen, inputs, "left", { strong, most: grid.left - 12 });
      if (below || index === 2) grid.nameRows(pen, outputs, "right", { strong, most: 80 });
      if (index === 1) this.ringAnswers(pen, grid, row);
    });
    this.nameSides(pen, grids, below);
    this.sum(pen, grids, row, unmasked[row]);
  }

  /**
   * The cell that holds what its row is asked for: one to the right of the diagonal.
   * @param {Pen} pen
   * @param {Grid} grid
   * @param {number} row
   */
  ringAnswers({ context, theme }, grid, row) {
    const [wide, high] = [grid.cell, grid.row].map((side) => Math.max(3, side / 2 - 1.5));
    context.save();
    context.strokeStyle = futureColour(theme);
    for (let q = 0; q + 1 < this.count; q++) {
      context.globalAlpha = q <= row ? 1 : 0.3;
      context.lineWidth = q === row ? 2.5 : 1.5;
      context.beginPath();
      context.ellipse(grid.middle(q + 1), grid.y(q + 0.5), wide, high, 0, 0, 2 * Math.PI);
      context.stroke();
    }
    context.restore();
  }

  /**
   * @param {Pen} pen
   * @param {Grid[]} grids
   * @param {boolean} below
   */
  nameSides(pen, grids, below) {
    const style = { size: below ? 11 : 12, most: grids[0].left - 8 };
    const last = grids[below ? 0 : 2];
    pen.note(this.texts.reads, grids[0].left - 8, 9, { ...style, align: "right" });
    pen.note(this.texts.predicts, last.left + last.width + 8, 9, style);
  }

  /**
   * Below the maps: what the row keeps, and what it would take from the future.
   * @param {Pen} pen
   * @param {Grid[]} grids
   * @param {number} row
   * @param {number[]} unmasked
   */
  sum(pen, grids, row, unmasked) {
    const { theme, width, height } = pen;
    if (isNarrow(width)) return;
    const future = unmasked.reduce((total, weight, k) => total + (k > row ? weight : 0), 0);
    const { future: ahead, moved } = this.texts;
    const freed = percent(future);
    const sums = [
      { text: "\u03a3 = 1.00", colour: theme.text },
      { text: `${ahead} ${freed}`, colour: futureColour(theme) },
      { text: fillText(moved, { freed }), colour: theme.kinds.decoder },
    ];
    grids.forEach(({ left, width: wide, top, height: tall }, index) => {
      const { text, colour } = sums[index];
      pen.write(text, left + wide / 2, Math.min(height - 12, top + tall + 18), {
        colour,
        weight: 600,
        align: "center",
      });
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width, height }) {
    const row = this.place(width, height)
      .map((grid) => grid.rowAt(y))
      .find((each) => each !== null);
    return row === undefined || row === null ? null : { step: row + 1 };
  }

  /** @type {Scene["say"]} */
  say({ step, head }) {
    const row = Math.round(step) - 1;
    const unmasked = this.weights(head, row, 1);
    const last = row + 1 === this.count;
    return this.filled(last ? this.texts.compare_last : this.texts.compare_say, row, {
      answer: last ? "" : percent(unmasked[row + 1]),
      freed: percent(this.freed(head, row)),
    });
  }

  /** @type {Scene["table"]} */
  table({ head }) {
    const { texts } = this;
    const { inputs } = this.lesson.values;
    const rows = inputs.flatMap((query, q) => {
      const [masked, unmasked] = [this.weights(head, q, 0), this.weights(head, q, 1)];
      return inputs.map((key, k) => [
        tokenText(query),
        tokenText(key),
        masked[k],
        unmasked[k],
        masked[k] - unmasked[k],
      ]);
    });
    return { columns: [texts.reads, texts.looks_at, texts.masked, texts.unmasked, texts.difference], rows };
  }
}
