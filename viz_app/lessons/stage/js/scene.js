// Base of every scene. A scene draws one picture from the lesson's numbers and the settings of its controls; it keeps no
// state of its own, so the same settings always make the same picture.
//
// Settings of a scene are { name: number | string | boolean }: of its controls and of its playhead.

import { isNarrow } from "./layout.js";

/** @template [Values=any] What `numbers.py` of the lesson computes. */
export class Scene {
  /**
   * Height of the picture on a phone; elsewhere at least, at most, and as a share of the width.
   * @type {{ narrow?: number, least: number, most?: number, share?: number }}
   */
  size = { least: 300, most: 560, share: 0.75 };
  /** @type {string | null} The term of the equation that the picture always shows. */
  term = null;

  /**
   * @param {LessonData<Values>} lesson What Python sent: values, arrays, language; see arrays.js.
   * @param {Texts} texts Labels of the stage and of the lesson.
   */
  constructor(lesson, texts) {
    this.lesson = lesson;
    this.texts = texts;
  }

  /**
   * At most two controls:
   * { name, kind: "range", label, min, max, step, start, show(value) -> text }
   * { name, kind: "choice", label, options: [[value, label], ...], start }
   * { name, kind: "switch", label, start }
   * { name, kind: "text", label, start: "", show(value) -> text that stands there untouched }
   * Besides these any number of { name, kind: "held", start }: text or number that only `grab` changes.
   * { name, kind: "button", label }: `press(name)` below
   * With `server: true` Python is asked for new numbers as soon as it changes; with `where: (settings) => boolean` it is
   * there only where it does something; with `read: (settings) => value` and `patch: (value) => settings` it shows and
   * changes other settings, and is none itself.
   * @returns {Control[]}
   */
  get controls() {
    return [];
  }

  /**
   * Settings without a control, words of at most 40 letters and digits: [{ name, start }].
   * @returns {{ name: string, start: string }[]}
   */
  get kept() {
    return [];
  }

  /**
   * Number fields over the picture, see fields.js; what is typed goes to `entered(key, number, settings)`.
   * @param {number} width
   * @param {number} height
   * @param {Settings} settings
   * @returns {NumberField[]}
   */
  fields(width, height, settings) {
    return [];
  }

  /**
   * A number was typed into a field: settings that change, or null.
   * @param {string} key
   * @param {number} number
   * @param {Settings} settings
   * @returns {Settings | null}
   */
  entered(key, number, settings) {
    return null;
  }

  /**
   * Settings that the reader brings along from the scene before.
   * @param {Scene} before
   * @param {Settings} settings Of that scene.
   * @returns {Settings}
   */
  arriving(before, settings) {
    return {};
  }

  /** Tell whether the picture can be pinned as a finding; see findings.js. */
  get pinnable() {
    return false;
  }

  /**
   * Playhead for Space and the arrows: { name, label, min, max, step, rate (units a second), start, show }, or null.
   * With `once: true` it plays from `start` to its end by itself when the scene is first seen.
   * @returns {Playhead | null}
   */
  get playhead() {
    return null;
  }

  /**
   * Answer the arrows where there is no playhead: settings that change, or null.
   * @param {number} count 1 for the next, -1 for the one before.
   * @param {Settings} settings
   * @returns {Settings | null}
   */
  stepped(count, settings) {
    return null;
  }

  /**
   * Answer Down and Up while the picture has the focus: settings that change, or null.
   * @param {number} count 1 for down, -1 for up.
   * @param {Settings} settings
   * @returns {Settings | null}
   */
  lowered(count, settings) {
    return null;
  }

  /** Tell whether only a message is shown and no picture is on its way: the stage is then low. */
  get isEmpty() {
    return false;
  }

  /**
   * Height of the picture for a width, and for the height that the window leaves; most scenes give their `size` instead.
   * @param {number} width
   * @param {number} room
   * @returns {number}
   */
  height(width, room) {
    const { narrow, least, most = Infinity, share = Infinity } = this.size;
    if (narrow && isNarrow(width)) return narrow;
    return Math.max(least, Math.min(most, room, width * share));
  }

  /**
   * A message in place of the picture, in which nothing can be pressed then; null where there is a picture.
   * @param {Settings} settings
   * @returns {string | null}
   */
  missing(settings) {
    return null;
  }

  /**
   * Draws. `pen` has context, width, height, theme, now (ms), revealed, pointer ({x, y} or null).
   * @param {Pen} pen
   * @param {Settings} settings
   * @returns {void}
   */
  draw(pen, settings) {}

  /**
   * The term of the equation that the picture shows now; null for none.
   * @param {Settings} settings
   * @returns {string | null}
   */
  lit(settings) {
    return this.term;
  }

  /**
   * Pressed (`pen.first`) or dragged at x, y: settings that change, or null.
   * @param {number} x
   * @param {number} y
   * @param {Pen} pen
   * @param {Settings} settings
   * @returns {Settings | null | undefined}
   */
  grab(x, y, pen, settings) {
    return null;
  }

  /**
   * Find a named part of the picture, such as "tile cross 1 2": the one way for tests to point at it.
   * @param {string} name
   * @param {Pen} pen
   * @param {Settings} settings
   * @returns {Point | null} The middle of the part.
   */
  hit(name, pen, settings) {
    return null;
  }

  /**
   * A button was pressed: settings that change, or null.
   * @param {string} name
   * @param {Settings} settings
   * @returns {Settings | null}
   */
  press(name, settings) {
    return null;
  }

  /**
   * The picture in one sentence, for those who cannot see it and under the picture.
   * @param {Settings} settings
   * @param {boolean} [revealed] Whether the answer to the question of the scene is.
   * @returns {string}
   */
  say(settings, revealed) {
    return "";
  }

  /**
   * The numbers behind the picture: { columns: [text], rows: [[text or number]] }, or null.
   * @param {Settings} settings
   * @param {boolean} [revealed]
   * @returns {TableData | null}
   */
  table(settings, revealed) {
    return null;
  }
}
