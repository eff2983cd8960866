// The whole of it: what is chosen, the controls, and the pictures that follow.

import { context2d } from "../../common/canvas.js";
import { fill, fillText, h, setAttribute, token } from "../../common/dom.js";
import { reportAfter } from "../../common/report.js";
import { Theme } from "../../common/theme.js";
import { Clock } from "./clock.js";
import { Curves } from "./curves.js";
import { Heads } from "./heads.js";
import { GrowthHistory, KINDS } from "./history.js";
import { Large } from "./large.js";
import { momentName, sayJobs, sayMoment, tables } from "./numbers.js";

const REPORT_AFTER = 300; // milliseconds of rest before Python hears of what is seen

let lastName = 0;

export class Growth {
  /** @type {(state: Partial<GrowthState>) => void} Tells Python; main.js gives it. */
  report;
  /** @type {any} */
  sentence;
  /** @type {HTMLSpanElement} */
  sentenceName;
  /** @type {HTMLInputElement[]} */
  kinds;
  /** @type {HTMLSpanElement[]} */
  kindNames;
  /** @type {HTMLLegendElement} */
  legend;
  /** @type {HTMLButtonElement} */
  play;
  /** @type {any} */
  slider;
  /** @type {HTMLOutputElement} */
  moment;
  /** @type {HTMLParagraphElement} */
  reads;
  /** @type {HTMLParagraphElement} */
  now;
  /** @type {HTMLParagraphElement} */
  keysNote;
  /** @type {HTMLParagraphElement} */
  headsNote;
  /** @type {HTMLParagraphElement} */
  dotNote;
  /** @type {HTMLParagraphElement} */
  scale;
  /** @type {HTMLUListElement} */
  jobs;
  /** @type {HTMLButtonElement} */
  tableButton;
  /** @type {HTMLDivElement} */
  tables;
  /** @type {GrowthHistory} */
  history;
  /** @type {Theme} */
  theme;
  /** @type {any} */
  reported;
  /** @type {HTMLSpanElement} */
  hatched;
  /** @type {number} */
  width;
  /** @type {() => void} */
  callOff;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.state = { sentence: 0, kind: "cross", moment: -1, layer: -1, head: 0, table: false };
    this.heads = new Heads((/** @type {number} */ layer, /** @type {number} */ head) => this.set({ layer, head }));
    this.large = new Large();
    this.curves = new Curves((/** @type {number} */ moment) => this.go(moment));
    this.make();
    this.clock = new Clock(
      this.heads.element,
      () => this.step(1),
      () => this.played(),
    );
    root.addEventListener("keydown", (event) => this.key(event));
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(root);
  }

  make() {
    this.sentence = h("select", { change: () => this.set({ sentence: this.sentence.selectedIndex }) });
    this.sentenceName = h("span", { class: "name" });
    lastName += 1;
    const name = `growth-kind-${lastName}`;
    this.kinds = KINDS.map((kind) =>
      h("input", { type: "radio", name, value: kind, change: () => this.set({ kind }) }),
    );
    this.kindNames = KINDS.map(() => h("span", {}));
    this.legend = h("legend", { class: "unseen" });
    const chips = this.kinds.map((input, i) =>
      h("label", { class: "chip", "data-kind": KINDS[i] }, input, this.kindNames[i]),
    );
    this.play = h(
      "button",
      { type: "button", class: "play", click: () => this.toggle() },
      h("span", { class: "icon", "aria-hidden": "true" }),
    );
    this.slider = h("input", { type: "range", min: 0, step: 1, input: () => this.go(Number(this.slider.value)) });
    this.moment = h("output", { class: "moment" });
    this.reads = h("p", { class: "note" });
    this.now = h("p", { class: "now", "aria-live": "polite" });
    this.keysNote = h("p", { class: "note" });
    this.headsNote = h("p", { class: "note heads-note" });
    this.dotNote = h("p", { class: "note dot-note" });
    this.scale = h("p", { class: "note scale" });
    this.jobs = h("ul", { class: "jobs" });
    this.tableButton = h("button", {
      type: "button",
      class: "tool",
      click: () => this.set({ table: !this.state.table }),
    });
    this.tables = h("div", {});
    this.root.replaceChildren(
      h(
        "div",
        { class: "controls" },
        h("label", { class: "sentence" }, this.sentenceName, this.sentence),
        h("fieldset", { class: "kinds" }, this.legend, ...chips),
      ),
      this.reads,
      h("div", { class: "time" }, this.play, this.slider, this.moment),
      this.now,
      this.keysNote,
      this.heads.element,
      this.headsNote,
      this.dotNote,
      h("div", { class: "one" }, this.large.element, h("div", { class: "beside" }, this.scale, this.jobs)),
      this.curves.element,
      this.tableButton,
      this.tables,
    );
  }

  /**
   * A history, or the same with other labels or colours.
   * @param {Uint8Array} bytes
   */
  receive(bytes) {
    const history = new GrowthHistory(bytes);
    this.history = history;
    this.theme = new Theme(this.root, history.colours);
    const { state } = this;
    const fits =
      state.moment < history.steps.length &&
      state.layer < history.layers &&
      state.head < history.heads &&
      state.sentence < history.sentences.length;
    if (state.moment < 0) this.reported = JSON.stringify(history.start);
    if (state.moment < 0 || !fits) Object.assign(state, history.start);
    this.root.classList.toggle("many", history.many);
    this.label();
    this.heads.clear();
    this.heads.build(history, history.texts);
    this.draw();
  }

  label() {
    const { history, theme, root } = this;
    const { texts } = history;
    setAttribute(root, "lang", history.language);
    const variables = { "--muted": theme.muted, "--line": theme.line, "--hatch": theme.hatch };
    for (const [name, value] of Object.entries(variables)) root.style.setProperty(name, value);
    for (const [kind, value] of Object.entries(theme.kinds)) root.style.setProperty(`--${kind}`, value);
    this.sentenceName.textContent = texts.sentence;
    setAttribute(this.sentence, "aria-label", texts.sentence); // the label around it holds all sentences as well
    this.sentence.replaceChildren(...history.sentences.map(({ source }) => h("option", { dir: "auto" }, source)));
    this.legend.textContent = texts.kinds;
    this.kindNames.forEach((name, i) => (name.textContent = texts[`kind_${KINDS[i]}`]));
    setAttribute(this.slider, "max", history.steps.length - 1);
    setAttribute(this.slider, "aria-label", texts.moment);
    this.keysNote.textContent = texts.keys;
    this.headsNote.textContent = fillText(texts.heads_note, { count: history.sentences.length });
    this.dotNote.textContent = fillText(texts.dot_note, { count: history.sentences.length });
    const bar = h("canvas", { "aria-hidden": "true", width: 256, height: 1 });
    const pixels = context2d(bar).createImageData(256, 1);
    new Uint32Array(pixels.data.buffer).set(theme.pixels);
    context2d(bar).putImageData(pixels, 0, 0);
    this.hatched = h("span", { class: "hatched" }, h("span", { class: "hatch", "aria-hidden": "true" }), texts.masked);
    this.scale.replaceChildren(`${texts.weight} 0 `, bar, ` 1. ${texts.exact}`, this.hatched);
    this.sayPlaying();
  }

  /** @param {Partial<GrowthState>} change */
  set(change) {
    Object.assign(this.state, change);
    this.draw();
  }

  draw() {
    const { history, theme, state } = this;
    if (!history || !this.root.clientWidth) return;
    this.width = this.root.clientWidth;
    const { texts } = history;
    const name = momentName(history, state.moment, texts);
    setAttribute(this.root, "data-kind", state.kind);
    this.sentence.selectedIndex = state.sentence;
    this.kinds.forEach((input) => (input.checked = input.value === state.kind));
    this.reads.replaceChildren(fill(texts.reads, { target: token(history.sentences[state.sentence].target, "i") }));
    this.slider.value = state.moment;
    setAttribute(this.slider, "aria-valuetext", name);
    this.moment.textContent = name;
    const said = sayMoment(history, state.moment, texts);
    this.now.textContent = said;
    this.heads.update(history, state, theme, texts);
    this.large.update(history, state, theme, texts);
    this.hatched.hidden = state.kind !== "decoder" || !history.causal;
    this.jobs.replaceChildren(...sayJobs(history, state, texts).map((job) => h("li", {}, job)));
    this.curves.update(history, state, theme, texts, fillText(texts.curves, { state: `${name}, ${said}` }));
    this.tableButton.textContent = state.table ? texts.table_close : texts.table;
    setAttribute(this.tableButton, "aria-expanded", state.table);
    this.tables.replaceChildren(...(state.table ? [tables(history, state, texts)] : []));
    this.tellPython();
  }

  /** Not while it plays: nobody wants a link or a file of a moment that has gone by. */
  tellPython() {
    const { sentence, kind, moment, layer, head } = this.state;
    const text = JSON.stringify({ sentence, kind, moment, layer, head });
    this.callOff?.();
    if (text === this.reported || this.clock.playing) return;
    this.callOff = reportAfter(REPORT_AFTER, this.root, () => {
      this.reported = text;
      this.report(JSON.parse(text));
    });
  }

  resize() {
    if (this.root.clientWidth !== this.width) this.draw();
  }

  /**
   * Goes by whole moments; says whether it could.
   * @param {number} by
   */
  step(by) {
    const moment = this.state.moment + by;
    if (moment < 0 || moment >= this.history.steps.length) return false;
    this.set({ moment });
    return true;
  }

  /**
   * To a moment that somebody chose.
   * @param {number} moment
   */
  go(moment) {
    this.clock.pause();
    this.set({ moment });
  }

  toggle() {
    this.clock.toggle(() => this.set({ moment: 0 }));
  }

  played() {
    this.sayPlaying();
    this.tellPython();
  }

  sayPlaying() {
    const playing = Boolean(this.clock?.playing);
    const { texts } = this.history ?? {};
    this.play.classList.toggle("playing", playing);
    setAttribute(this.now, "aria-live", playing ? "off" : "polite"); // nobody wants every moment of a film read out
    if (texts) setAttribute(this.play, "aria-label", playing ? texts.pause : texts.play);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    const target = /** @type {any} */ (event.composedPath()[0]);
    if (event.key === " ") {
      if (target === this.sentence || target === this.tableButton || this.kinds.includes(target)) return;
      event.preventDefault(); // Space on a button would press it as well
      if (!event.repeat) this.toggle();
      return;
    }
    const by = /** @type {Record<string, number | undefined>} */ ({ ArrowRight: 1, ArrowLeft: -1 })[event.key];
    const own =
      target === this.slider || target === this.sentence || this.kinds.includes(target) || this.tables.contains(target);
    if (!by || own) return;
    event.preventDefault();
    this.clock.pause();
    this.step(by);
  }

  stop() {
    this.clock.stop();
    this.callOff?.();
    this.sizes.disconnect();
  }
}
