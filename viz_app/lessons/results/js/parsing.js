// Table 4: parsing as a translation from words to a tree.

import { fillText } from "../../../components/common/dom.js";
import { Axis, dot, drawAxis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";

const [TOP, FOOT] = [14, 46];

export class Parsing extends Scene {
  get controls() {
    const { texts } = this;
    return [
      {
        name: "setting",
        kind: "choice",
        label: texts.setting,
        options: [
          ["wsj", texts.setting_wsj],
          ["more", texts.setting_more],
        ],
        start: "wsj",
      },
    ];
  }

  /** @param {any} setting */
  parsers(setting) {
    return this.lesson.values.parsers
      .filter((parser) => (setting === "wsj") === (parser.setting === "wsj"))
      .sort((a, b) => a.f1 - b.f1);
  }

  /** @type {Scene["draw"]} */
  draw({ context, width, height, theme }, { setting }) {
    const parsers = this.parsers(setting);
    const left = Math.min(230, width * 0.46);
    const axis = new Axis(88, 94, left, width - 64);
    const lane = Math.min(64, (height - TOP - FOOT) / parsers.length);
    const foot = TOP + lane * parsers.length;
    drawAxis(context, axis, "bottom", foot + 4, {
      theme,
      ticks: width < 560 ? [88, 91, 94] : axis.ticks(6),
      title: "F1",
    });
    parsers.forEach(({ name, setting: kind, f1 }, index) => {
      const y = TOP + (index + 0.5) * lane;
      const ours = name.startsWith("Transformer");
      const colour = ours ? theme.kinds.encoder : theme.muted;
      const extra = ["multi", "generative"].includes(kind) ? ` · ${this.texts[`setting_${kind}`]}` : "";
      write(context, `${name}${extra}`, left - 14, y, {
        colour: ours ? theme.text : theme.muted,
        font: theme.font,
        size: 13,
        weight: ours ? 650 : 400,
        align: "right",
        most: left - 18,
      });
      trace(
        context,
        [
          [left, y],
          [axis.place(f1), y],
        ],
        { colour, width: ours ? 4 : 2, alpha: ours ? 1 : 0.6 },
      );
      dot(context, axis.place(f1), y, ours ? 7 : 5, colour);
      write(context, f1.toFixed(1), axis.place(f1) + 14, y, {
        colour: theme.text,
        font: theme.font,
        size: 14,
        weight: ours ? 650 : 400,
      });
    });
  }

  /** @type {Scene["say"]} */
  say({ setting }) {
    const parsers = this.parsers(setting);
    const place = parsers.length - parsers.findIndex(({ name }) => name.startsWith("Transformer"));
    return fillText(this.texts.parsing_say, { place, count: parsers.length });
  }

  /** @type {Scene["table"]} */
  table({ setting }) {
    const { texts } = this;
    return {
      columns: [texts.parser, texts.setting, "F1"],
      rows: this.parsers(setting).map((parser) => [
        parser.name,
        texts[`setting_${parser.setting}`],
        parser.f1.toFixed(1),
      ]),
    };
  }
}
