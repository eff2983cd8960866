// Adam on a small problem, update by update: both moments as they are (dashed) and corrected (bold), and their quotient.

import { fillText } from "../../../components/common/dom.js";
import { dot, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { arrange, drawLanes } from "./lanes.js";

const NAMES = ["steady", "noisy"];
const PARTS = [
  ["gradient", null],
  ["first", "first_raw"],
  ["second", "second_raw"],
  ["update", "update_raw"],
];

export class Adam extends Scene {
  get playhead() {
    return {
      name: "at",
      label: this.texts.update,
      min: 1,
      max: this.updates,
      step: 1,
      rate: 5,
      start: 1,
      /** @param {number} value */
      show: (value) => String(Math.floor(value)),
    };
  }

  get controls() {
    const { texts } = this;
    return [
      {
        name: "gradients",
        kind: "choice",
        label: texts.gradients,
        options: NAMES.map((name) => [name, texts[name]]),
        start: "steady",
      },
    ];
  }

  get updates() {
    return this.lesson.arrays.steady_update.shape[0];
  }

  /**
   * @param {any} name
   * @param {any} gradients
   */
  column(name, gradients) {
    return this.lesson.arrays[`${gradients}_${name}`].data;
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(360, Math.min(room, width * 0.66));
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    return at < 2 ? "corrected" : "update";
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { gradients } = settings;
    const at = Math.min(this.updates, Math.floor(settings.at));
    const lanes = PARTS.map(([part, raw]) => {
      const all = [0, ...this.column(part, gradients), ...(raw ? this.column(raw, gradients) : [])];
      const [low, high] = [Math.min(...all), Math.max(...all)];
      return {
        name: this.texts[`lane_${part}`],
        part,
        raw,
        low: low - 0.06 * (high - low),
        high: high + 0.06 * (high - low),
      };
    });
    const plot = arrange(pen, lanes, { first: 1, last: this.updates, right: pen.width > 520 ? 166 : 88 });
    drawLanes(pen, plot, { title: this.texts.update });
    const { context, theme } = pen;
    const x = plot.across.place(at);
    for (const { up } of plot.lanes)
      trace(
        context,
        [
          [x, up.to - 4],
          [x, up.from + 4],
        ],
        { colour: theme.mark, width: 1.5 },
      );
    for (const lane of plot.lanes) this.lane(pen, plot, lane, gradients, at);
  }

  /**
   * @param {Pen} pen
   * @param {{ across: Axis }} given
   * @param {{ part: any, raw: any, up: Axis }} given3
   * @param {any} gradients
   * @param {number} at
   */
  lane(pen, { across }, { part, raw, up }, gradients, at) {
    const { context, theme } = pen;
    const colour = part === "update" ? theme.kinds.decoder : theme.kinds.encoder;
    /**
     * @param {any} name
     * @param {number} from
     * @param {number} to
     */
    const points = (name, from, to) =>
      [...this.column(name, gradients).slice(from, to)].map((value, index) => [
        across.place(from + index + 1),
        up.place(value),
      ]);
    if (part === "gradient") {
      this.column(part, gradients).forEach((value, index) => {
        const place = across.place(index + 1);
        trace(
          context,
          [
            [place, up.place(0)],
            [place, up.place(value)],
          ],
          { colour: theme.text, width: 2.5, alpha: index < at ? 0.85 : 0.18 },
        );
      });
    } else {
      trace(context, points(part, at - 1, this.updates), { colour, width: 2.5, alpha: 0.16 });
      trace(context, points(raw, at - 1, this.updates), { colour: theme.muted, width: 1.5, dash: [5, 4], alpha: 0.3 });
      trace(context, points(raw, 0, at), { colour: theme.muted, width: 1.75, dash: [5, 4] });
      trace(context, points(part, 0, at), { colour, width: 3 });
    }
    const value = this.column(part, gradients)[at - 1];
    const x = across.place(at);
    dot(context, x, up.place(value), 5, part === "gradient" ? theme.text : colour, theme.background);
    const middle = (up.from + up.to) / 2;
    const style = { font: theme.font, size: 15, weight: 650 };
    write(context, signed(value, 3), across.to + 16, middle - (raw ? 9 : 0), {
      ...style,
      colour: part === "gradient" ? theme.text : colour,
    });
    if (raw) this.rawValue(pen, this.column(raw, gradients)[at - 1], across.to + 16, middle + 11);
  }

  /**
   * The number without correction, and where there is room the word for it.
   * @param {Pen} pen
   * @param {number} value
   * @param {number} x
   * @param {number} y
   */
  rawValue({ context, width, theme }, value, x, y) {
    trace(
      context,
      [
        [x, y],
        [x + 14, y],
      ],
      { colour: theme.muted, width: 1.75, dash: [5, 4] },
    );
    const text = width > 520 ? `${signed(value, 3)} ${this.texts.raw}` : signed(value, 3);
    write(context, text, x + 20, y, { colour: theme.muted, font: theme.font, size: 13 });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    const { across } = arrange(pen, [{ low: 0, high: 1 }], {
      first: 1,
      last: this.updates,
      right: pen.width > 520 ? 166 : 88,
    });
    return { at: Math.round(across.value(x)) };
  }

  /** @type {Scene["say"]} */
  say({ at, gradients }) {
    const index = Math.floor(at) - 1;
    /** @param {string} name */
    const value = (name) => this.column(name, gradients)[index];
    /** @param {string} name */
    const size = (name) => Math.abs(value(name)).toFixed(2);
    return fillText(this.texts.adam_say, {
      update: index + 1,
      gradient: signed(value("gradient"), 2),
      step: size("update"),
      raw: size("update_raw"),
    });
  }

  /** @type {Scene["table"]} */
  table({ gradients }) {
    const columns = PARTS.flatMap((names) => [...names].reverse()).filter((name) => name !== null);
    const rows = Array.from({ length: this.updates }, (_, index) => [
      index + 1,
      ...columns.map((name) => this.column(name, gradients)[index]),
    ]);
    /** @param {string} name */
    const named = (name) =>
      name.endsWith("_raw")
        ? `${this.texts[`lane_${name.slice(0, -4)}`]} (${this.texts.raw})`
        : this.texts[`lane_${name}`];
    return { columns: [this.texts.update, ...columns.map(named)], rows };
  }
}

/**
 * @param {number} value
 * @param {number} digits
 */
function signed(value, digits) {
  return value.toFixed(digits).replace("-", "\u2212");
}
