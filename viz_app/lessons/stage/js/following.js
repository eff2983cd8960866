// Keeps the open scene up to date with something that goes on at the server; see live.js for the other end.

import { setAttribute } from "../../../components/common/page/dom.js";
import { eventId } from "../../../components/common/page/events.js";
import { readPayload } from "./arrays.js";

const MESSAGE = "headlight.lesson.message";
const RESEND = 1500; // milliseconds: Streamlit loses a trigger that meets another run of its fragment

/** @typedef {{ bytes: Uint8Array, send: (press: Press) => void }} Message
 * @typedef {{ name: string, id: number }} Press Of a button of the scene.
 */

export class Following {
  /** @type {number} */
  timer;
  /** @type {Message["send"] | null} */
  sendPress = null;
  /** @type {Press | null} What the server has not confirmed yet. */
  pending = null;

  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    this.onMessage = (/** @type {any} */ { detail }) => this.receive(detail);
    addEventListener(MESSAGE, this.onMessage);
  }

  /**
   * A button of the scene was pressed; sent again until the server has acknowledged it.
   * @param {string} name
   */
  press(name) {
    this.pending = { name, id: eventId() };
    this.send();
  }

  send() {
    clearTimeout(this.timer);
    if (!this.pending) return;
    this.sendPress?.(this.pending);
    this.timer = setTimeout(() => this.send(), RESEND);
  }

  /**
   * A message for the open scene. Python knows it already, so it is not told of settings that follow.
   * @param {Message} message
   */
  receive({ bytes, send }) {
    const { lesson } = this;
    const payload = readPayload(bytes);
    if (!lesson.theme || payload.name !== lesson.lesson.name || payload.scene !== lesson.name) return;
    const first = !this.sendPress;
    this.sendPress = send;
    if (payload.acknowledged === this.pending?.id) this.pending = null;
    if (first) this.send();
    const patch = lesson.scene.receive(payload, lesson.settings());
    setAttribute(lesson.readout, "aria-live", patch ? "off" : "polite"); // a number read out every second is noise
    Object.assign(lesson.settings(), patch);
    lesson.changed(true);
  }

  /** Another scene is shown. */
  forget() {
    clearTimeout(this.timer);
    this.sendPress = this.pending = null;
  }

  stop() {
    this.forget();
    removeEventListener(MESSAGE, this.onMessage);
  }
}
