// Table 4: parsing as a translation from words to a tree.

import { fillText } from "../../../components/common/dom.js";
import { Axis } from "../../../components/common/plot.js";
import { choice } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";

const [TOP, FOOT] = [14, 46];

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
    const left = Math.min(230, width * 0.46);
    const axis = new Axis(88, 94, left, width - 64);
    const lane = Math.min(64, (height - TOP - FOOT) / parsers.length);
    const ticks = width < 560 ? [88, 91, 94] : axis.ticks(6);
    pen.axis(axis, "bottom", TOP + lane * parsers.length + 4, { ticks, title: "F1" });
    parsers.forEach(({ name, setting, f1 }, index) => {
      const [x, y] = [axis.place(f1), TOP + (index + 0.5) * lane];
      const ours = name.startsWith("Transformer");
      const weight = ours ? 650 : 400;
      const colour = ours ? theme.kinds.encoder : theme.muted;
      const extra = ["multi", "generative"].includes(setting) ? ` · ${this.texts[`setting_${setting}`]}` : "";
      const style = { colour: ours ? theme.text : theme.muted, weight, align: "right", most: left - 18 };
      pen.write(`${name}${extra}`, left - 14, y, style);
      pen.line(left, y, x, y, { colour, width: ours ? 4 : 2, alpha: ours ? 1 : 0.6 });
      pen.dot(x, y, ours ? 7 : 5, colour);
      pen.write(f1.toFixed(1), x + 14, y, { size: 14, weight });
    });
  }

  /** @type {Scene["say"]} */
  say({ setting }) {
    const parsers = this.parsers(setting);
    const place = parsers.length - parsers.findIndex(({ name }) => name.startsWith("Transformer"));
    return fillText(this.texts.parsing_say, { place, count: parsers.length });
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { texts } = this;
    const rows = this.parsers(settings.setting).map(({ name, setting, f1 }) => [
      name,
      texts[`setting_${setting}`],
      f1.toFixed(1),
    ]);
    return { columns: [texts.parser, texts.setting, "F1"], rows };
  }
}
