// A lesson on a page: its scenes as tabs, one picture, the words beside it, the controls below.

import { h, setAttribute } from "../../../components/common/dom.js";
import { reportAfter } from "../../../components/common/report.js";
import { Theme } from "../../../components/common/theme.js";
import { readPayload } from "./arrays.js";
import { control, playheadControl } from "./controls.js";
import { Fields } from "./fields.js";
import { Following } from "./following.js";
import { Keys } from "./keys.js";
import { arePins } from "./pins.js";
import { build, light } from "./prose.js";
import { Question } from "./question.js";
import { Stage } from "./stage.js";
import { table } from "./table.js";
import { Tools } from "./tools.js";

const WIDE = 860; // from this width on the words stand beside the picture
const PRESENTING = Symbol.for("headlight.presenting");
const REPORT_AFTER = 400; // milliseconds of rest before Python hears of a change

export class Lesson {
  /** @type {(state: { scene: string, settings: Settings }) => void} Tells Python; provide.js gives it. */
  report;
  /** @type {() => void} Goes on to the next lesson. */
  leave;
  /** @type {LessonData} */
  lesson;
  /** @type {SceneWords} */
  description;
  /** @type {Theme} */
  theme;
  /** @type {Texts} */
  texts;
  /** @type {Record<string, any>} Scenes by their names. */
  scenes;
  /** @type {any} */
  all;
  /** @type {any} */
  asked;
  /** @type {any[]} */
  tabButtons;
  /** @type {string} */
  name;
  /** @type {null | Question} */
  question;
  /** @type {any} */
  controlKey;
  /** @type {any[]} */
  controls;
  /** @type {any} */
  time;
  /** @type {null | HTMLDivElement} */
  equation;
  /** @type {() => void} */
  callOff;
  /** @type {any} */
  presenting;

  /**
   * @param {HTMLElement} root
   * @param {any} scenes
   */
  constructor(root, scenes) {
    this.root = root;
    this.classes = scenes;
    this.stage = new Stage(this);
    this.fields = new Fields((/** @type {string} */ key, /** @type {number} */ number) =>
      this.set(this.scenes[this.name].entered(key, number, this.settings())),
    );
    this.stage.element.append(this.fields.element);
    this.tools = new Tools(this);
    this.tabs = h("div", { class: "tabs", role: "tablist" });
    this.controlRow = h("div", { class: "controls" });
    this.readout = h("p", { class: "readout" });
    this.numbers = h("div", { class: "table-place" });
    this.words = h("div", { class: "words" });
    this.picture = h(
      "div",
      { class: "picture", role: "tabpanel" },
      this.stage.element,
      this.controlRow,
      this.readout,
      this.tools.element,
      this.numbers,
    );
    root.replaceChildren(
      h("div", { class: "top" }, this.tabs, this.tools.present),
      h("div", { class: "body" }, this.picture, this.words),
    );
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(root);
    this.keys = new Keys(this);
    this.following = new Following(this);
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
    if (!same) this.take(payload);
    const theme = new Theme(this.root, this.lesson.colours);
    if (same && theme.key === this.theme.key) return;
    this.theme = theme;
    this.style();
    this.changed();
  }

  /** @param {LessonData} payload */
  take(payload) {
    const first = !this.lesson;
    this.lesson = payload;
    this.texts = payload.texts;
    setAttribute(this.root, "lang", payload.language);
    this.scenes = Object.fromEntries(
      payload.scenes.map((/** @type {SceneWords} */ { name }) => [name, new this.classes[name](payload, this.texts)]),
    );
    this.all = first ? {} : this.all; // settings of every scene that was shown
    this.asked = null;
    const scene = payload.state.scene || payload.scenes[0].name;
    const { settings } = payload.state;
    if (first && this.scenes[scene]) this.all[scene] = { ...this.defaults(scene), ...this.fitting(scene, settings) };
    this.tools.label(this.texts);
    this.makeTabs();
    const name = first ? scene : this.name;
    if (first && /** @type {any} */ (globalThis)[PRESENTING]) this.present(true);
    this.go(this.scenes[name] ? name : payload.scenes[0].name, { quiet: true });
    if (first) this.asked = JSON.stringify(this.state()); // Python has sent it; to tell it back would be one more run
  }

  style() {
    const { theme, root } = this;
    const variables = {
      "--muted": theme.muted,
      "--line": theme.line,
      "--hatch": theme.hatch,
      ...Object.fromEntries(Object.entries(theme.kinds).map(([kind, colour]) => [`--${kind}`, colour])),
    };
    for (const [name, value] of Object.entries(variables)) root.style.setProperty(name, value);
  }

