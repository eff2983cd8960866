// Heads switched off: toggle tiles, or take all heads of a role, and read what is translated then.

import { KINDS } from "../../../components/common/heads/heads.js";
import { fillText, signed } from "../../../components/common/text/format.js";
import { drawBars } from "../../stage/js/barchart.js";
import { choice } from "../../stage/js/describe.js";
import { crossOut, HeadGrid } from "../../stage/js/headgrid.js";
import { bits, digits } from "../../stage/js/headset.js";
import { isNarrow } from "../../stage/js/layout.js";
import { comparedWords } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { colourOf, colourOfRole } from "./roles.js";

/** @type {import("./numbers").RoleName[]} */
const ROLES = ["previous", "next", "self", "separator", "aligner"];

/** @extends {Scene<import("./numbers").Values>} */
export class SwitchOff extends Scene {
  size = { narrow: 520, least: 380, most: 560 };
  term = "off";

  get controls() {
    const { texts } = this;
    const groups = Object.fromEntries(["none", ...ROLES].map((group) => [group, texts[`group_${group}`]]));
    return [
      choice("group", texts.off, groups, { server: true }),
      { name: "pressed", kind: "held", start: "", server: true },
    ];
  }

  /** @param {{ width: number, height: number }} picture */
  grid(picture) {
    return new HeadGrid(this.lesson.values.roles, picture, 0.3, 160);
  }

  /**
   * Return which heads are off, by number.
   * @param {Settings} settings
   */
  off({ group, pressed }) {
    const own = this.toggled({ group, pressed });
    const all = KINDS.flatMap((kind) => this.lesson.values.roles[kind].flat());
    return all.map((role, number) => (role.role === group && role.standing !== "none") !== Boolean(own[number]));
  }

  /**
   * Heads that were toggled one by one, besides the group.
   * @param {Settings} settings
   */
  toggled({ group, pressed }) {
    return pressed.startsWith(`${group}.`) ? bits(pressed.slice(group.length + 1)) : [];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, theme } = pen;
    const grid = this.grid(pen);
    const off = this.off(settings);
    grid.drawLabels(pen, this.texts);
    grid.forEach((role, tile, number) => {
      if (off[number]) crossOut(pen, tile);
      else pen.fill(tile.x, tile.y, tile.size, tile.size, colourOf(role, theme), 0.55);
    });
    const narrow = isNarrow(width);
    const left = narrow ? 0 : grid.width + 40;
    this.drawTexts(pen, settings, left, narrow ? grid.height + 24 : 8, width - left, off.filter(Boolean).length);
    this.drawRoles(pen, left, pen.height - 40, width - left);
  }

  /**
   * Write the key of the colours, over one line or two.
   * @param {Pen} pen
   * @param {number} x
   * @param {number} y
   * @param {number} width
   */
  drawRoles(pen, x, y, width) {
    const { theme } = pen;
    const entries = ROLES.map((role) => [this.texts[`short_${role}`], colourOfRole(role, theme)]);
    let [right, down] = [0, 0];
    for (const [name, colour] of [...entries, [this.texts.standing_none, theme.muted]]) {
      const wide = pen.measure(name, { size: 12 }) + 36;
      if (right && right + wide - 18 > width) [right, down] = [0, down + 20];
      pen.fill(x + right, y + down - 6, 12, 12, colour, 0.55);
      pen.note(name, x + right + 18, y + down);
      right += wide;
    }
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
    const label = (text, down) => pen.note(text, x, y + down, { size: 13, most: width });
    label(texts.whole_model, 8);
    let down = 30 + comparedWords(pen, original, x, y + 36, width, null);
    if (count) {
      label(fillText(texts.without, { count }), down + 22);
      down += 44 + comparedWords(pen, words, x, y + down + 50, width, theme.kinds.decoder);
    }
    label(texts.still, down + 30);
    const most = Math.max(1, -before, -after);
    const rows = [
      { name: texts.bar_before, values: [-before], texts: [signed(before, 1)], colours: [theme.kinds.encoder] },
      { name: texts.bar_after, values: [-after], texts: [signed(after, 1)], colours: [theme.kinds.decoder] },
    ];
    drawBars(pen, { x, y: y + down + 42, width, height: 48 }, rows, {
      ends: [0, most],
      colours: [],
      left: 96,
      size: 13,
    });
    context.restore();
  }

  /**
   * Tell whether Python still computes.
   * @param {Settings} settings
   */
  waits({ group, pressed }) {
    return (pressed.startsWith(`${group}.`) ? pressed : `${group}.0`) !== this.lesson.answers.off;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { group, pressed }) {
    const hit = pen.first && this.grid(pen).at(x, y);
    if (!hit) return null;
    const own = this.toggled({ group, pressed });
    const place = KINDS.flatMap((kind) => this.lesson.values.roles[kind].flat()).indexOf(hit);
    own[place] = !own[place];
    return { pressed: `${group}.${digits(own)}` };
  }

  /** @type {Scene["hit"]} "cross 1 2", a head. */
  hit(name, pen) {
    return this.grid(pen).hit(name);
  }

  /** @type {Scene["say"]} */
  say(settings) {
    if (this.waits(settings)) return this.texts.computing;
    const { words, original, log_probability: after, before } = this.lesson.values.off;
    const same = ![...words, ...original].some(([, differs]) => differs);
    const count = this.off(settings).filter(Boolean).length;
    if (!count) return this.lesson.prepared ? this.texts.off_say_page : this.texts.off_say_none;
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
