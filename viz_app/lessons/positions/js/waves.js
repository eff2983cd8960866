// The stage of the waves: one playhead through all chapters, from the cut that prints bar codes to a head that reads them.

import { formatCount } from "../../../components/common/text/format.js";
import { choice, playhead, slider, tenths } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { FirstHead } from "./firsthead.js";
import { Lanes } from "./lanes.js";
import { NearFar } from "./nearfar.js";
import { FARTHEST, START, Story } from "./story.js";
import { Sum } from "./sum.js";

const LIT = { waves: "sin", zoom: "sin", near: "distance", sum: "position", head: "position" }; // terms of the equations

/** @extends {Scene<import("./numbers").Values>} */
export class Waves extends Scene {
  size = { narrow: 560, least: 440, most: 640 };

  story = new Story(this.lesson.values.positions, this.lesson.values.tokens.length, Boolean(this.lesson.values.head));
  lanes = new Lanes(this.lesson, this.texts, this.story);
  views = {
    waves: this.lanes,
    zoom: this.lanes,
    near: new NearFar(this.lesson, this.texts, this.story),
    sum: new Sum(this.lesson, this.texts, this.story),
    head: this.lesson.values.head ? new FirstHead(this.lesson, this.texts, this.story) : this.lanes,
  };

  get playhead() {
    const { story, texts } = this;
    const show = (/** @type {number} */ at) =>
      story.at(at).name === "zoom"
        ? formatCount(Math.round(story.shown(at)))
        : tenths(Math.round(10 * story.cut(at)) / 10);
    return playhead({ name: "at", label: texts.position, max: story.end, rate: 1.6, start: START, once: true, show });
  }

  get controls() {
    const { story, texts, lesson } = this;
    const chapters = Object.fromEntries(story.chapters.map(({ name }) => [name, texts[`chapter_${name}`]]));
    return [
      choice("chapter", texts.chapter, chapters, {
        read: ({ at }) => story.at(at).name,
        patch: (name) => ({ at: story.time(name), cut: -1 }),
      }),
      slider({
        name: "span",
        label: texts.span,
        min: Math.log2(story.positions),
        max: Math.log2(FARTHEST),
        step: 0.01,
        show: (exponent) => formatCount(Math.round(2 ** exponent)),
        read: ({ at }) => Math.log2(story.shown(at)),
        patch: (exponent) => ({ at: story.timeOf(2 ** exponent) }),
        where: ({ at }) => ["waves", "zoom"].includes(story.at(at).name),
      }),
      choice(
        "table",
        texts.table_of,
        { sines: texts.sines, learned: texts.learned },
        {
          where: ({ at }) => Boolean(lesson.values.trained) && story.at(at).name === "near",
        },
      ),
      { name: "cut", kind: "held", start: -1 },
    ];
  }

  /** @param {Settings} settings */
  view({ at }) {
    return this.views[this.story.at(at).name];
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    return LIT[this.story.at(at).name];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    this.view(settings).draw(pen, settings);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width }, settings) {
    const position = Math.max(0, this.view(settings).axis(width, settings).value(x));
    if (this.story.at(settings.at).name === "zoom") return { cut: position };
    return { at: this.story.timeAt(position, settings.at) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    return this.view(settings).say(settings);
  }

  /** @type {Scene["table"]} */
  table(settings) {
    return this.view(settings).table(settings);
  }
}
