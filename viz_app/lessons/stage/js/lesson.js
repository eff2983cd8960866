// A lesson on a page: its scenes as tabs, one picture, the words beside it, the controls below.

import { Theme } from "../../../components/common/draw/theme.js";
import { setTypeset } from "../../../components/common/draw/typeset.js";
import { h, setAttribute } from "../../../components/common/page/dom.js";
import { onFollowedView } from "../../../components/common/page/followed_view.js";
import { isPresenting, leavePresenting, present } from "../../../components/common/page/presenting.js";
import { readPayload } from "./arrays.js";
import { ControlRow } from "./controls.js";
import { Fields } from "./fields.js";
import { Findings } from "./findings.js";
import { GAP, heightBelowTabs } from "./fitting.js";
import { Keys } from "./keys.js";
import { keepProgress } from "./progress.js";
import { Question } from "./question.js";
import { Reports } from "./reports.js";
import { startSettings, validSettings } from "./settings.js";
import { Stage } from "./stage.js";
import { table } from "./table.js";
import { Tabs } from "./tabs.js";
import { Tools } from "./tools.js";
import { Words } from "./words.js";

const WIDE = 860; // from this width on the words stand beside the picture

export class Lesson {
  /** @type {(state: { scene: string, settings: Settings }) => void} Tells Python; provide.js gives it. */
  report;
  /** @type {(predicted: Record<string, number>) => void} Tells Python the first prediction of each scene. */
  reportPredictions;
  /** @type {() => void} Goes on to the next lesson. */
  leave;
  /** @type {LessonData} */
  lesson;
  /** @type {ShareCode | null} The link to what is on the screen. */
  share = null;
  /** @type {Theme} */
  theme;
  /** @type {Record<string, Scene>} Scenes by their names. */
  scenes;
  /** @type {Record<string, Settings>} Of every scene that was shown. */
  all = {};
  /** @type {string} */
  name;
  /** @type {Question | null} */
  question = null;
  presenting = false;
  /** @type {Record<string, number>} What was predicted first, by scene. */
  predicted = {};

  /**
   * @param {HTMLElement} root
   * @param {SceneClasses} classes
   */
  constructor(root, classes) {
    this.root = root;
    this.classes = classes;
    this.stage = new Stage(this);
    this.fields = new Fields((key, number) => this.set(this.scene.entered(key, number, this.settings())));
    this.stage.element.append(this.fields.element);
    this.tools = new Tools(this);
    this.findings = new Findings(this);
    this.tabs = new Tabs((name) => this.go(name));
    this.controls = new ControlRow(this);
    this.readout = h("p", { class: "readout" });
    this.numbers = h("div", { class: "table-place" });
    this.words = new Words(this);
    const parts = [this.stage.element, this.controls.element, this.readout, this.tools.element, this.numbers];
    const picture = h("div", { class: "picture", role: "tabpanel" }, ...parts, this.findings.element);
    const top = [this.tabs.element, this.tools.qr.button, this.tools.present.button, this.tabs.legend];
    this.top = h("div", { class: "top" }, ...top);
    root.replaceChildren(this.top, h("div", { class: "body" }, picture, this.words.element));
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(root);
    this.keys = new Keys(this);
    this.stopFollowing = onFollowedView((view) => this.showFollowed(view));
    this.reports = new Reports(this);
    this.onFonts = () => this.stage.draw();
    document.fonts.addEventListener("loadingdone", this.onFonts);
  }

  /**
   * New numbers, or the same again after a rerun or a change of theme.
   * @param {Uint8Array} bytes
   */
  receive(bytes) {
    const payload = readPayload(bytes);
    const same = payload.id === this.lesson?.id;
    this.share = payload.share;
    if (!same) this.take(payload);
    const theme = new Theme(this.root, this.lesson.colours);
    if (same && theme.key === this.theme.key) return;
    this.theme = theme;
    theme.apply(this.root);
    if (!same) this.resize(); // at once, so that it is never seen in another shape
    this.changed();
  }

