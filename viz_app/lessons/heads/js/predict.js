// Every head switched off alone: how often does the translation stay the same? Hidden until it is revealed.

import { Axis } from "../../../components/common/draw/plot.js";
import { headAddress, KINDS } from "../../../components/common/heads/heads.js";
import { fillText, signed } from "../../../components/common/text/format.js";
import { HeadGrid } from "../../stage/js/headgrid.js";
import { isNarrow } from "../../stage/js/layout.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";

/** @extends {Scene<import("./numbers").Values>} */
export class Predict extends Scene {
  size = { narrow: 460, least: 360, most: 540 };

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { width, height, theme, revealed } = pen;
    const { roles, alone } = this.lesson.values;
    const narrow = isNarrow(width);
    const grid = new HeadGrid(roles, pen, 0.3, 150);
    grid.drawLabels(pen, this.texts);
    const open = revealed && alone;
    const { changes } = this.lesson.arrays;
    const most = open ? Math.max(...changes.data.map(Math.abs)) : 1;
    grid.forEach((_, { x, y, size }, number) => {
      if (!open) pen.fill(x, y, size, size, theme.line);
      else pen.fill(x, y, size, size, this.colour(theme, number), 0.2 + (0.8 * Math.abs(changes.data[number])) / most);
    });
    const left = narrow ? 8 : grid.width + 56;
    const top = narrow ? grid.height + 20 : 0;
    if (open) {
      this.drawChanges(pen, alone, { x: left, y: top, width: width - left, height: height - top });
      return;
    }
    const style = { colour: theme.muted, size: alone ? 120 : 15, weight: 700, align: "center" };
    pen.write(alone ? "?" : this.texts.computing, left + (width - left) / 2, top + (height - top) / 2, style);
  }

  /**
   * Return the colour of a head: dispensable, or changing the translation.
   * @param {Theme} theme
   * @param {number} number
   */
  colour({ kinds }, number) {
    return this.lesson.arrays.same.data[number] ? kinds.encoder : kinds.decoder;
  }

  /**
   * All heads by what switching them off costs.
   * @param {Pen} pen
   * @param {NonNullable<import("./numbers").Values["alone"]>} alone
   * @param {Box} place
   */
  drawChanges(pen, alone, { x, y, width, height }) {
    const { theme } = pen;
    const order = this.order();
    const title = fillText(this.texts.same_of, { same: alone.same, heads: alone.heads });
    pen.write(title, x, y + 14, { size: 18, weight: 650, most: width });
    pen.note(alone.text, x, y + 38, { size: 13, most: width });
    const values = order.map((number) => this.lesson.arrays.changes.data[number]);
    const up = new Axis(Math.min(0, ...values), Math.max(0, ...values), y + height - 58, y + 66);
    const bar = (width - 44) / values.length;
    const wide = Math.max(1, bar - (bar > 3 ? 1 : 0));
    const zero = up.place(0);
    values.forEach((value, place) => {
      const end = up.place(value);
      const colour = this.colour(theme, order[place]);
      pen.fill(x + 44 + place * bar, Math.min(zero, end), wide, Math.abs(end - zero) || 1, colour);
    });
    pen.line(x + 44, zero, x + width, zero, { colour: theme.muted, width: 1 });
    for (const tick of up.ticks(4)) pen.note(signed(tick, 1), x + 38, up.place(tick), { align: "right" });
    const foot = y + height - 40;
    const down = wrapped(pen, this.texts.by_harm, x, foot, width, { colour: theme.muted, size: 12 });
    if (alone.same < alone.heads)
      pen.note(this.texts.words_change, x, foot + down, { colour: theme.kinds.decoder, most: width });
  }

  /** Numbers of the heads, the most harmful first. */
  order() {
    const { data } = this.lesson.arrays.changes;
    return Array.from(data.keys()).sort((a, b) => data[a] - data[b]);
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { alone } = this.lesson.values;
    if (!alone) return this.texts.computing;
    if (!revealed) return this.texts.predict_say;
    return fillText(this.texts.predict_answer, { same: alone.same, heads: alone.heads });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    const { texts } = this;
    const { roles, alone } = this.lesson.values;
    if (!revealed || !alone) return null;
    const heads = KINDS.flatMap((kind) => roles[kind].flat());
    const { changes, same } = this.lesson.arrays;
    const rows = this.order().map((number) => {
      const { kind, layer, head } = heads[number];
      const stays = same.data[number] ? texts.yes : texts.no;
      return [headAddress({ kind, layer, head }), changes.data[number], stays];
    });
    return { columns: [texts.head, texts.change, texts.stays], rows };
  }
}
