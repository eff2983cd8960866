// What the scenes of this lesson share: a healthy model beside a suspect, and what both write.

import { fillText } from "../../../common/dom.js";
import { dot, write } from "../plot.js";
import { Scene } from "../scene.js";

export const WIDE = 600; // from here on two maps stand side by side
const LINE = 24;

export class Case extends Scene {
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

  colours(theme) {
    return [theme.kinds.encoder, theme.kinds.decoder];
  }

  height(width, room) {
    return width < WIDE ? 640 : Math.max(400, Math.min(room, 620));
  }

  /** What stands in the place of a picture that cannot be drawn yet. */
  drawWaiting({ context, width, height, theme }) {
    write(context, this.waiting, width / 2, height / 2, { colour: theme.muted, font: theme.font, size: 15, align: "center", most: width - 16 });
  }

  get waiting() {
    return this.lesson.values.missing ? this.texts.missing : this.texts.waiting;
  }

  /**
   * What is read, and what each model writes: [[name, text, colour or null]]. Returns the height.
   * A name has the mark of its model, so that these lines are the key of the picture, too.
   */
  drawLines({ context, width, theme }, lines) {
    context.font = `400 14px ${theme.font}`;
    const edge = Math.max(...lines.map(([name]) => context.measureText(name).width)) + 30;
    lines.forEach(([name, text, colour], index) => {
      const y = 14 + index * LINE;
      if (colour) dot(context, 6, y, 5, colour);
      write(context, name, 18, y, { colour: theme.muted, font: theme.font, size: 14 });
      write(context, text || this.texts.nothing, edge, y, { colour: text ? theme.text : theme.muted, font: theme.font, size: 15, weight: colour && text ? 600 : 400, most: width - edge });
    });
    return lines.length * LINE + 12;
  }

  /** The loss of both after their last recorded updates. */
  lastLoss() {
    const { loss, step } = this.lesson.arrays;
    const last = loss.shape[1] - 1;
    return { update: thousands(step.at(0, last)), one: loss.at(0, last).toFixed(2), other: loss.at(1, last).toFixed(2) };
  }
}

export function thousands(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}
