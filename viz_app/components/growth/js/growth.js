// The whole of it: what is chosen, the controls, and the pictures that follow.

import { paintCells } from "../../common/draw/canvas.js";
import { Theme } from "../../common/draw/theme.js";
import { fill, h, setAttribute, tokenElement } from "../../common/page/dom.js";
import { ARROWS, hasModifier } from "../../common/page/keyboard.js";
import { reportAfter } from "../../common/report.js";
import { fillText } from "../../common/text/format.js";
import { Clock } from "./clock.js";
import { Curves } from "./curves.js";
import { Heads } from "./heads.js";
import { GrowthHistory, KINDS } from "./history.js";
import { Large } from "./large.js";
import { jobDescriptions, momentName, momentSummary, tables } from "./numbers.js";

const REPORT_AFTER = 300; // milliseconds of rest before Python hears of what is seen

let lastName = 0;

export class Growth {
  /** @type {(state: Partial<GrowthState>) => void} Tells Python; main.js gives it. */
  report;
  /** @type {GrowthHistory} */
  history;
  /** @type {Theme} */
  theme;
  /** @type {string} The state that Python knows, as JSON. */
  reported;
  /** @type {number} */
  width;
  /** @type {() => void} */
  cancelReport = () => {};

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {GrowthState} */
    this.state = { sentence: 0, kind: "cross", moment: -1, layer: -1, head: 0, table: false };
    this.heads = new Heads((layer, head) => this.set({ layer, head }));
    this.large = new Large();
    this.curves = new Curves((moment) => this.go(moment));
    this.controls = createControls(this);
    this.notes = createNotes();
    this.tables = h("div");
    this.assemble();
    this.clock = new Clock(
      this.heads.element,
      () => this.step(1),
      () => this.playingChanged(),
    );
    root.addEventListener("keydown", (event) => this.key(event));
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(root);
  }

  assemble() {
    const { controls, notes, large } = this;
    const { sentence, sentenceName, kinds, kindNames, legend, play, slider, moment, table } = controls;
    const chips = kinds.map((input, i) => h("label", { class: "chip", "data-kind": KINDS[i] }, input, kindNames[i]));
    this.root.replaceChildren(
      h(
        "div",
        { class: "controls" },
        h("label", { class: "sentence" }, sentenceName, sentence),
        h("fieldset", { class: "kinds" }, legend, ...chips),
      ),
      notes.reads,
      h("div", { class: "time" }, play, slider, moment),
      notes.summary,
      notes.keys,
      this.heads.element,
      notes.heads,
      notes.dots,
      h("div", { class: "one" }, large.element, h("div", { class: "beside" }, notes.scale, notes.jobs)),
      this.curves.element,
      table,
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
    this.theme.apply(this.root);
    this.label();
    this.heads.build(history, history.texts);
    this.draw();
  }

  label() {
    const { history, theme, root, controls, notes } = this;
    const { texts } = history;
    setAttribute(root, "lang", history.language);
    controls.sentenceName.textContent = texts.sentence;
    setAttribute(controls.sentence, "aria-label", texts.sentence); // the label around it holds all sentences as well
    controls.sentence.replaceChildren(...history.sentences.map(({ source }) => h("option", { dir: "auto" }, source)));
    controls.legend.textContent = texts.kinds;
    controls.kindNames.forEach((name, i) => (name.textContent = texts[`kind_${KINDS[i]}`]));
    setAttribute(controls.slider, "max", history.steps.length - 1);
    setAttribute(controls.slider, "aria-label", texts.moment);
    notes.keys.textContent = texts.keys;
    notes.heads.textContent = fillText(texts.heads_note, { count: history.sentences.length });
    notes.dots.textContent = fillText(texts.dot_note, { count: history.sentences.length });
    const bar = h("canvas", { "aria-hidden": "true" });
    paintCells(bar, 1, theme.pixels.length, (_, weight) => theme.pixels[weight]);
    notes.hatched.replaceChildren(h("span", { class: "hatch", "aria-hidden": "true" }), texts.masked);
    notes.scale.replaceChildren(`${texts.weight} 0 `, bar, ` 1. ${texts.exact}`, notes.hatched);
    this.labelPlay();
  }

  /** @param {Partial<GrowthState>} change */
  set(change) {
    Object.assign(this.state, change);
    this.draw();
  }

  draw() {
    const { history, theme, state, controls, notes } = this;
    if (!history || !this.root.clientWidth) return;
    this.width = this.root.clientWidth;
    const { texts } = history;
    const name = momentName(history, state.moment, texts);
    setAttribute(this.root, "data-kind", state.kind);
    controls.sentence.selectedIndex = state.sentence;
    for (const input of controls.kinds) input.checked = input.value === state.kind;
    notes.reads.replaceChildren(
      fill(texts.reads, { target: tokenElement(history.sentences[state.sentence].target, "i") }),
    );
    controls.slider.value = String(state.moment);
    setAttribute(controls.slider, "aria-valuetext", name);
    controls.moment.textContent = name;
    const summary = momentSummary(history, state.moment, texts);
    notes.summary.textContent = summary;
    this.heads.update(history, state, theme, texts);
    this.large.update(history, state, theme, texts);
    notes.hatched.hidden = state.kind !== "decoder" || !history.causal;
    notes.jobs.replaceChildren(...jobDescriptions(history, state, texts).map((job) => h("li", {}, job)));
    this.curves.update(history, state, theme, texts, fillText(texts.curves, { state: `${name}, ${summary}` }));
    controls.table.textContent = state.table ? texts.table_close : texts.table;
    setAttribute(controls.table, "aria-expanded", state.table);
    this.tables.replaceChildren(...(state.table ? [tables(history, state, texts)] : []));
    this.reportState();
  }

  /** Not while it plays: nobody wants a link or a file of a moment that has gone by. */
  reportState() {
    const { sentence, kind, moment, layer, head } = this.state;
    const text = JSON.stringify({ sentence, kind, moment, layer, head });
    this.cancelReport();
    if (text === this.reported || this.clock.playing) return;
    this.cancelReport = reportAfter(REPORT_AFTER, this.root, () => {
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

  playingChanged() {
    this.labelPlay();
    this.reportState();
  }

  labelPlay() {
    const { playing } = this.clock;
    const { play } = this.controls;
    play.classList.toggle("playing", playing);
    setAttribute(this.notes.summary, "aria-live", playing ? "off" : "polite"); // nobody wants every moment of a film read out
    setAttribute(play, "aria-label", playing ? this.history.texts.pause : this.history.texts.play);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.defaultPrevented || hasModifier(event)) return;
    const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
    const { sentence, kinds, table, slider } = this.controls;
    const chooses = [sentence, ...kinds].some((each) => each === target);
    if (event.key === " ") {
      if (chooses || target === table) return;
      event.preventDefault(); // Space on a button would press it as well
      if (!event.repeat) this.toggle();
      return;
    }
    const [, by] = ARROWS[event.key] ?? [];
    if (!by || chooses || target === slider || this.tables.contains(target)) return;
    event.preventDefault();
    this.clock.pause();
    this.step(by);
  }

  stop() {
    this.clock.stop();
    this.cancelReport();
    this.sizes.disconnect();
  }
}

/** @param {Growth} growth */
function createControls(growth) {
  lastName += 1;
  const name = `growth-kind-${lastName}`;
  const sentence = h("select", { change: () => growth.set({ sentence: sentence.selectedIndex }) });
  const slider = h("input", { type: "range", min: 0, step: 1, input: () => growth.go(Number(slider.value)) });
  const icon = h("span", { class: "icon", "aria-hidden": "true" });
  return {
    sentence,
    sentenceName: h("span", { class: "name" }),
    kinds: KINDS.map((kind) => h("input", { type: "radio", name, value: kind, change: () => growth.set({ kind }) })),
    kindNames: KINDS.map(() => h("span")),
    legend: h("legend", { class: "unseen" }),
    play: h("button", { class: "play", click: () => growth.toggle() }, icon),
    slider,
    moment: h("output", { class: "moment" }),
    table: h("button", { class: "tool", click: () => growth.set({ table: !growth.state.table }) }),
  };
}

function createNotes() {
  return {
    reads: h("p", { class: "note" }),
    summary: h("p", { class: "now", "aria-live": "polite" }),
    keys: h("p", { class: "note" }),
    heads: h("p", { class: "note heads-note" }),
    dots: h("p", { class: "note dot-note" }),
    scale: h("p", { class: "note scale" }),
    hatched: h("span", { class: "hatched" }),
    jobs: h("ul", { class: "jobs" }),
  };
}
