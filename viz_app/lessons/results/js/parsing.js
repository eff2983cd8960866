// Table 4: parsing as a translation from words to a tree.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText } from "../../../components/common/text/format.js";
import { choice } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";

const [TOP, FOOT] = [14, 46];
const MAX_LANE = 64;
const TITLE = 34; // above our own

/** @typedef {import("./numbers").Values["ours"][0]} Ours */

/** @extends {Scene<import("./numbers").Values>} */
export class Parsing extends Scene {
  get controls() {
    const { setting, setting_wsj: wsj, setting_more: more } = this.texts;
    return [choice("setting", setting, { wsj, more })];
  }

  /** @param {string} setting */
  parsers(setting) {
    return this.lesson.values.parsers
      .filter((parser) => (setting === "wsj") === (parser.setting === "wsj"))
      .sort((a, b) => a.f1 - b.f1);
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height, theme } = pen;
    const parsers = this.parsers(settings.setting);
    const { ours } = this.lesson.values;
    const left = Math.min(230, width * 0.46);
    const axis = new Axis(88, 94, left, width - 64);
    const room = height - TOP - FOOT - (ours.length ? TITLE + FOOT : 0);
    const lane = Math.min(MAX_LANE, room / (parsers.length + ours.length));
    const ticks = width < 560 ? [88, 91, 94] : axis.ticks(6);
    pen.axis(axis, "bottom", TOP + lane * parsers.length + 4, { ticks, title: "F1" });
    parsers.forEach(({ name, setting, f1 }, index) => {
      const [x, y] = [axis.place(f1), TOP + (index + 0.5) * lane];
      const papers = name.startsWith("Transformer");
      const weight = papers ? 650 : 400;
      const colour = papers ? theme.kinds.encoder : theme.muted;
      const extra = ["multi", "generative"].includes(setting) ? ` · ${this.texts[`setting_${setting}`]}` : "";
      const style = { colour: papers ? theme.text : theme.muted, weight, align: "right", most: left - 18 };
      pen.write(`${name}${extra}`, left - 14, y, style);
      pen.line(left, y, x, y, { colour, width: papers ? 4 : 2, alpha: papers ? 1 : 0.6 });
      pen.dot(x, y, papers ? 7 : 5, colour);
      pen.write(f1.toFixed(1), x + 14, y, { size: 14, weight });
    });
    if (ours.length) this.drawOurs(pen, ours, { left, lane, top: TOP + lane * parsers.length + FOOT });
  }

  /**
   * F1 of our parser with its interval, on an axis of its own: the test sets are others.
   * @param {import("../../stage/js/pen.js").Pen} pen
   * @param {Ours[]} ours
   * @param {{ left: number, lane: number, top: number }} plan
   */
  drawOurs(pen, ours, { left, lane, top }) {
    const { width, theme } = pen;
    const colour = theme.kinds.cross;
    const axis = new Axis(0, 100, left, width - 64);
    pen.write(this.texts.parsing_ours, 8, top + TITLE / 2, { size: 14, weight: 600, most: width - 16 });
    ours.forEach(({ name, f1, f1_95: interval, right_branching_f1: trivial }, index) => {
      const [x, y] = [axis.place(f1), top + TITLE + (index + 0.5) * lane];
      pen.write(name, left - 14, y, { align: "right", most: left - 18 });
      pen.line(left, y, x, y, { colour, width: 4 });
      if (interval)
        pen.line(axis.place(interval[0]), y, axis.place(interval[1]), y, { colour, width: 12, alpha: 0.35 });
      pen.dot(x, y, 7, colour);
      if (trivial !== null) pen.line(axis.place(trivial), y - 9, axis.place(trivial), y + 9, { colour: theme.text });
      pen.write(f1.toFixed(1), Math.max(x + 14, axis.place(interval?.[1] ?? f1) + 8), y, { size: 14, weight: 650 });
    });
    const ticks = width < 560 ? [0, 50, 100] : [0, 20, 40, 60, 80, 100];
    pen.axis(axis, "bottom", top + TITLE + lane * ours.length + 4, { ticks, title: "F1" });
  }

  /** @type {Scene["say"]} */
  say({ setting }) {
    const parsers = this.parsers(setting);
    const place = parsers.length - parsers.findIndex(({ name }) => name.startsWith("Transformer"));
    const said = fillText(this.texts.parsing_say, { place, count: parsers.length });
    const scores = this.lesson.values.ours.map(({ name, f1 }) => `${name} ${f1.toFixed(1)}`).join(", ");
    return scores ? `${said} ${fillText(this.texts.parsing_ours_say, { scores })}` : said;
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { texts } = this;
    const rows = this.parsers(settings.setting).map(({ name, setting, f1 }) => [
      name,
      texts[`setting_${setting}`],
      f1.toFixed(1),
    ]);
    const ours = this.lesson.values.ours.map(({ name, f1, f1_95: interval }) => [
      texts.parsing_ours,
      name,
      interval ? `${f1.toFixed(1)} (${interval.map((end) => end.toFixed(1)).join("\u2013")})` : f1.toFixed(1),
    ]);
    return { columns: [texts.parser, texts.setting, "F1"], rows: [...rows, ...ours] };
  }
}