  /** @param {LessonData} payload */
  take(payload) {
    const first = !this.lesson;
    const { texts, state } = payload;
    this.lesson = payload;
    setAttribute(this.root, "lang", payload.language);
    this.scenes = Object.fromEntries(payload.scenes.map(({ name }) => [name, new this.classes[name](payload, texts)]));
    this.reports.forget();
    const start = state.scene || payload.scenes[0].name;
    if (first) this.all[start] = state.settings;
    this.tools.label(texts);
    this.tabs.build(payload.scenes, texts, (name) => this.isFurther(name));
    this.root.classList.toggle("on-route", payload.on_route);
    if (first && isPresenting()) this.present(true);
    const name = first ? start : this.name;
    this.go(this.scenes[name] ? name : payload.scenes[0].name, { quiet: true });
    if (first) {
      this.findings.restore();
      this.reports.known();
    }
  }

  get texts() {
    return this.lesson.texts;
  }

  get scene() {
    return this.scenes[this.name];
  }

  get index() {
    return this.lesson.scenes.findIndex(({ name }) => name === this.name);
  }

  /** The prose of the scene. */
  get description() {
    return this.lesson.scenes[this.index];
  }

  /**
   * Whether a scene lies beyond the core of the lesson.
   * @param {string} name
   */
  isFurther(name) {
    return this.lesson.core.length > 0 && !this.lesson.core.includes(name);
  }

  /**
   * The scene after (1) or before (-1) this one; on a route the next core scene.
   * @param {number} way
   */
  neighbour(way) {
    const { scenes, on_route } = this.lesson;
    const coming = way > 0 ? scenes.slice(this.index + 1) : scenes.slice(0, this.index).reverse();
    return coming.find(({ name }) => !on_route || !this.isFurther(name));
  }

  /** Name of a picture or film of the scene, without its ending. */
  get fileName() {
    return `headlight_${this.lesson.name}_${this.name}`;
  }

  get revealed() {
    return this.question?.revealed ?? false;
  }

  /** Return the settings of the current scene. */
  settings() {
    return this.all[this.name];
  }

  /**
   * Shows a scene.
   * @param {string} name
   * @param {{ quiet?: boolean }} [options]
   */
  go(name, { quiet = false } = {}) {
    let brought = {};
    if (name !== this.name) {
      this.question = null;
      if (this.scene) brought = this.scenes[name].arriving(this.scene, this.settings());
    }
    this.name = name;
    const { scene } = this;
    const untouched = !Object.keys({ ...this.all[name], ...brought }).length;
    this.all[name] = { ...startSettings(scene), ...validSettings(scene, { ...this.all[name], ...brought }) };
    this.tabs.select(this.index);
    this.readout.style.minHeight = "";
    this.controls.build();
    const { question } = this.description;
    if (question && !this.question)
      this.question = new Question(question, this.texts, (chosen) => this.revealAnswer(chosen));
    this.words.build();
    this.stage.take(scene, untouched);
    this.tools.update();
    this.changed(quiet);
  }

  /**
   * Goes to the teacher's scene, with his settings.
   * @param {any} view
   */
  showFollowed({ lesson, scene, settings }) {
    if (lesson !== this.lesson?.name) return false;
    const name = scene || this.lesson.scenes[0].name;
    if (!this.scenes[name]) return false;
    const followed = validSettings(this.scenes[name], { ...this.all[name], ...settings });
    if (name !== this.name) {
      this.all[name] = followed;
      this.go(name);
    }
    this.stage.pause(); // it stands where the teacher's does
    this.set(followed);
    return true;
  }

  /** @param {number | undefined} chosen */
  revealAnswer(chosen) {
    if (chosen !== undefined) this.predicted = { [this.name]: chosen, ...this.predicted };
    keepProgress(this.lesson.name, [], this.predicted);
    this.reportPredictions(this.predicted);
    this.changed();
    this.words.fit();
  }

  /** @param {number} count */
  turn(count) {
    const next = this.neighbour(count);
    if (next) this.go(next.name);
    else if (count > 0 && this.lesson.onward) this.leave();
  }