  makeTabs() {
    const { scenes } = this.lesson;
    this.tabButtons = scenes.map(({ name, title }, index) =>
      h(
        "button",
        { type: "button", role: "tab", class: "tab", "data-scene": name, click: () => this.go(name) },
        h("span", { class: "count" }, String(index + 1)),
        h("span", { class: "tab-title" }, title),
      ),
    );
    this.tabs.replaceChildren(...this.tabButtons);
    setAttribute(this.tabs, "aria-label", this.texts.scenes);
  }

  get index() {
    return this.lesson.scenes.findIndex(({ name }) => name === this.name);
  }

  /** What the controls of the current scene say. */
  settings() {
    return this.all[this.name];
  }

  get revealed() {
    return this.question?.revealed ?? false;
  }

  /**
   * @param {string} name
   * @returns {Scene}
   */
  sceneOf(name) {
    return this.scenes[name];
  }

  /** @param {string} name */
  defaults(name) {
    const { controls, kept, playhead } = this.sceneOf(name);
    const all = [...controls.filter(({ kind }) => kind !== "button"), ...kept, ...(playhead ? [playhead] : [])];
    return Object.fromEntries(all.map((/** @type {any} */ each) => [each.name, each.start ?? each.min]));
  }

  /**
   * Of settings that came from an address: those that exist, within their bounds.
   * @param {string} name
   * @param {Settings} settings
   */
  fitting(name, settings) {
    const { controls, kept: own, playhead } = this.sceneOf(name);
    const words = own.filter((each) => typeof settings[each.name] === "string");
    const kept = Object.fromEntries(words.map((each) => [each.name, settings[each.name]]));
    for (const each of playhead ? [...controls, { kind: "range", ...playhead }] : controls) {
      const value = settings[each.name];
      if (each.kind === "range" && typeof value === "number")
        kept[each.name] = Math.min(Math.max(value, each.min), each.max);
      if (
        each.kind === "choice" &&
        each.options.some((/** @type {[string, string]} */ [option]) => option === value || option === String(value))
      )
        kept[each.name] = String(value);
      if (each.kind === "pins" && arePins(value, /** @type {any} */ (each))) kept[each.name] = value;
      if (each.kind === "switch" && typeof value === "boolean") kept[each.name] = value;
      if ((each.kind === "held" || each.kind === "text") && typeof value === typeof each.start) kept[each.name] = value;
    }
    return kept;
  }

  /**
   * Shows a scene.
   * @param {string} name
   * @param {{ quiet?: boolean }} [options]
   */
  go(name, { quiet = false } = {}) {
    const again = name === this.name;
    this.name = name;
    const scene = this.scenes[name];
    this.all[name] = { ...this.defaults(name), ...this.fitting(name, this.all[name] ?? {}) };
    this.description = this.lesson.scenes[this.index];
    this.tabButtons.forEach((button) => {
      setAttribute(button, "aria-selected", button.dataset.scene === name);
      button.tabIndex = button.dataset.scene === name ? 0 : -1;
    });
    this.showTab();
    if (!again) {
      this.question = null;
      this.following.forget();
    }
    this.makeControls(scene);
    this.makeWords();
    this.stage.take(scene);
    this.tools.update();
    this.changed(quiet);
  }

  /** Brings the tab of this scene into its row, where they do not all fit. */
  showTab() {
    const { offsetLeft, offsetWidth } = this.tabButtons[this.index];
    const { clientWidth, scrollLeft } = this.tabs;
    const start = offsetLeft - this.tabs.offsetLeft;
    this.tabs.scrollLeft = Math.min(start - 4, Math.max(scrollLeft, start + offsetWidth + 4 - clientWidth));
  }

  /** @param {any} scene */
  makeControls(scene) {
    const { controls, playhead } = scene;
    const key = JSON.stringify([this.name, controls, playhead, this.lesson.language]);
    if (key === this.controlKey) {
      // New numbers for the same controls: the elements stay, so that nobody loses the one he holds or has focused.
      this.controls.forEach(({ description }, index) => Object.assign(description, controls[index]));
      if (playhead) Object.assign(this.time.description, playhead, { step: "any" });
      return;
    }
    this.controlKey = key;
    this.remakeControls(scene);
  }

  /** @param {any} scene */
  remakeControls(scene) {
    this.controls = scene.controls.map((/** @type {Control} */ description) => ({
      description,
      ...control(description, (/** @type {any} */ value) => this.move(description, value)),
    }));
    const { playhead } = scene;
    this.time =
      playhead &&
      playheadControl(
        playhead,
        this.texts,
        (/** @type {number} */ value) => {
          this.stage.pause();
          this.set({ [playhead.name]: value });
        },
        () => this.stage.toggle(),
      );
    this.controlRow.replaceChildren(
      ...(this.time ? [this.time.element] : []),
      ...this.controls.map(({ element }) => element).filter(Boolean),
    );
  }

