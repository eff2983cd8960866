// A training that one can watch: a small model learns to turn words round. Its loss after every update, and where it
// looks in one word; recorded, or live at the server.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { shade } from "../../stage/js/bars.js";
import { Chart } from "../../stage/js/chart.js";
import { choice, playhead } from "../../stage/js/describe.js";
import { split } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const TOP = 30;
const GAP = 14; // between maps
const EDGE = 50; // left of the first map, for the letters

/**
 * A training: its loss after every update, and the attention (moments, heads, queries, keys) after some.
 * @typedef {import("./numbers").Snapshots & { state: string, loss: number[], attention: NdArray }} Run
 */

/** @extends {Scene<import("./numbers").Values>} */
export class Training extends Scene {
  size = { narrow: 430, least: 320, share: 0.5 };

  /** @type {Run} */
  recorded = {
    ...this.lesson.values.recorded,
    state: "done",
    loss: [...this.lesson.arrays.recorded_loss.data],
    attention: this.lesson.arrays.recorded_attention,
  };
  steps = this.recorded.loss.length;
  /** @type {string | null} Of the live run, as far as it was heard of. */
  state = null;
  /** @type {Run | null} */
  live = null;

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

  get controls() {
    const { source, recorded, live, train_now: label } = this.texts;
    return [choice("source", source, { recorded, live }, { server: true }), { name: "start", kind: "button", label }];
  }

  press() {
    return { source: "live", at: 0 };
  }

  /**
   * @param {{ values: import("./numbers").LiveState | import("./numbers").LiveRun, arrays: Arrays }} message
   * @param {Settings} settings
   */
  receive({ values, arrays }, { source }) {
    this.state = values.state;
    if (!("number" in values)) return null;
    const ran = this.live?.state === "running"; // also its last message is followed
    this.live = { ...values, loss: [...(arrays.loss?.data ?? [])], attention: arrays.attention };
    const follows = source === "live" && (ran || values.state === "running");
    return follows ? { at: this.live.loss.length } : null;
  }

  /**
   * Return the drawn run: the recorded or the live one.
   * @param {Settings} settings
   */
  shown({ source }) {
    return source === "live" && this.live ? this.live : this.recorded;
  }

  /** @type {Scene["missing"]} A live run that has nothing to show yet. */
  missing({ source }) {
    if (source !== "live" || this.live?.attention) return null;
    return this.state === "running" ? this.texts.live_waiting : this.texts.live_idle;
  }

  /**
   * Index of the last snapshot up to an update.
   * @param {Run} run
   * @param {number} at
   */
  moment({ moments }, at) {
    return Math.max(
      0,
      moments.findLastIndex((moment) => moment <= at),
    );
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height } = pen;
    const run = this.shown(settings);
    const [loss, maps] = split({ x: 0, y: 0, width, height }, { gap: 24, share: 0.42, top: 176 });
    this.drawLoss(pen, loss, run, settings.at);
    this.drawMaps(pen, maps, run, this.moment(run, settings.at));
  }

  /**
   * @param {Pen} pen
   * @param {Box} box
   * @param {Run} run
   * @param {number} at
   */
  drawLoss(pen, box, run, at) {
    const x = run.loss.map((_, index) => index + 1);
    const chart = new Chart(pen, box, {
      series: [{ x, y: run.loss, marked: true, look: { line: false, radius: 1.2 } }],
      x: { title: this.texts.update, ends: [0, this.steps] },
      y: { title: this.texts.loss_letter, ends: [0, Math.ceil(Math.max(...this.recorded.loss))] },
      cut: at,
      fade: true,
    });
    chart.draw();
    const now = run.loss[Math.max(0, Math.floor(at) - 1)];
    const [shift, align] = at > this.steps * 0.75 ? [-8, "right"] : [8, "left"];
    if (now === undefined) return;
    pen.write(now.toFixed(2), chart.across.place(at) + shift, chart.up.to + 8, { size: 16, weight: 650, align });
  }

  /**
   * A map for each head; beside the rows what the model would write there.
   * @param {Pen} pen
   * @param {Box} box
   * @param {Run} run
   * @param {number} moment
   */
  drawMaps(pen, box, run, moment) {
    const { theme } = pen;
    const [heads, rows, columns] = run.attention.shape.slice(1);
    const widest = (box.width - EDGE - GAP * (heads - 1)) / (heads * columns);
    const cell = Math.floor(Math.min(widest, (box.height - TOP - 44) / rows));
    const side = cell * columns;
    const left = box.x + EDGE;
    const top = box.y + TOP + 16;
    const letter = { font: theme.code, size: Math.min(15, cell - 1), weight: 600, align: "center" };
    const wanted = [...[...run.word].reverse(), "."];
    wanted.forEach((right, row) => {
      const y = top + (row + 0.5) * cell;
      const guess = run.guesses[moment][row];
      const colour = guess === right ? theme.kinds.cross : theme.kinds.decoder;
      pen.write(guess === "." ? "\u2190" : guess, left - 14, y, { ...letter, colour });
      pen.note(right === "." ? "" : right, left - 38, y, { ...letter, weight: 400 });
    });
    for (let head = 0; head < heads; head++) {
      const x = left + head * (side + GAP);
      const weights = run.attention.part(moment, head);
      for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) {
          const colour = shade(theme, weights.at(row, column) / 255);
          pen.fill(x + column * cell, top + row * cell, cell, cell, colour);
        }
      pen.note(fillText(this.texts.head, { head: head + 1 }), x, box.y + 8);
      [...run.word].forEach((read, column) => pen.write(read, x + (column + 0.5) * cell, top - 10, letter));
      pen.frame(x - 0.5, top - 0.5, side + 1, cell * rows + 1, theme.line);
    }
    pen.note(this.texts.maps_say, left, top + cell * rows + 14, { most: box.width - EDGE });
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const run = this.shown(settings);
    const live = settings.source === "live";
    const at = Math.floor(settings.at);
    const guess = run.guesses[this.moment(run, at)].replaceAll(".", "") || "\u2013";
    const others = !live && this.state === "running" ? ` ${this.texts.live_elsewhere}` : "";
    const how = live ? this.texts[`live_${run.state}`] : this.texts.recorded_say;
    return `${fillText(this.texts.training_say, { update: formatCount(at), word: run.word, guess })} ${how}${others}`;
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const run = this.shown(settings);
    const rows = run.moments.map((moment, index) => [moment, moment ? run.loss[moment - 1] : "", run.guesses[index]]);
    return { columns: [this.texts.update, this.texts.loss_letter, this.texts.guess], rows };
  }
}
