// The training history of a model: what is chosen, the controls, and the pictures that follow.

import { whenHidden } from "../../common/component.js";
import { paintCells } from "../../common/draw/canvas.js";
import { Theme } from "../../common/draw/theme.js";
import { KINDS } from "../../common/heads/heads.js";
import { fill, h, setAttribute, tokenElement } from "../../common/page/dom.js";
import { hasModifier } from "../../common/page/keyboard.js";
import { TimeBar } from "../../common/page/timebar.js";
import { StateReport } from "../../common/report.js";
import { fillText } from "../../common/text/format.js";
import { Curves } from "./curves.js";
import { HeadMap } from "./headmap.js";
import { HeadTiles } from "./headtiles.js";
import { roleDescriptions, snapshotName, snapshotSummary, tables } from "./numbers.js";
import { TrainingHistory } from "./traininghistory.js";

const BEAT = 900; // milliseconds for which a snapshot stands while it plays

let lastName = 0;

export class Growth {
  /** @type {TrainingHistory} */
  history;
  /** @type {Theme} */
  theme;
  /** @type {number} */
  width;
  reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {GrowthState} */
    this.state = { sentence: 0, kind: "cross", snapshot: -1, layer: -1, head: 0, table: false, playing: false };
    this.report = new StateReport(root);
    this.time = new TimeBar(BEAT, {
      toggle: () => this.toggle(),
      seek: (snapshot) => this.go(snapshot),
      tick: () => this.step(1) || this.pause(),
    });
    this.heads = new HeadTiles((layer, head) => this.set({ layer, head }));
    this.large = new HeadMap();
    this.curves = new Curves((snapshot) => this.go(snapshot));
    this.controls = createControls(this);
    this.notes = createNotes();
    this.tables = h("div");
    this.assemble();
    this.stopWatching = whenHidden(this.heads.element, () => this.pause());
    root.addEventListener("keydown", (event) => this.key(event));
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(root);
  }

  assemble() {
    const { controls, notes, large, time } = this;
    const { sentence, sentenceName, kinds, kindNames, legend, table } = controls;
    const chips = kinds.map((input, i) => h("label", { class: "chip", "data-kind": KINDS[i] }, input, kindNames[i]));
    time.text.setAttribute("role", "status");
    this.root.replaceChildren(
      h(
        "div",
        { class: "controls" },
        h("label", { class: "sentence" }, sentenceName, sentence),
        h("fieldset", { class: "kinds" }, legend, ...chips),
      ),
      notes.reads,
      h("div", { class: "time" }, time.button, time.slider, time.text),
      notes.summary,
      notes.keys,
      this.heads.element,
      notes.heads,
      notes.dots,
      h("div", { class: "one" }, large.element, h("div", { class: "beside" }, notes.scale, notes.roles)),
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
    const history = new TrainingHistory(bytes);
    const { header, steps } = history;
    const { moment: snapshot, ...start } = header.start; // the name in addresses
    this.history = history;
    this.theme = new Theme(this.root, header.colours);
    const { state } = this;
    const first = state.snapshot < 0;
    const fits =
      state.snapshot < steps.length &&
      state.layer < header.layers &&
      state.head < header.heads &&
      state.sentence < header.sentences.length;
    if (first || !fits) Object.assign(state, { ...start, snapshot });
    if (first) this.report.known(this.seen());
    this.root.classList.toggle("many", history.many);
    this.theme.apply(this.root);
    this.label();
    this.heads.build(history);
    this.draw();
  }

  label() {
    const { history, theme, root, controls, notes } = this;
    const { texts, header, steps } = history;
    const count = header.sentences.length;
    setAttribute(root, "lang", header.language);
    controls.sentenceName.textContent = texts.sentence;
    setAttribute(controls.sentence, "aria-label", texts.sentence); // the label around it holds all sentences as well
    controls.sentence.replaceChildren(...header.sentences.map(({ source }) => h("option", { dir: "auto" }, source)));
    controls.legend.textContent = texts.kinds;
    controls.kindNames.forEach((name, i) => (name.textContent = texts[`kind_${KINDS[i]}`]));
    this.time.build(0, steps.length - 1, texts.moment);
    notes.keys.textContent = texts.keys;
    notes.heads.textContent = fillText(texts.heads_note, { count });
    notes.dots.textContent = fillText(texts.dot_note, { count });
    const bar = h("canvas", { "aria-hidden": "true" });
    paintCells(bar, 1, theme.pixels.length, (_, weight) => theme.pixels[weight]);
    notes.hatched.replaceChildren(h("span", { class: "hatch", "aria-hidden": "true" }), texts.masked);
    notes.scale.replaceChildren(`${texts.weight} 0 `, bar, ` 1. ${texts.exact}`, notes.hatched);
  }

  /** @param {Partial<GrowthState>} patch */
  set(patch) {
    Object.assign(this.state, patch);
    this.draw();
  }

  draw() {
    const { history, theme, state, controls, notes } = this;
    if (!history || !this.root.clientWidth) return;
    this.width = this.root.clientWidth;
    const { texts, header } = history;
    const { snapshot, playing, kind, sentence } = state;
    const name = snapshotName(history, snapshot);
    setAttribute(this.root, "data-kind", kind);
    controls.sentence.selectedIndex = sentence;
    for (const input of controls.kinds) input.checked = input.value === kind;
    const target = tokenElement(header.sentences[sentence].target, "i");
    notes.reads.replaceChildren(fill(texts.reads, { target }));
    const label = playing ? texts.pause : texts.play;
    this.time.update({ value: snapshot, text: name, spoken: name, playing, label });
    const summary = snapshotSummary(history, snapshot);
    setAttribute(notes.summary, "aria-live", playing ? "off" : "polite"); // a film is not read out
    notes.summary.textContent = summary;
    this.heads.update(history, state, theme);
    this.large.update(history, state, theme);
    notes.hatched.hidden = kind !== "decoder" || !header.causal;
    notes.roles.replaceChildren(...roleDescriptions(history, state).map((role) => h("li", {}, role)));
    this.curves.update(history, state, theme, fillText(texts.curves, { state: `${name}, ${summary}` }));
    controls.table.textContent = state.table ? texts.table_close : texts.table;
    setAttribute(controls.table, "aria-expanded", state.table);
    this.tables.replaceChildren(...(state.table ? [tables(history, state)] : []));
    this.report.update(this.seen(), playing);
  }

  /** What Python hears of. */
  seen() {
    const { sentence, kind, snapshot, layer, head } = this.state;
    return { sentence, kind, moment: snapshot, layer, head };
  }

  resize() {
    if (this.root.clientWidth !== this.width) this.draw();
  }

  /**
   * Goes by whole snapshots; says whether it could.
   * @param {number} by
   */
  step(by) {
    const snapshot = this.state.snapshot + by;
    if (snapshot < 0 || snapshot >= this.history.steps.length) return false;
    this.set({ snapshot });
    return true;
  }

  /** @param {number} snapshot */
  go(snapshot) {
    this.set({ snapshot, playing: false });
  }

  /** Plays or pauses; where motion is not wanted a press goes on by one snapshot. */
  toggle() {
    if (this.state.playing) return this.pause();
    if (!this.step(1)) this.set({ snapshot: 0 });
    if (!this.reducedMotion.matches) this.set({ playing: true });
  }

  pause() {
    if (this.state.playing) this.set({ playing: false });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.defaultPrevented || hasModifier(event)) return;
    const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
    const { sentence, kinds, table } = this.controls;
    const chooses = [sentence, ...kinds].some((each) => each === target);
    if (event.key === " ") {
      if (chooses || target === table) return;
      event.preventDefault(); // Space on a button would press it as well
      if (!event.repeat) this.toggle();
      return;
    }
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || chooses || target === this.time.slider || this.tables.contains(target)) return;
    event.preventDefault();
    this.pause();
    this.step(by);
  }

  stop() {
    this.stopWatching();
    this.time.stop();
    this.report.stop();
    this.sizes.disconnect();
  }
}

/** @param {Growth} growth */
function createControls(growth) {
  lastName += 1;
  const name = `growth-kind-${lastName}`;
  const sentence = h("select", { change: () => growth.set({ sentence: sentence.selectedIndex }) });
  return {
    sentence,
    sentenceName: h("span", { class: "name" }),
    kinds: KINDS.map((kind) => h("input", { type: "radio", name, value: kind, change: () => growth.set({ kind }) })),
    kindNames: KINDS.map(() => h("span")),
    legend: h("legend", { class: "unseen" }),
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
    roles: h("ul", { class: "jobs" }),
  };
}
