// Adam on a small problem, update by update: both moments as they are (dashed) and corrected (bold), and their quotient.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, signed } from "../../../components/common/text/format.js";
import { choice, playhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const PARTS = ["gradient", "first", "second", "update"];
const FOOT = 40;
const DASH = [5, 4];

export class Adam extends Scene {
  size = { least: 360, share: 0.66 };

  get playhead() {
    return playhead({ name: "at", label: this.texts.update, min: 1, max: this.updates, rate: 5 });
  }

  get controls() {
    const { gradients, steady, noisy } = this.texts;
    return [choice("gradients", gradients, { steady, noisy })];
  }

  /** @returns {number} */
  get updates() {
    const { steady_update: steady } = this.lesson.arrays;
    return steady.shape[0];
  }

  /**
   * The values of a part, such as "first", or without correction "first_raw".
   * @param {string} part
   * @param {string} gradients
   * @returns {number[]}
   */
  column(part, gradients) {
    return [...this.lesson.arrays[`${gradients}_${part}`].data];
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    return at < 2 ? "corrected" : "update";
  }

  /**
   * The axis of updates, and for each part a lane with an axis of its own, from top to bottom.
   * @param {Pen} pen
   * @param {string} gradients
   */
  plot({ width, height }, gradients) {
    const bottom = height - FOOT;
    const each = bottom / PARTS.length;
    const lanes = PARTS.map((part, index) => {
      const values = this.column(part, gradients);
      const raw = part === "gradient" ? [] : this.column(`${part}_raw`, gradients);
      const [low, high] = [Math.min(0, ...values, ...raw), Math.max(0, ...values, ...raw)];
      const room = 0.06 * (high - low);
      const up = new Axis(low - room, high + room, (index + 1) * each - 6, index * each + 26);
      return { part, values, raw, up };
    });
    return { across: new Axis(1, this.updates, 12, width - (!isNarrow(width) ? 166 : 88)), lanes, bottom };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { theme } = pen;
    const at = Math.min(this.updates, Math.floor(settings.at));
    const { across, lanes, bottom } = this.plot(pen, settings.gradients);
    const x = across.place(at);
    for (const { part, values, raw, up } of lanes) {
      pen.note(this.texts[`lane_${part}`], across.from, up.to - 13, { size: 13 });
      pen.line(across.from, up.place(0), across.to, up.place(0), { colour: theme.line, width: 1 });
      pen.line(x, up.to - 4, x, up.from + 4, { colour: theme.mark });
      const colour = { gradient: theme.text, update: theme.kinds.decoder }[part] ?? theme.kinds.encoder;
      if (raw.length) this.curves(pen, { across, up, values, raw }, at, colour);
      else this.sticks(pen, { across, up, values }, at);
      pen.dot(x, up.place(values[at - 1]), 5, colour, theme.background);
      const [left, middle] = [across.to + 16, (up.from + up.to) / 2];
      pen.write(signed(values[at - 1], 3), left, middle - (raw.length ? 9 : 0), { colour, size: 15, weight: 650 });
      if (raw.length) this.rawValue(pen, raw[at - 1], left, middle + 11);
    }
    pen.axis(across, "bottom", bottom, { ticks: across.ticks(6) });
    pen.note(this.texts.update, across.to, bottom + 30, { align: "right" });
  }

  /**
   * The gradients, pale after the cursor.
   * @param {Pen} pen
   * @param {{ across: Axis, up: Axis, values: number[] }} lane
   * @param {number} at
   */
  sticks(pen, { across, up, values }, at) {
    values.forEach((value, index) => {
      const x = across.place(index + 1);
      const alpha = index < at ? 0.85 : 0.18;
      pen.line(x, up.place(0), x, up.place(value), { colour: pen.theme.text, width: 2.5, alpha });
    });
  }

  /**
   * @param {Pen} pen
   * @param {{ across: Axis, up: Axis, values: number[], raw: number[] }} lane
   * @param {number} at
   * @param {string} colour
   */
  curves(pen, { across, up, values, raw }, at, colour) {
    const { muted } = pen.theme;
    const [bold, dashed] = [values, raw].map((each) =>
      each.map((value, index) => [across.place(index + 1), up.place(value)]),
    );
    pen.trace(bold.slice(at - 1), { colour, width: 2.5, alpha: 0.16 });
    pen.trace(dashed.slice(at - 1), { colour: muted, dash: DASH, alpha: 0.3 });
    pen.trace(dashed.slice(0, at), { colour: muted, width: 1.75, dash: DASH });
    pen.trace(bold.slice(0, at), { colour, width: 3 });
  }

  /**
   * The number without correction, and where there is room the word for it.
   * @param {Pen} pen
   * @param {number} value
   * @param {number} x
   * @param {number} y
   */
  rawValue(pen, value, x, y) {
    pen.line(x, y, x + 14, y, { colour: pen.theme.muted, width: 1.75, dash: DASH });
    const text = !isNarrow(pen.width) ? `${signed(value, 3)} ${this.texts.raw}` : signed(value, 3);
    pen.note(text, x + 20, y, { size: 13 });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { gradients }) {
    return { at: Math.round(this.plot(pen, gradients).across.value(x)) };
  }

  /** @type {Scene["say"]} */
  say({ at, gradients }) {
    const index = Math.floor(at) - 1;
    const value = (/** @type {string} */ part) => this.column(part, gradients)[index];
    return fillText(this.texts.adam_say, {
      update: index + 1,
      gradient: signed(value("gradient")),
      step: Math.abs(value("update")).toFixed(2),
      raw: Math.abs(value("update_raw")).toFixed(2),
    });
  }

  /** @type {Scene["table"]} */
  table({ gradients }) {
    const { texts } = this;
    const [gradient, ...corrected] = PARTS;
    const parts = [gradient, ...corrected.flatMap((part) => [`${part}_raw`, part])];
    const columns = parts.map((part) => this.column(part, gradients));
    const titles = parts.map((part) => {
      const name = texts[`lane_${part.replace("_raw", "")}`];
      return part.endsWith("_raw") ? `${name} (${texts.raw})` : name;
    });
    const rows = columns[0].map((_, index) => [index + 1, ...columns.map((column) => column[index])]);
    return { columns: [texts.update, ...titles], rows };
  }
}
