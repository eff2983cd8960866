// The leak: two small decoders, trained with and without the mask, each reading the same translation with and without.

import { fillText, percent } from "../../../components/common/dom.js";
import { Axis } from "../../../components/common/plot.js";
import { bar } from "../../stage/js/bars.js";
import { Scene } from "../../stage/js/scene.js";
import { futureColour, plain } from "./grid.js";

const NARROW = 560;
const RIGHT = 12;

export class Leak extends Scene {
  get models() {
    return this.lesson.values.leak;
  }

  get count() {
    return Math.max(1, ...this.models.map(({ pieces }) => pieces.length));
  }

  get playhead() {
    if (!this.models.length) return null;
    return {
      name: "step",
      label: this.texts.step,
      min: 1,
      max: this.count,
      step: 1,
      rate: 1.2,
      start: Math.min(5, this.count),
      /** @param {number} value */
      show: (value) => String(Math.round(value)),
    };
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    if (!this.models.length) return 220;
    return Math.max(width < NARROW ? 470 : 360, Math.min(room, 640));
  }

  lit() {
    return "past";
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    if (!this.models.length) return this.drawMissing(pen);
    const lane = pen.height / 2;
    this.models.forEach((model, index) => this.drawModel(pen, model, index, index * lane, lane, settings));
    return undefined;
  }

  /** @param {Pen} pen */
  drawMissing(pen) {
    const { theme, width, height } = pen;
    this.texts.leak_missing.split("\n").forEach((line, index) => {
      pen.write(line, width / 2, height / 2 + 22 * index - 11, {
        colour: theme.muted,
        size: width < NARROW ? 12 : 15,
        align: "center",
        most: width - 16,
      });
    });
  }

  /**
   * One model: a pair of bars for each piece, and below them what it writes by itself.
   * @param {Pen} pen
   * @param {any} model
   * @param {number} index
   * @param {number} top
   * @param {number} lane
   * @param {Settings} settings
   */
  drawModel(pen, model, index, top, lane, { step }) {
    const { context, theme, width } = pen;
    const { texts } = this;
    const narrow = width < NARROW;
    const left = narrow ? 34 : 44;
    const across = new Axis(0, model.pieces.length, left, width - RIGHT);
    const axis = new Axis(0, 1, top + lane - 66, top + 46);
    const here = Math.round(step);
    pen.write(index ? texts.trained_open : texts.trained_masked, 0, top + 12, {
      size: narrow ? 13 : 15,
      weight: 650,
      most: width,
    });
    this.drawLosses(pen, model, top, narrow);
    pen.axis(axis, "left", left, { ticks: [0, 0.5, 1], grid: width - RIGHT - left });
    const room = across.place(1) - across.place(0);
    const thick = Math.min(22, room * 0.34);
    model.pieces.forEach((piece, k) => {
      const [middle, shown] = [across.place(k + 0.5), k < here];
      context.globalAlpha = shown ? 1 : 0.2;
      bar(
        context,
        middle - thick - 1,
        axis.place(0),
        thick,
        axis.place(0) - axis.place(model.masked[k]),
        theme.kinds.decoder,
      );
      bar(context, middle + 1, axis.place(0), thick, axis.place(0) - axis.place(model.open[k]), futureColour(theme));
      context.globalAlpha = 1;
      pen.write(plain(piece), middle, axis.place(0) + 12, {
        colour: k === here - 1 ? theme.text : theme.muted,
        font: theme.code,
        size: 12,
        weight: k === here - 1 ? 700 : 400,
        align: "center",
        most: room - 2,
      });
    });
    pen.line(left, axis.place(0), width - RIGHT, axis.place(0), { colour: theme.muted, width: 1 });
    this.drawAlone(pen, model, top + lane - 24, narrow);
  }

  /**
   * Colour, meaning and forced loss of both ways to read.
   * @param {Pen} pen
   * @param {any} model
   * @param {number} top
   * @param {boolean} narrow
   */
  drawLosses(pen, model, top, narrow) {
    const { theme, width } = pen;
    const { texts } = this;
    const size = narrow ? 11 : 13;
    const style = { font: theme.font, size, align: "right" };
    [
      ["masked", theme.kinds.decoder],
      ["open", futureColour(theme)],
    ].forEach(([way, colour], index) => {
      const told = fillText(way === "masked" ? texts.read_masked : texts.read_open, {
        loss: nats(model[way]).toFixed(2),
      });
      const x = narrow ? (index ? width - RIGHT : width / 2) : width - RIGHT - (index ? 0 : 215);
      pen.write(told, x, top + (narrow ? 30 : 13), {
        ...style,
        colour,
        weight: 600,
        most: narrow ? width / 2 - 4 : 210,
      });
    });
  }

  /**
   * @param {Pen} pen
   * @param {any} model
   * @param {number} y
   * @param {boolean} narrow
   */
  drawAlone(pen, model, y, narrow) {
    const { context, theme, width } = pen;
    const style = { font: theme.font, size: narrow ? 12 : 14 };
    pen.write(this.texts.writes_alone, 0, y, { ...style, colour: theme.muted });
    context.font = `400 ${style.size}px ${theme.font}`;
    const start = context.measureText(this.texts.writes_alone).width + 10;
    pen.write(model.alone || this.texts.writes_nothing, start, y, {
      ...style,
      font: model.alone ? theme.code : theme.font,
      weight: 600,
      most: width - start,
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width }) {
    if (!this.models.length) return null;
    const across = new Axis(0, this.count, width < NARROW ? 34 : 44, width - RIGHT);
    return { step: Math.max(1, Math.min(this.count, Math.ceil(across.value(x)))) };
  }

  /** @type {Scene["say"]} */
  say({ step }) {
    if (!this.models.length) return this.texts.leak_missing.replace("\n", " ");
    const at = Math.round(step) - 1;
    const [honest, cheat] = this.models;
    const piece = plain(cheat.pieces[Math.min(at, cheat.pieces.length - 1)]);
    /**
     * @param {any} model
     * @param {string} way
     */
    const read = (model, way) => percent(model[way][Math.min(at, model.pieces.length - 1)]);
    return (
      fillText(this.texts.leak_say, {
        piece,
        honest: read(honest, "masked"),
        cheat: read(cheat, "open"),
        covered: read(cheat, "masked"),
      }) + this.overall()
    );
  }

  /** The same on many sentences, where that was measured. */
  overall() {
    const [honest, cheat] = this.models.map(({ measured }) => measured);
    if (![honest.bleu, honest.nll_masked, cheat.bleu, cheat.nll_unmasked].every(Number.isFinite)) return "";
    const values = {
      honest: honest.nll_masked.toFixed(2),
      cheat: cheat.nll_unmasked.toFixed(2),
      honest_bleu: honest.bleu.toFixed(1),
      cheat_bleu: cheat.bleu.toFixed(1),
    };
    return ` ${fillText(this.texts.leak_overall, values)}`;
  }

  table() {
    if (!this.models.length) return null;
    const { texts } = this;
    const rows = this.models.flatMap((model, index) =>
      model.pieces.map((piece, k) => [
        index ? texts.trained_open : texts.trained_masked,
        plain(piece),
        model.masked[k],
        model.open[k],
      ]),
    );
    return { columns: [texts.decoder, texts.predicts, texts.with_mask, texts.without_mask], rows };
  }
}

/**
 * Mean loss in nats per piece.
 * @param {any[]} probabilities
 */
export function nats(probabilities) {
  return -probabilities.reduce((sum, p) => sum + Math.log(p), 0) / probabilities.length;
}
