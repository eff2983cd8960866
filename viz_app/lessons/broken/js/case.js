// What the scenes of this lesson share: a healthy model beside a suspect, and what both write.

import { fillText } from "../../../components/common/dom.js";
import { dot, write } from "../../../components/common/plot.js";
import { drawMap } from "../../stage/js/map.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";

const WIDE = 600; // from here on two maps stand side by side
const SLANT = 26; // by which the last label of a map reaches out of it
const LINE = 24;

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
  colours(theme) {
    return [theme.kinds.encoder, theme.kinds.decoder];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < WIDE ? 640 : Math.max(400, Math.min(room, 620));
  }

  /**
   * What stands in the place of a picture that cannot be drawn yet.
   * @param {Pen} pen
   */
  drawWaiting({ context, width, height, theme }) {
    write(context, this.waiting, width / 2, height / 2, {
      colour: theme.muted,
      font: theme.font,
      size: 15,
      align: "center",
      most: width - 16,
    });
  }

  get waiting() {
    return this.lesson.values.missing ? this.texts.missing : this.texts.waiting;
  }

  /**
   * What is read (over several lines where it must be), and what each model writes: [[name, text, colour or null]].
   * Returns the height.
   * A name has the mark of its model, so that these lines are the key of the picture, too.
   * @param {Pen} pen
   * @param {any[]} lines
   */
  drawLines(pen, lines) {
    const { context, width, theme } = pen;
    context.font = `400 14px ${theme.font}`;
    const edge = Math.max(...lines.map(([name]) => context.measureText(name).width)) + 30;
    let y = 14;
    for (const [name, text, colour] of lines) {
      if (colour) dot(context, 6, y, 5, colour);
      write(context, name, 18, y, { colour: theme.muted, font: theme.font, size: 14 });
      const style = {
        colour: text ? theme.text : theme.muted,
        font: theme.font,
        size: 15,
        weight: colour && text ? 600 : 400,
      };
      if (colour) write(context, text || this.texts.nothing, edge, y, { ...style, most: width - edge });
      y += colour ? LINE : wrapped(pen, text, edge, y, width - edge, style) + LINE - 1.5 * style.size;
    }
    return y - 2;
  }

  /**
   * A map of each model under its name: beside each other, or below each other where there is no room.
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number, height: number }} box
   * @param {{ labels: any, weights: any, masked?: (index: number) => boolean }} given
   */
  drawPair(pen, box, { labels, weights, masked = () => false }) {
    const { context, theme } = pen;
    const wide = box.width >= WIDE;
    const [across, down] = wide ? [(box.width - 16) / 2, box.height] : [box.width, box.height / 2];
    const all = { queries: labels, keys: labels, titles: [this.texts.query, this.texts.key] };
    this.names.forEach((name, row) => {
      const [x, y] = wide ? [row * (across + 16), box.y] : [0, box.y + row * down];
      drawMap(pen, weights(row), all, { x, y: y + 4, width: across - SLANT, height: down - 26, masked: masked(row) });
      write(context, name, x, y + 8, {
        colour: this.colours(theme)[row],
        font: theme.font,
        size: 14,
        weight: 650,
        most: across,
      });
    });
  }

  /** The loss of both after their last recorded updates. */
  lastLoss() {
    const { loss, step } = this.lesson.arrays;
    const last = loss.shape[1] - 1;
    return { update: thousands(step.at(0, last)), one: number(loss.at(0, last)), other: number(loss.at(1, last)) };
  }
}

/**
 * Two places and a real minus sign.
 * @param {number} value
 */
export function number(value) {
  return value.toFixed(2).replace("-", "\u2212");
}

/** @param {number} number */
export function thousands(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}
