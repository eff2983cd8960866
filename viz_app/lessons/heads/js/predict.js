// Every head switched off alone: how often does the translation stay the same? Hidden until it is revealed.

import { fillText } from "../../../components/common/dom.js";
import { signed } from "../../../components/common/format.js";
import { Axis, trace, write } from "../../../components/common/plot.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { HeadGrid } from "./grid.js";
import { KINDS, named } from "./roles.js";

const NARROW = 620;

export class Predict extends Scene {
  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 460 : Math.max(360, Math.min(room, 540));
  }

  get ready() {
    return this.lesson.values.alone !== null;
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { context, width, height, theme, revealed } = pen;
    const narrow = width < NARROW;
    const place = narrow ? { x: 0, y: 0, width, height: 150 } : { x: 0, y: 0, width: width * 0.3, height: height - 4 };
    const grid = new HeadGrid(this.lesson.values.roles, { ...place, stacked: !narrow });
    grid.drawLabels(pen, this.texts);
    const open = revealed && this.ready;
    const { changes, same } = this.lesson.arrays;
    const most = open ? Math.max(...Array.from(changes.data, Math.abs)) : 1;
    grid.forEach((kind, layer, head, tile, number) => {
      context.fillStyle = open && !same.data[number] ? theme.kinds.decoder : open ? theme.kinds.encoder : theme.line;
      context.globalAlpha = open ? 0.2 + (0.8 * Math.abs(changes.data[number])) / most : 1;
      context.fillRect(tile.x, tile.y, tile.size, tile.size);
      context.globalAlpha = 1;
    });
    const left = narrow ? 8 : grid.width + 56;
    const top = narrow ? grid.height + 20 : 0;
    if (open) this.drawChanges(pen, left, top, width - left, height - top);
    else
      write(context, this.ready ? "?" : this.texts.computing, left + (width - left) / 2, top + (height - top) / 2, {
        colour: theme.line,
        font: theme.font,
        size: this.ready ? 120 : 15,
        weight: 700,
        align: "center",
      });
  }

  /**
   * All heads by what switching them off costs.
   * @param {Pen} pen
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  drawChanges({ context, theme }, x, y, width, height) {
    const { alone } = this.lesson.values;
    const order = this.order();
    write(context, fillText(this.texts.same_of, { same: alone.same, heads: alone.heads }), x, y + 14, {
      colour: theme.text,
      font: theme.font,
      size: 18,
      weight: 650,
      most: width,
    });
    write(context, alone.text, x, y + 38, { colour: theme.muted, font: theme.font, size: 13, most: width });
    const values = order.map((number) => this.lesson.arrays.changes.data[number]);
    const up = new Axis(Math.min(0, ...values), Math.max(0, ...values), y + height - 58, y + 66);
    const bar = (width - 44) / values.length;
    values.forEach((value, place) => {
      context.fillStyle = this.lesson.arrays.same.data[order[place]] ? theme.kinds.encoder : theme.kinds.decoder;
      context.fillRect(
        x + 44 + place * bar,
        Math.min(up.place(0), up.place(value)),
        Math.max(1, bar - (bar > 3 ? 1 : 0)),
        Math.abs(up.place(value) - up.place(0)) || 1,
      );
    });
    trace(
      context,
      [
        [x + 44, up.place(0)],
        [x + width, up.place(0)],
      ],
      { colour: theme.muted, width: 1 },
    );
    for (const tick of up.ticks(4))
      write(context, signed(tick, 1), x + 38, up.place(tick), {
        colour: theme.muted,
        font: theme.font,
        size: 12,
        align: "right",
      });
    const down = wrapped(context, this.texts.by_harm, x, y + height - 40, width, {
      colour: theme.muted,
      font: theme.font,
      size: 12,
    });
    if (alone.same < alone.heads)
      write(context, this.texts.words_change, x, y + height - 40 + down, {
        colour: theme.kinds.decoder,
        font: theme.font,
        size: 12,
        most: width,
      });
  }

  /** Numbers of the heads, the most harmful first. */
  order() {
    const { data } = this.lesson.arrays.changes;
    return Array.from(data.keys()).sort((a, b) => data[a] - data[b]);
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    if (!this.ready) return this.texts.computing;
    if (!revealed) return this.texts.predict_say;
    const { alone } = this.lesson.values;
    return fillText(this.texts.predict_answer, { same: alone.same, heads: alone.heads });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    if (!revealed || !this.ready) return null;
    const { texts } = this;
    const heads = KINDS.flatMap((kind) => this.lesson.values.roles[kind].flat());
    const { changes, same } = this.lesson.arrays;
    const rows = this.order().map((number) => [
      `${texts[heads[number].kind]} ${named(heads[number].layer, heads[number].head)}`,
      changes.data[number],
      same.data[number] ? texts.yes : texts.no,
    ]);
    return { columns: [texts.head, texts.change, texts.stays], rows };
  }
}
