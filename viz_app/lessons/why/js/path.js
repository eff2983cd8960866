// How a signal travels from the first token to the last: layer by layer, until it arrives.

import { fillText } from "../../../components/common/dom.js";
import { dot, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { neighbours, path } from "./table1.js";

const MOST = 20; // tokens
const KINDS = ["attention", "recurrent", "convolution", "dilated", "restricted"];
const [TOP, FOOT] = [16, 62];

export class Path extends Scene {
  get tokens() {
    return this.lesson.values.tokens.slice(0, MOST);
  }

  get playhead() {
    const last = this.tokens.length - 1;
    return {
      name: "step",
      label: this.texts.step,
      min: 0,
      max: last,
      step: 1,
      rate: 1.6,
      start: 0,
      /** @param {number} value */
      show: (value) => String(Math.floor(value + 1e-6)),
    };
  }

  get controls() {
    const { texts } = this;
    return [
      {
        name: "layer",
        kind: "choice",
        label: texts.layer,
        options: KINDS.map((layer) => [layer, texts[`layer_${layer}`]]),
        start: "recurrent",
      },
      { name: "r", kind: "range", label: "r", min: 1, max: 6, step: 1, start: 2 },
    ];
  }

  /** @type {Scene["lit"]} */
  lit({ layer }) {
    return layer;
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(320, Math.min(560, room, width * 0.9));
  }

  /**
   * The positions that know of the first token after each step.
   * @param {Settings} settings
   */
  known({ layer, r }) {
    const n = this.tokens.length;
    const rows = [new Set([0])];
    const steps = path(layer, { n, k: 3, r });
    for (let number = 0; number < steps; number++) {
      const before = rows[number];
      rows.push(
        new Set(
          Array.from({ length: n }, (_, p) => p).filter((p) =>
            neighbours(layer, number, p, { n, k: 3, r }).some((q) => before.has(q)),
          ),
        ),
      );
    }
    return rows;
  }

  /** @type {Scene["draw"]} */
  draw({ context, width, height, theme }, settings) {
    const { tokens } = this;
    const n = tokens.length;
    const rows = this.known(settings);
    const now = Math.min(settings.step, rows.length - 1);
    /** @param {number} p */
    const x = (p) => 24 + ((width - 48) * (p + 0.5)) / n;
    const lane = Math.min(64, (height - TOP - FOOT) / Math.max(1, rows.length - 1));
    /** @param {number} row */
    const y = (row) => height - FOOT - row * lane;
    const radius = Math.max(3, Math.min(9, (width - 48) / n / 3, lane / 3 + 1.5));
    for (let row = 1; row <= Math.ceil(now); row++)
      this.links(context, settings, rows, row, Math.min(1, now - row + 1), { x, y, theme, n });
    rows.forEach((known, row) => {
      for (let p = 0; p < n; p++) {
        const lit = known.has(p) && row <= Math.floor(now + 1e-6);
        dot(context, x(p), y(row), lit ? radius : radius * 0.62, lit ? theme.kinds.encoder : theme.line);
      }
    });
    const done = now >= rows.length - 1 - 1e-6;
    if (done) dot(context, x(n - 1), y(rows.length - 1), radius + 4, "transparent", theme.kinds.decoder);
    this.words(context, { tokens, x, width, height, theme, n });
  }

  /**
   * The ways on which the signal moves up into a row; `share` of the way is done.
   * @param {CanvasRenderingContext2D} context
   * @param {Settings} settings
   * @param {Set<number>[]} rows
   * @param {number} row
   * @param {number} share
   * @param {{ x: any, y: any, theme: Theme, n: number }} given
   */
  links(context, settings, rows, row, share, { x, y, theme, n }) {
    const faint = settings.layer === "attention" ? 0.5 : 0.8;
    for (let p = 0; p < n; p++) {
      if (!rows[row].has(p)) continue;
      for (const q of neighbours(settings.layer, row - 1, p, { n, k: 3, r: settings.r })) {
        if (!rows[row - 1].has(q)) continue;
        const [a, b] = [
          [x(q), y(row - 1)],
          [x(p), y(row)],
        ];
        trace(context, [a, [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share]], {
          colour: theme.kinds.encoder,
          width: 1.4,
          alpha: faint,
        });
      }
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{ tokens: string[], x: any, width: number, height: number, theme: Theme, n: number }} given
   */
  words(context, { tokens, x, width, height, theme, n }) {
    const room = (width - 48) / n;
    tokens.forEach((token, p) => {
      const ends = p === 0 || p === n - 1;
      const turned = room < 52;
      write(context, token.replace("\u2581", ""), x(p) + (turned ? 3 : 0), height - FOOT + 22, {
        colour: ends ? theme.text : theme.muted,
        font: theme.code,
        size: 12.5,
        weight: ends ? 700 : 400,
        align: turned ? "right" : "center",
        turn: turned ? -Math.PI / 3 : 0,
        most: turned ? 52 : room - 6,
      });
    });
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const rows = this.known(settings);
    const step = Math.min(Math.floor(settings.step + 1e-6), rows.length - 1);
    const told = {
      step,
      heard: rows[step].size,
      n: this.tokens.length,
      path: rows.length - 1,
      layer: this.texts[`layer_${settings.layer}`],
    };
    return fillText(step === rows.length - 1 ? this.texts.path_arrived : this.texts.path_say, told);
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { texts } = this;
    const n = this.tokens.length;
    return {
      columns: [texts.layer, texts.path],
      rows: KINDS.map((layer) => [texts[`layer_${layer}`], String(path(layer, { n, k: 3, r: settings.r }))]),
    };
  }
}
