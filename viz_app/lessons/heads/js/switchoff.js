// Heads that say nothing: press tiles, or take all heads of a role, and read what is translated then.

import { fillText } from "../../../components/common/dom.js";
import { signed } from "../../../components/common/format.js";
import { write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { HeadGrid } from "./grid.js";
import { colourOf } from "./roles.js";

const NARROW = 620;
const GROUPS = ["none", "previous", "next", "self", "separator", "aligner"];

export class SwitchOff extends Scene {
  get controls() {
    const { texts } = this;
    return [
      {
        name: "group",
        kind: "choice",
        label: texts.off,
        options: GROUPS.map((group) => [group, texts[`group_${group}`]]),
        start: "none",
        server: true,
      },
      { name: "pressed", kind: "held", start: "", server: true },
    ];
  }

  lit() {
    return "off";
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 520 : Math.max(380, Math.min(room, 560));
  }

  /** @param {{ width: number, height: number }} given */
  grid({ width, height }) {
    const narrow = width < NARROW;
    const place = narrow ? { x: 0, y: 0, width, height: 160 } : { x: 0, y: 0, width: width * 0.3, height: height - 4 };
    return new HeadGrid(this.lesson.values.roles, { ...place, stacked: !narrow });
  }

  /**
   * Which heads are off, by number.
   * @param {Settings} settings
   */
  off({ group, pressed }) {
    const own = pressed.startsWith(`${group}.`) ? bits(pressed.slice(group.length + 1)) : [];
    const all = ["encoder", "decoder", "cross"].flatMap((kind) => this.lesson.values.roles[kind].flat());
    return all.map((role, number) => (role.role === group && role.standing !== "none") !== Boolean(own[number]));
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, theme } = pen;
    const grid = this.grid(pen);
    const off = this.off(settings);
    grid.drawLabels(pen, this.texts);
    grid.forEach((kind, layer, head, tile, number) => {
      const colour = colourOf(this.lesson.values.roles[kind][layer][head], theme);
      context.globalAlpha = off[number] ? 1 : 0.55;
      if (off[number]) cross(context, tile, theme);
      else {
        context.fillStyle = colour;
        context.fillRect(tile.x, tile.y, tile.size, tile.size);
      }
      context.globalAlpha = 1;
    });
    const narrow = width < NARROW;
    const left = narrow ? 0 : grid.width + 40;
    this.drawTexts(pen, settings, left, narrow ? grid.height + 24 : 8, width - left, off.filter(Boolean).length);
  }

  /**
   * @param {Pen} pen
   * @param {Settings} settings
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} count
   */
  drawTexts(pen, settings, x, y, width, count) {
    const { context, theme } = pen;
    const { texts } = this;
    const { words, original, log_probability: after, before } = this.lesson.values.off;
    context.save();
    context.globalAlpha = this.waits(settings) ? 0.4 : 1;
    /**
     * @param {string} text
     * @param {number} down
     */
    const label = (text, down) =>
      write(context, text, x, y + down, { colour: theme.muted, font: theme.font, size: 13, most: width });
    label(texts.whole_model, 8);
    let down = 30 + sentence(pen, original, x, y + 36, width, null);
    label(fillText(count === 1 ? texts.without_one : texts.without, { count }), down + 22);
    down += 44 + sentence(pen, words, x, y + down + 50, width, theme.kinds.decoder);
    label(texts.still, down + 30);
    const most = Math.max(1, -before, -after);
    /**
     * @param {number} value
     * @param {string} name
     * @param {number} at
     * @param {string} colour
     */
    const bar = (value, name, at, colour) => {
      const room = width - 150;
      write(context, name, x, y + at, { colour: theme.text, font: theme.font, size: 13, most: 84 });
      context.fillStyle = colour;
      context.fillRect(x + 90, y + at - 7, Math.max(1, (room * -value) / most), 14);
      write(context, signed(value, 1), x + 96 + (room * -value) / most, y + at, {
        colour: theme.text,
        font: theme.font,
        size: 13,
        weight: 600,
      });
    };
    bar(before, texts.bar_before, down + 54, theme.kinds.encoder);
    bar(after, texts.bar_after, down + 78, theme.kinds.decoder);
    context.restore();
  }

  /**
   * Whether Python is still at it.
   * @param {Settings} settings
   */
  waits(settings) {
    return this.wanted(settings) !== this.lesson.answers.off;
  }

  /** @param {Settings} settings */
  wanted({ group, pressed }) {
    return pressed.startsWith(`${group}.`) ? pressed : `${group}.0`;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { group, pressed }) {
    const found = pen.first && this.grid(pen).at(x, y);
    if (!found) return null;
    let place = 0;
    this.grid(pen).forEach((kind, layer, head, _, number) => {
      if (kind === found[0] && layer === found[1] && head === found[2]) place = number;
    });
    const own = pressed.startsWith(`${group}.`) ? bits(pressed.slice(group.length + 1)) : [];
    own[place] = !own[place];
    return { pressed: `${group}.${digits(own)}` };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    if (this.waits(settings)) return this.texts.computing;
    const { words, original, log_probability: after, before } = this.lesson.values.off;
    const same = ![...words, ...original].some(([, differs]) => differs);
    const count = this.off(settings).filter(Boolean).length;
    if (!count) return this.texts.off_say_none;
    return fillText(same ? this.texts.off_say_same : this.texts.off_say, { count, change: signed(after - before, 1) });
  }

  table() {
    const { text, original, log_probability: after, before } = this.lesson.values.off;
    const { texts } = this;
    return {
      columns: [texts.translation, texts.log_probability],
      rows: [
        [original.map(([word]) => word).join(" "), before],
        [text, after],
      ],
    };
  }
}

