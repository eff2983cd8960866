// Shared parts of the scenes: a healthy model beside a suspect, with their translations.

import { fillText } from "../../../components/common/text/format.js";
import { split } from "../../stage/js/layout.js";
import { drawMap } from "../../stage/js/map.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";

const SLANT = 26; // by which the last label of a map reaches out of it
const LINE = 24;

/** @extends {Scene<import("./numbers").Values>} */
export class Case extends Scene {
  size = { narrow: 640, least: 400, most: 620 };

  /** Name of the scene, which each suspect gives. */
  get name() {
    return "";
  }

  get letter() {
    return this.name.toUpperCase();
  }

  /** Tell whether Python has answered for this scene. */
  get ready() {
    const { values } = this.lesson;
    return !values.missing && values.scene === this.name;
  }

  get names() {
    return [this.texts.healthy, fillText(this.texts.suspect, { letter: this.letter })];
  }

  /** @param {Theme} theme */
  colours({ kinds }) {
    return [kinds.encoder, kinds.decoder];
  }

  /**
   * Return the translation of the chosen model, for comparison with the small ones.
   * @param {Theme} theme
   */
  chosen({ muted }) {
    const { chosen } = this.lesson.values;
    return chosen ? [{ name: this.texts.chosen, text: chosen, colour: muted }] : [];
  }

  missing() {
    if (this.ready) return null;
    return this.lesson.values.missing ? this.texts.missing : this.texts.waiting;
  }

  /**
   * Write the input, over several lines if needed, and the translations. Returns the box below.
   * A name has the mark of its model, so that these lines are the key of the figure, too.
   * @param {Pen} pen
   * @param {string} read
   * @param {{ name: string, text: string, colour: string }[]} written
   * @returns {Box}
   */
  drawLines(pen, read, written) {
    const { width, height } = pen;
    const names = [this.texts.reads, ...written.map(({ name }) => name)];
    const edge = Math.max(...names.map((name) => pen.measure(name, { size: 14 }))) + 30;
    pen.note(names[0], 18, 14, { size: 14 });
    const size = 15;
    let y = 14 + wrapped(pen, read, edge, 14, width - edge, { size }) + LINE - 1.5 * size;
    for (const { name, text, colour } of written) {
      pen.dot(6, y, 5, colour);
      pen.note(name, 18, y, { size: 14 });
      const most = width - edge;
      if (text) pen.write(text, edge, y, { size, weight: 600, most });
      else pen.note(this.texts.nothing, edge, y, { size, most });
      y += LINE;
    }
    return { x: 0, y: y - 2, width, height: height - y + 2 };
  }

  /**
   * A map of each model under its name: beside each other, or below each other where there is no room.
   * @param {Pen} pen
   * @param {Box} box
   * @param {{ labels: string[], weights: (row: number) => NdArray, masked?: (row: number) => boolean }} maps
   */
  drawPair(pen, box, { labels, weights, masked = () => false }) {
    const axes = { queries: labels, keys: labels, titles: [this.texts.query, this.texts.key] };
    const colours = this.colours(pen.theme);
    split(box, { gap: 16 }).forEach(({ x, y, width, height }, row) => {
      drawMap(pen, weights(row), axes, { x, y: y + 4, width: width - SLANT, height: height - 24, masked: masked(row) });
      pen.write(this.names[row], x, y + 8, { colour: colours[row], size: 14, weight: 650, most: width });
    });
  }

  /** Return the BLEU of both models. */
  get verdict() {
    const [one, other] = this.lesson.values.bleu.map((bleu) => bleu.toFixed(1));
    return fillText(this.texts.verdict, { one, other });
  }
}