  makeWords() {
    const { title, section, math, prose, question } = this.description;
    this.equation = math.length ? h("div", { class: "equation" }, ...math.map((line) => build(line))) : null;
    if (question && !this.question) this.question = new Question(question, this.texts, () => this.changed());
    const next = this.lesson.scenes[this.index + 1];
    const coming = next?.title ?? this.lesson.onward;
    const onward =
      coming &&
      h(
        "button",
        { type: "button", class: "next", click: () => this.turn(1) },
        `${next ? this.texts.next : this.texts.next_lesson}: ${coming} \u2192`,
      );
    this.words.replaceChildren(
      h("h2", {}, title),
      section ? h("p", { class: "section" }, `${this.texts.section} ${section}`) : "",
      h("div", { class: "prose" }, ...prose.map((node) => build(node))),
      this.equation ?? "",
      this.question ? this.question.element : "",
      onward ?? "",
    );
  }

  /** @param {number} count */
  turn(count) {
    const next = this.lesson.scenes[this.index + count];
    if (next) this.go(next.name);
    else if (count > 0 && this.lesson.onward) this.leave();
  }

  /**
   * A control was moved to a value, or to what a function makes of the settings; a button was pressed.
   * @param {Control} control
   * @param {any} value
   */
  move({ name, kind, server }, value) {
    if (kind === "button") {
      this.following.press(name);
      this.set(this.scenes[this.name].press(name) ?? {});
    } else this.set({ [name]: typeof value === "function" ? value(this.settings()) : value }, server);
  }

  /**
   * Changes settings of the scene; `now`: Python is to answer at once.
   * @param {any} patch
   * @param {boolean} [now]
   */
  set(patch, now = false) {
    Object.assign(this.settings(), patch);
    this.changed(
      false,
      now || this.controls.some(({ description }) => description.server && description.name in patch),
    );
  }

  /** Brings everything up to date. */
  changed(quiet = false, now = false) {
    if (!this.theme) return;
    const scene = this.scenes[this.name];
    const settings = this.settings();
    for (const { description, update } of this.controls) update(settings[description.name]);
    this.time?.update(settings[scene.playhead.name], this.stage.playing);
    if (this.equation) light(this.equation, scene.lit(settings));
    const said = scene.say(settings, this.revealed);
    if (this.readout.textContent !== said) this.readout.textContent = said;
    this.stage.tell(`${this.description.title}. ${said}`);
    this.tabulate();
    this.placeFields();
    this.stage.draw();
    if (!quiet) this.tellPython(now);
  }

  /** Number fields over the picture, where the scene has them. */
  placeFields() {
    const { width, height, zoom } = this.stage;
    if (width) this.fields.place(this.scenes[this.name].fields(width, height, this.settings()), zoom);
  }

  tabulate() {
    if (!this.tools.tableShown) return this.numbers.replaceChildren();
    if (this.stage.playing) return undefined;
    const content = this.scenes[this.name].table(this.settings(), this.revealed);
    return this.numbers.replaceChildren(content ? table(content, this.texts) : this.texts.no_table);
  }

  playingChanged() {
    this.readout.setAttribute("aria-live", this.stage.playing ? "off" : "polite");
    this.changed();
  }

  /** @param {boolean} now */
  tellPython(now) {
    this.callOff?.();
    if (this.stage.playing) return;
    const state = this.state();
    const text = JSON.stringify(state);
    if (text === this.asked) return;
    this.callOff = reportAfter(now ? 0 : REPORT_AFTER, this.root, () => {
      this.asked = text;
      this.report(state);
    });
  }

  /** What Python is told: where the reader stands. */
  state() {
    return { scene: this.name, settings: { ...this.settings() } };
  }

  /** Height that the window leaves for the picture. */
  room() {
    if (this.presenting) return window.innerHeight - 190;
    return Math.max(320, window.innerHeight - 330);
  }

  resize() {
    this.root.classList.toggle("wide", this.root.clientWidth >= WIDE);
    this.stage.measure();
    if (this.theme) this.placeFields();
  }

  present(on = !this.presenting) {
    this.presenting = on;
    /** @type {any} */ (globalThis)[PRESENTING] = on; // so that the next lesson opens in the same view
    this.root.classList.toggle("presenting", on);
    this.tools.update();
    this.resize();
    this.stage.canvas.focus();
  }

  stop() {
    this.callOff?.();
    this.stage.stop();
    this.tools.stop();
    this.sizes.disconnect();
    this.keys.stop();
    document.fonts.removeEventListener("loadingdone", this.onFonts);
    this.following.stop();
  }
}
