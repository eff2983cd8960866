// The leak: two small decoders, trained with and without the mask, each reading the same translation with and without.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, percent } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { stepPlayhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { futureColour } from "./grid.js";

const RIGHT = 12;

/** @extends {Scene<import("./numbers").Values>} */
export class Leak extends Scene {
  term = "past";

  get models() {
    return this.lesson.values.leak;
  }

  get count() {
    return Math.max(1, ...this.models.map(({ tokens }) => tokens.length));
  }

  get playhead() {
    if (!this.models.length) return null;
    return stepPlayhead(this.texts.step, this.count, { start: Math.min(5, this.count) });
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(isNarrow(width) ? 470 : 360, Math.min(room, 640));
  }

  missing() {
    return this.models.length ? null : this.texts.leak_missing.replace("\n", " ");
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const lane = pen.height / 2;
    this.models.forEach((model, index) => this.drawModel(pen, model, index, index * lane, lane, settings));
  }

  /**
   * One model: a pair of bars for each token, and below them what it writes by itself.
   * @param {Pen} pen
   * @param {import("./numbers").Reading} model
   * @param {number} index
   * @param {number} top
   * @param {number} lane
   * @param {Settings} settings
   */
  drawModel(pen, model, index, top, lane, { step }) {
    const { theme, width } = pen;
    const { texts } = this;
    const narrow = isNarrow(width);
    const left = narrow ? 34 : 44;
    const across = new Axis(0, model.tokens.length, left, width - RIGHT);
    const axis = new Axis(0, 1, top + lane - 66, top + 46);
    const here = Math.round(step);
    const title = { size: narrow ? 13 : 15, weight: 650, most: width };
    pen.write(index ? texts.trained_open : texts.trained_masked, 0, top + 12, title);
    this.drawLosses(pen, model, top, narrow);
    pen.axis(axis, "left", left, { ticks: [0, 0.5, 1], grid: width - RIGHT - left });
    const room = across.place(1) - across.place(0);
    const thick = Math.min(22, room * 0.34);
    const base = axis.place(0);
    model.tokens.forEach((token, k) => {
      const middle = across.place(k + 0.5);
      const alpha = k < here ? 1 : 0.2;
      const [masked, open] = [axis.place(model.masked[k]), axis.place(model.open[k])];
      pen.fill(middle - thick - 1, masked, thick, base - masked, theme.kinds.decoder, alpha);
      pen.fill(middle + 1, open, thick, base - open, futureColour(theme), alpha);
      const now = k === here - 1;
      const style = { colour: now ? theme.text : theme.muted, font: theme.code, weight: now ? 700 : 400 };
      pen.note(tokenText(token), middle, base + 12, { ...style, align: "center", most: room - 2 });
    });
    pen.line(left, base, width - RIGHT, base, { colour: theme.muted, width: 1 });
    this.drawAlone(pen, model, top + lane - 24, narrow);
  }

  /**
   * Colour, meaning and forced loss of both ways to read.
   * @param {Pen} pen
   * @param {import("./numbers").Reading} model
   * @param {number} top
   * @param {boolean} narrow
   */
  drawLosses(pen, model, top, narrow) {
    const { theme, width } = pen;
    const { texts } = this;
    const style = { size: narrow ? 11 : 13, weight: 600, align: "right", most: narrow ? width / 2 - 4 : 210 };
    const [y, gap] = narrow ? [top + 30, width / 2 - RIGHT] : [top + 13, 215];
    const [masked, open] = [model.masked, model.open].map((read) => ({ loss: nats(read).toFixed(2) }));
    pen.write(fillText(texts.read_masked, masked), width - RIGHT - gap, y, { ...style, colour: theme.kinds.decoder });
    pen.write(fillText(texts.read_open, open), width - RIGHT, y, { ...style, colour: futureColour(theme) });
  }

  /**
   * @param {Pen} pen
   * @param {import("./numbers").Reading} model
   * @param {number} y
   * @param {boolean} narrow
   */
  drawAlone(pen, model, y, narrow) {
    const { theme, width } = pen;
    const size = narrow ? 12 : 14;
    pen.note(this.texts.writes_alone, 0, y, { size });
    const start = pen.measure(this.texts.writes_alone, { size }) + 10;
    const font = model.alone ? theme.code : theme.font;
    pen.write(model.alone || this.texts.writes_nothing, start, y, { font, size, weight: 600, most: width - start });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width }) {
    const across = new Axis(0, this.count, isNarrow(width) ? 34 : 44, width - RIGHT);
    return { step: Math.max(1, Math.min(this.count, Math.ceil(across.value(x)))) };
  }

  /** @type {Scene["say"]} */
  say({ step }) {
    const at = Math.round(step) - 1;
    const [honest, cheat] = this.models;
    const token = tokenText(cheat.tokens[Math.min(at, cheat.tokens.length - 1)]);
    /**
     * @param {import("./numbers").Reading} model
     * @param {"masked" | "open"} way
     */
    const read = (model, way) => percent(model[way][Math.min(at, model.tokens.length - 1)]);
    const values = { honest: read(honest, "masked"), cheat: read(cheat, "open"), covered: read(cheat, "masked") };
    return fillText(this.texts.leak_say, { token, ...values }) + this.overall();
  }

  /** Add the result on many sentences, where it was measured. */
  overall() {
    const [honest, cheat] = this.models.map(({ measured }) => measured);
    const values = {
      honest: honest.nll_masked?.toFixed(2),
      cheat: cheat.nll_unmasked?.toFixed(2),
      honest_bleu: honest.bleu?.toFixed(1),
      cheat_bleu: cheat.bleu?.toFixed(1),
    };
    return Object.values(values).includes(undefined) ? "" : ` ${fillText(this.texts.leak_overall, values)}`;
  }

  table() {
    const { texts } = this;
    const names = [texts.trained_masked, texts.trained_open];
    const rows = this.models.flatMap(({ tokens, masked, open }, index) =>
      tokens.map((token, k) => [names[index], tokenText(token), masked[k], open[k]]),
    );
    return { columns: [texts.decoder, texts.predicts, texts.with_mask, texts.without_mask], rows };
  }
}

/**
 * Mean loss in nats per token.
 * @param {number[]} probabilities
 */
export function nats(probabilities) {
  return -probabilities.reduce((sum, p) => sum + Math.log(p), 0) / probabilities.length;
}