  /**
   * A control was moved to a value, or to what a function makes of the settings; a button was pressed.
   * @param {Control} control
   * @param {unknown} [value]
   */
  move({ name, kind, patch }, value) {
    if (patch) {
      this.stage.pause();
      this.set(patch(value));
    } else if (kind === "button") {
      this.stage.pause();
      const settings = this.settings();
      if (this.scene.missing(settings) === null) this.set(this.scene.press(name, settings));
    } else this.set({ [name]: typeof value === "function" ? value(this.settings()) : value });
  }

  /**
   * Whether a control can be moved; on a page without Python only if its answers are in the file.
   * @param {Control} control
   */
  answers({ name, kind, server }) {
    const { prepared } = this.lesson;
    return !prepared || !(server || kind === "button") || Boolean(prepared[this.name]?.includes(name));
  }

  /**
   * Changes settings of the scene.
   * @param {Settings | null} [patch]
   */
  set(patch) {
    const settings = this.settings();
    const fixed = this.scene.controls.filter((control) => !this.answers(control));
    Object.assign(settings, patch, Object.fromEntries(fixed.map(({ name }) => [name, settings[name]])));
    this.changed(false, this.controls.needServer(patch ?? {}));
  }

  /**
   * Brings everything up to date.
   * @param {boolean} [quiet] Python is not told.
   * @param {boolean} [now] Python is to answer at once.
   */
  changed(quiet = false, now = false) {
    if (!this.theme) return;
    const { scene } = this;
    const settings = this.settings();
    this.controls.update();
    this.words.light(scene.lit(settings));
    const sentence = scene.missing(settings) ?? scene.say(settings, this.revealed);
    setTypeset(this.readout, sentence);
    this.keepReadoutInSight();
    this.stage.describe(`${this.description.title}. ${sentence}`);
    this.tabulate();
    this.placeFields();
    this.stage.draw();
    if (!quiet) this.reports.enqueue(now);
  }

  /** In front of a class the picture gives way to a long line below it, and does not grow again with every short one. */
  keepReadoutInSight() {
    const { style, offsetHeight } = this.readout;
    if (!this.presenting || style.minHeight === `${offsetHeight}px`) return;
    style.minHeight = `${offsetHeight}px`;
    this.stage.measure();
  }

  /** Number fields over the picture, where the scene has them. */
  placeFields() {
    const { width, height, zoom } = this.stage;
    if (width) this.fields.place(this.scene.fields(width, height, this.settings()), zoom);
  }

  tabulate() {
    if (!this.tools.tableShown) return this.numbers.replaceChildren();
    if (this.stage.playing) return undefined;
    const settings = this.settings();
    const content = this.scene.missing(settings) === null ? this.scene.table(settings, this.revealed) : null;
    return this.numbers.replaceChildren(content ? table(content, this.texts, this.fileName) : this.texts.no_table);
  }

  playingChanged() {
    this.readout.setAttribute("aria-live", this.stage.playing ? "off" : "polite");
    this.changed();
  }

  /** Return the scene and its settings for Python. */
  state() {
    return { scene: this.name, settings: { ...this.settings() } };
  }

  /** Height that the window leaves for the picture. */
  room() {
    const { controls, readout } = this;
    if (this.presenting) return heightBelowTabs(this) - controls.element.offsetHeight - readout.offsetHeight - GAP;
    return Math.max(320, window.innerHeight - 330);
  }

  resize() {
    this.root.classList.toggle("wide", this.root.clientWidth >= WIDE);
    this.tabs.fit();
    if (this.theme) this.words.fit();
    this.stage.measure();
    if (this.theme) this.placeFields();
  }

  present(on = !this.presenting) {
    this.presenting = on;
    present(this.root, on);
    this.readout.style.minHeight = "";
    this.tools.update();
    this.resize();
    // Who presents with the mouse sees no frame round the figure, whatever a clicker presses then.
    this.stage.canvas.classList.toggle("given", !this.tools.present.button.matches(":focus-visible"));
    this.stage.canvas.focus();
  }

  stop() {
    leavePresenting(this.root);
    this.reports.cancel();
    this.stage.stop();
    this.tools.stop();
    this.sizes.disconnect();
    this.keys.stop();
    document.fonts.removeEventListener("loadingdone", this.onFonts);
    this.stopFollowing();
  }
}
