// What the scenes of this lesson share: a healthy model beside a suspect, and what both write.

import { fillText, formatCount, signed } from "../../../components/common/text/format.js";
import { drawMap } from "../../stage/js/map.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";

const WIDE = 600; // from here on two maps stand side by side
const SLANT = 26; // by which the last label of a map reaches out of it
const LINE = 24;

/** @extends {Scene<import("./numbers").Values>} */
export class Case extends Scene {
  /** Name of the scene, which each suspect gives. */
  get name() {
    return "";
  }

  get letter() {
    return this.name.toUpperCase();
  }

  /** Whether Python has answered for this scene. */
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
   * What the model that is chosen generates, so that what is wrong in the lines of the small ones is seen.
   * @param {Theme} theme
   */
  chosen({ muted }) {
    const { chosen } = this.lesson.values;
    return chosen ? [{ name: this.texts.chosen, text: chosen, colour: muted }] : [];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < WIDE ? 640 : Math.max(400, Math.min(room, 620));
  }

  /** What stands in the place of a figure that cannot be drawn yet. */
  get waiting() {
    return this.lesson.values.missing ? this.texts.missing : this.texts.waiting;
  }

  /**
   * What is read, over several lines where it must be, and what each model writes. Returns what is left below.
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
    const wide = box.width >= WIDE;
    const [across, down] = wide ? [(box.width - 16) / 2, box.height] : [box.width, box.height / 2];
    const axes = { queries: labels, keys: labels, titles: [this.texts.query, this.texts.key] };
    const colours = this.colours(pen.theme);
    this.names.forEach((name, row) => {
      const [x, y] = wide ? [row * (across + 16), box.y] : [0, box.y + row * down];
      drawMap(pen, weights(row), axes, { x, y: y + 4, width: across - SLANT, height: down - 26, masked: masked(row) });
      pen.write(name, x, y + 8, { colour: colours[row], size: 14, weight: 650, most: across });
    });
  }

  /** The loss of both after their last recorded updates. */
  lastLoss() {
    const { loss, step } = this.lesson.arrays;
    const last = loss.shape[1] - 1;
    return { update: formatCount(step.at(0, last)), one: signed(loss.at(0, last)), other: signed(loss.at(1, last)) };
  }

  /**
   * The numbers of an array (2, n) as a table: a label, the healthy model's, the suspect's.
   * @param {string} title
   * @param {NdArray} array
   * @param {(index: number) => string | number} label
   * @returns {TableData}
   */
  pairs(title, array, label) {
    const rows = Array.from({ length: array.shape[1] }, (_, i) => [label(i), array.at(0, i), array.at(1, i)]);
    return { columns: [title, ...this.names], rows };
  }

  /** How the translations of both score. */
  get verdict() {
    const [one, other] = this.lesson.values.bleu.map((bleu) => bleu.toFixed(1));
    return fillText(this.texts.verdict, { one, other });
  }
}