const BITS = [16, 8, 4, 2, 1];

/**
 * Five heads in each digit, so that all of them fit into an address.
 * @param {string} digits
 */
export function bits(digits) {
  return [...digits].flatMap((digit) => BITS.map((bit) => Boolean(parseInt(digit, 32) & bit)));
}

/** @param {boolean[]} values */
export function digits(values) {
  let text = "";
  for (let start = 0; start < values.length; start += 5)
    text += BITS.reduce((sum, bit, index) => sum + (values[start + index] ? bit : 0), 0).toString(32);
  return text.replace(/0+$/, "") || "0";
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{ x: number, y: number, size: number }} given
 * @param {Theme} theme
 */
function cross(context, { x, y, size }, theme) {
  context.strokeStyle = theme.text;
  context.lineWidth = 1.5;
  context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
  context.beginPath();
  context.moveTo(x + 3, y + 3);
  context.lineTo(x + size - 3, y + size - 3);
  context.moveTo(x + size - 3, y + 3);
  context.lineTo(x + 3, y + size - 3);
  context.stroke();
}

/**
 * Words over several lines; those that differ are marked. Returns how high they stand.
 * @param {Pen} pen
 * @param {any} words
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {string | null} mark
 */
function sentence({ context, theme }, words, x, y, width, mark) {
  const size = width > 800 ? 26 : width > 460 ? 19 : 16;
  context.font = `600 ${size}px ${theme.font}`;
  const space = context.measureText(" ").width;
  let [across, down] = [0, 0];
  for (const [word, differs] of words) {
    const long = context.measureText(word).width;
    if (across && across + long > width) [across, down] = [0, down + size * 1.6];
    write(context, word, x + across, y + down, {
      colour: differs && mark ? mark : theme.text,
      font: theme.font,
      size,
      weight: 600,
      most: width,
    });
    if (differs) {
      context.fillStyle = mark ?? theme.muted;
      context.fillRect(x + across, y + down + size * 0.68, Math.min(long, width), 2);
    }
    across += long + space;
  }
  return down + size * 1.6;
}
