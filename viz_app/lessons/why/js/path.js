// Path of a signal from the first token to the last, layer by layer.

import { fillText } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { choice, playhead, slider } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { neighbours, path } from "./table1.js";

const MAX = 20; // tokens
const KINDS = ["attention", "recurrent", "convolution", "dilated", "restricted"];
const [TOP, FOOT, EDGE] = [16, 62, 24];

/** @extends {Scene<import("./numbers").Values>} */
export class Path extends Scene {
  size = { least: 320, most: 560, share: 0.9 };

  get tokens() {
    return this.lesson.values.tokens.slice(0, MAX);
  }

  get playhead() {
    return playhead({ name: "step", label: this.texts.step, max: this.tokens.length - 1, rate: 1.6 });
  }

  get controls() {
    const { texts } = this;
    const layers = Object.fromEntries(KINDS.map((layer) => [layer, texts[`layer_${layer}`]]));
    return [
      choice("layer", texts.layer, layers, { start: "recurrent" }),
      slider({ name: "r", label: "r", min: 1, max: 6, start: 2, where: ({ layer }) => layer === "restricted" }),
    ];
  }

  /** @type {Scene["lit"]} */
  lit({ layer }) {
    return layer;
  }

  /** @param {Settings} settings */
  sizes({ r }) {
    return { n: this.tokens.length, k: 3, r };
  }

  /**
   * The positions that know of the first token after each step.
   * @param {Settings} settings
   */
  known(settings) {
    const sizes = this.sizes(settings);
    const positions = this.tokens.map((_, p) => p);
    const rows = [new Set([0])];
    const steps = path(settings.layer, sizes);
    for (let number = 0; number < steps; number++) {
      const hears = (/** @type {number} */ p) =>
        neighbours(settings.layer, number, p, sizes).some((q) => rows[number].has(q));
      rows.push(new Set(positions.filter(hears)));
    }
    return rows;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height, theme } = pen;
    const n = this.tokens.length;
    const rows = this.known(settings);
    const last = rows.length - 1;
    const now = Math.min(settings.step, last);
    const column = (width - 2 * EDGE) / n;
    const lane = Math.min(64, (height - TOP - FOOT) / Math.max(1, last));
    const x = (/** @type {number} */ p) => EDGE + column * (p + 0.5);
    const y = (/** @type {number} */ row) => height - FOOT - row * lane;
    const radius = Math.max(3, Math.min(9, column / 3, lane / 3 + 1.5));
    for (let row = 1; row <= Math.ceil(now); row++)
      this.links(pen, settings, rows, row, Math.min(1, now - row + 1), x, y);
    rows.forEach((known, row) => {
      for (let p = 0; p < n; p++) {
        const lit = known.has(p) && row <= Math.floor(now + 1e-6);
        pen.dot(x(p), y(row), lit ? radius : radius * 0.62, lit ? theme.kinds.encoder : theme.line);
      }
    });
    if (now >= last - 1e-6) pen.dot(x(n - 1), y(last), radius + 4, "transparent", theme.kinds.decoder);
    this.words(pen, column, x);
  }

  /**
   * The ways on which the signal moves up into a row; `share` of the way is done.
   * @param {Pen} pen
   * @param {Settings} settings
   * @param {Set<number>[]} rows
   * @param {number} row
   * @param {number} share
   * @param {(p: number) => number} x
   * @param {(row: number) => number} y
   */
  links(pen, settings, rows, row, share, x, y) {
    const colour = pen.theme.kinds.encoder;
    const alpha = settings.layer === "attention" ? 0.5 : 0.8;
    for (const p of rows[row])
      for (const q of neighbours(settings.layer, row - 1, p, this.sizes(settings))) {
        if (!rows[row - 1].has(q)) continue;
        const [fromX, fromY] = [x(q), y(row - 1)];
        const [toX, toY] = [fromX + (x(p) - fromX) * share, fromY + (y(row) - fromY) * share];
        pen.line(fromX, fromY, toX, toY, { colour, width: 1.4, alpha });
      }
  }

  /**
   * @param {Pen} pen
   * @param {number} column How wide it is.
   * @param {(p: number) => number} x
   */
  words(pen, column, x) {
    const { theme, height } = pen;
    const turned = column < 52;
    const place = turned ? { align: "right", turn: -Math.PI / 3, most: 40 } : { align: "center", most: column - 6 };
    this.tokens.forEach((token, p) => {
      const ends = p === 0 || p === this.tokens.length - 1;
      const colour = ends ? theme.text : theme.muted;
      const style = { colour, font: theme.code, size: 12.5, weight: ends ? 700 : 400, ...place };
      pen.write(tokenText(token), x(p) + (turned ? 3 : 0), height - FOOT + 22, style);
    });
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const rows = this.known(settings);
    const last = rows.length - 1;
    const step = Math.min(Math.floor(settings.step + 1e-6), last);
    return fillText(step === last ? this.texts.path_arrived : this.texts.path_say, {
      step,
      heard: rows[step].size,
      n: this.tokens.length,
      path: last,
      layer: this.texts[`layer_${settings.layer}`],
    });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { texts } = this;
    return {
      columns: [texts.layer, texts.path],
      rows: KINDS.map((layer) => [texts[`layer_${layer}`], String(path(layer, this.sizes(settings)))]),
    };
  }
}
