// A training that one can watch: a small model learns to turn words round. Its loss after every update, and where it
// looks in one word; recorded, or live at the server.

import { fillText } from "../../../components/common/dom.js";
import { Axis, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { thousands } from "./rate.js";

const WIDE = 600; // from here on the maps stand beside the loss
const TOP = 30;
const FOOT = 38;
const LEFT = 34;

export class Training extends Scene {
  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    const { arrays, values } = lesson;
    this.recorded = {
      ...values.recorded,
      state: "done",
      loss: arrays.recorded_loss.data,
      attention: arrays.recorded_attention,
    };
    this.steps = this.recorded.loss.length;
    this.state = null; // of the live run, as far as it was heard of
    this.live = null;
  }

  get playhead() {
    return {
      name: "at",
      label: this.texts.update,
      min: 0,
      max: this.steps,
      step: 10,
      rate: this.steps / 20,
      start: 0,
      show: thousands,
    };
  }

  get controls() {
    const { texts } = this;
    return [
      {
        name: "source",
        kind: "choice",
        label: texts.source,
        options: [
          ["recorded", texts.recorded],
          ["live", texts.live],
        ],
        start: "recorded",
      },
      { name: "start", kind: "button", label: texts.train_now },
    ];
  }

  press() {
    return { source: "live", at: 0 };
  }

  /** @type {Scene["hear"]} */
  hear({ values, arrays }, { source }) {
    this.state = values.state;
    if (!("number" in values)) return null;
    const ran = this.live?.state === "running"; // also the news of its end are followed
    this.live = { ...values, loss: arrays.loss?.data ?? [], attention: arrays.attention };
    const follows = source === "live" && (ran || values.state === "running");
    return follows ? { at: this.live.loss.length } : null;
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width >= WIDE ? Math.max(320, Math.min(room, width * 0.5)) : 430;
  }

  /**
   * What is drawn: the recorded run or the live one; null where there is none yet.
   * @param {Settings} settings
   */
  shown({ source }) {
    if (source !== "live") return this.recorded;
    return this.live?.attention ? this.live : null;
  }

  /**
   * Index of the last look up to an update.
   * @param {{ moments: any }} given
   * @param {number} at
   */
  moment({ moments }, at) {
    let index = 0;
    while (index + 1 < moments.length && moments[index + 1] <= at) index += 1;
    return index;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, height, theme } = pen;
    const run = this.shown(settings);
    if (!run) {
      const text = this.state === "running" ? this.texts.live_waiting : this.texts.live_idle;
      write(context, text, width / 2, height / 2, {
        colour: theme.muted,
        font: theme.font,
        size: 16,
        align: "center",
        most: width - 20,
      });
      return;
    }
    const wide = width >= WIDE;
    const loss = wide ? { x: 0, y: 0, width: width * 0.4, height } : { x: 0, y: 0, width, height: 176 };
    const maps = wide
      ? { x: loss.width + 34, y: 0, width: width - loss.width - 34, height }
      : { x: 0, y: 190, width, height: height - 190 };
    this.drawLoss(pen, loss, run, settings.at);
    this.drawMaps(pen, maps, run, this.moment(run, settings.at));
  }

  /**
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number, height: number }} box
   * @param {any} run
   * @param {number} at
   */
  drawLoss({ context, theme }, box, run, at) {
    const across = new Axis(0, this.steps, box.x + LEFT, box.x + box.width - 8);
    const high = Math.ceil(Math.max(...this.recorded.loss));
    const up = new Axis(0, high, box.y + box.height - FOOT, box.y + TOP);
    drawAxis(context, up, "left", across.from, { theme, grid: across.to - across.from, ticks: up.ticks(4) });
    drawAxis(context, across, "bottom", up.from, { theme, ticks: across.ticks(box.width > 400 ? 6 : 3) });
    const style = { colour: theme.muted, font: theme.font, size: 12 };
    write(context, this.texts.loss_letter, box.x, box.y + 8, style);
    write(context, this.texts.update, across.to, up.from + 30, { ...style, align: "right" });
    context.save();
    context.fillStyle = theme.kinds.encoder;
    run.loss.forEach((value, index) => {
      context.globalAlpha = index < at ? 0.9 : 0.14;
      context.fillRect(across.place(index + 1) - 1.2, up.place(value) - 1.2, 2.4, 2.4);
    });
    context.restore();
    const x = across.place(at);
    trace(
      context,
      [
        [x, up.to],
        [x, up.from],
      ],
      { colour: theme.text, width: 1.5 },
    );
    const now = run.loss[Math.max(0, Math.floor(at) - 1)];
    if (now !== undefined)
      write(context, now.toFixed(2), at > this.steps * 0.75 ? x - 8 : x + 8, up.to + 8, {
        colour: theme.text,
        font: theme.font,
        size: 16,
        weight: 650,
        align: at > this.steps * 0.75 ? "right" : "left",
      });
  }

  /**
   * A map for each head; beside the rows what the model would write there.
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number, height: number }} box
   * @param {any} run
   * @param {number} moment
   */
  drawMaps(pen, box, run, moment) {
    const { context, theme } = pen;
    const [heads, rows, columns] = run.attention.shape.slice(1);
    const gap = 14;
    const edge = 50; // for the letters at the left
    const cell = Math.floor(
      Math.min((box.width - edge - gap * (heads - 1)) / (heads * columns), (box.height - TOP - 44) / rows),
    );
    const side = cell * columns;
    const left = box.x + edge;
    const top = box.y + TOP + 16;
    const letter = { font: theme.code, size: Math.min(15, cell - 1), weight: 600, align: "center" };
    const wanted = [...[...run.word].reverse(), "."];
    const guess = run.guesses[moment];
    wanted.forEach((right, row) => {
      const y = top + (row + 0.5) * cell;
      const said = guess[row];
      write(context, said === "." ? "\u2190" : said, left - 14, y, {
        ...letter,
        colour: said === right ? theme.kinds.cross : theme.kinds.decoder,
      });
      write(context, right === "." ? "" : right, left - 38, y, { ...letter, weight: 400, colour: theme.muted });
    });
    const small = { colour: theme.muted, font: theme.font, size: 12 };
    for (let head = 0; head < heads; head++) {
      const x = left + head * (side + gap);
      this.drawMap(pen, run.attention.part(moment, head), x, top, cell, rows, columns);
      write(context, fillText(this.texts.head, { head: head + 1 }), x, box.y + 8, small);
      [...run.word].forEach((read, column) =>
        write(context, read, x + (column + 0.5) * cell, top - 10, { ...letter, colour: theme.text }),
      );
      context.strokeStyle = theme.line;
      context.strokeRect(x - 0.5, top - 0.5, side + 1, cell * rows + 1);
    }
    write(context, this.texts.maps_say, left, top + cell * rows + 14, { ...small, most: box.width - edge });
  }

  /**
   * @param {Pen} pen
   * @param {any} weights
   * @param {number} x
   * @param {number} y
   * @param {number} cell
   * @param {any} rows
   * @param {any} columns
   */
  drawMap({ context, theme }, weights, x, y, cell, rows, columns) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const bytes = theme.pixels[weights.at(row, column)];
        context.fillStyle = `rgb(${bytes & 255}, ${(bytes >> 8) & 255}, ${(bytes >> 16) & 255})`;
        context.fillRect(x + column * cell, y + row * cell, cell, cell);
      }
    }
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const run = this.shown(settings);
    if (!run) return this.state === "running" ? this.texts.live_waiting : this.texts.live_idle;
    const at = Math.floor(settings.at);
    const guess = run.guesses[this.moment(run, at)].replaceAll(".", "") || "\u2013";
    const others = settings.source !== "live" && this.state === "running" ? ` ${this.texts.live_elsewhere}` : "";
    const how = settings.source === "live" ? this.texts[`live_${run.state}`] : this.texts.recorded_say;
    return `${fillText(this.texts.training_say, { update: thousands(at), word: run.word, guess })} ${how}${others}`;
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const run = this.shown(settings);
    if (!run) return null;
    const rows = run.moments.map((moment, index) => [moment, moment ? run.loss[moment - 1] : "", run.guesses[index]]);
    return { columns: [this.texts.update, this.texts.loss_letter, this.texts.guess], rows };
  }
}
