// Keeps the open scene up to date with something that goes on at the server; see live.js for the other end.

import { setAttribute } from "../../../components/common/dom.js";
import { eventId } from "../../../components/common/events.js";
import { readPayload } from "./arrays.js";

const NEWS = "headlight.lesson.news";
const AGAIN = 1500; // milliseconds: Streamlit loses a trigger that meets another run of its fragment

export class Following {
  /** @type {number} */
  waiting;
  /** @type {any} */
  tell;

  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    this.pressed = null; // what the server has not confirmed yet
    /** @param {{ detail: any }} given */
    /** @type {(event: any) => void} */
    this.onNews = ({ detail }) => this.hear(detail);
    addEventListener(NEWS, this.onNews);
  }

  /**
   * A button of the scene was pressed; told again until the server has heard it.
   * @param {string} name
   */
  press(name) {
    this.pressed = { name, id: eventId() };
    this.send();
  }

  send() {
    clearTimeout(this.waiting);
    if (!this.pressed) return;
    this.tell?.(this.pressed);
    this.waiting = setTimeout(() => this.send(), AGAIN);
  }

  /**
   * News for the open scene. Python knows them already, so it is not told of settings that follow.
   * @param {{ bytes: Uint8Array, tell: any }} given
   */
  hear({ bytes, tell }) {
    const { lesson } = this;
    const news = readPayload(bytes);
    if (!lesson.theme || news.name !== lesson.lesson.name || news.scene !== lesson.name) return;
    const first = !this.tell;
    this.tell = tell;
    if (news.heard === this.pressed?.id) this.pressed = null;
    if (first) this.send();
    const patch = lesson.scenes[lesson.name].hear(news, lesson.settings());
    setAttribute(lesson.readout, "aria-live", patch ? "off" : "polite"); // nobody wants a number read out every second
    Object.assign(lesson.settings(), patch);
    lesson.changed(true);
  }

  /** Another scene is shown. */
  forget() {
    clearTimeout(this.waiting);
    this.tell = this.pressed = null;
  }

  stop() {
    this.forget();
    removeEventListener(NEWS, this.onNews);
  }
}
