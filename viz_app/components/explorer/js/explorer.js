// One explorer on a page: its parts, its layout, and what has to be drawn again when something changes.

import { caption, readout, spoken, unitName } from "./sentences.js";
import { Choice, kindChoice, Player } from "./controls.js";
import { fillText, h, setAttribute } from "./dom.js";
import { LargeMap } from "./map.js";
import { Legend } from "./legend.js";
import { KINDS, readHeader, Translation } from "./data.js";
import { Store } from "./store.js";
import { Table } from "./table.js";
import { Theme } from "./theme.js";
import { Tiles } from "./tiles.js";
import { Words } from "./words.js";

const WIDE = 720; // from this width on the map and the tiles stand side by side
const REPORT_AFTER = 300; // milliseconds of rest before Python hears of a selection
const NOTE = 24; // height that the note under the tiles needs beyond the map
const BESIDE = 185; // width that the readout needs to stand beside the map

/** Distance of an element from the top of the page when nothing is scrolled. */
function top(element) {
  let distance = element.getBoundingClientRect().top;
  for (let node = element; node; node = node.parentNode ?? node.host) distance += node.scrollTop ?? 0;
  return distance;
}

export class Explorer {
  constructor(root) {
    this.root = root;
    this.store = new Store((state, changed) => this.render(state, changed));
    this.words = new Words(this.store);
    this.kind = kindChoice(this.store);
    this.zoom = new Choice("zoom", ["heads", "head", "token"], this.store);
    this.unit = new Choice("unit", ["pieces", "words"], this.store);
    this.view = new Choice("view", ["heads", "layer"], this.store);
    this.player = new Player(this.store);
    this.map = new LargeMap(this.store);
    this.tiles = new Tiles(this.store);
    this.legend = new Legend();
    this.table = new Table(this.store);
    this.assemble();
    this.sizes = new ResizeObserver(() => this.store.mark("size"));
    this.sizes.observe(root);
    this.onResize = () => this.store.mark("size");
    window.addEventListener("resize", this.onResize);
    // Widths of labels are only right once their font is there.
    this.onFonts = () => {
      this.map.labels = null;
      this.store.mark("size");
    };
    document.fonts.addEventListener("loadingdone", this.onFonts);
    root.addEventListener("keydown", (event) => this.key(event));
  }

  assemble() {
    this.caption = h("figcaption", { class: "caption" });
    this.queryTitle = h("span", { class: "axis query-axis" });
    this.keyTitle = h("span", { class: "axis key-axis" });
    this.readout = h("div", { class: "readout" });
    this.live = h("p", { class: "unseen", "aria-live": "polite" });
    this.note = h("p", { class: "note" });
    this.count = h("p", { class: "note count" });
    this.frame = h("div", { class: "map-frame" }, this.keyTitle, this.queryTitle, this.map.element);
    const beside = h("div", { class: "beside" }, this.readout, this.legend.element, this.table.button, this.note);
    this.row = h("div", { class: "head-row" }, this.frame, beside);
    this.figure = h("figure", { class: "head" }, this.caption, this.row);
    this.views = h("div", { class: "views" }, this.view.element);
    this.overview = h("div", { class: "overview" }, this.views, this.tiles.element, this.count);
    this.controls = h(
      "div",
      { class: "controls" },
      this.zoom.element,
      this.kind.element,
      this.unit.element,
      this.player.element,
    );
    this.body = h("div", { class: "body" }, this.figure, this.overview);
    this.root.replaceChildren(this.words.element, this.controls, this.body, this.table.element, this.live);
  }

  /** New data, or the same again after a rerun or a change of theme. */
  receive(buffer) {
    const read = readHeader(buffer);
    const first = !this.translation;
    if (read.header.id === this.translation?.id && read.header.follow === this.translation.follow) {
      if (new Theme(this.root, this.translation.colours).key !== this.theme.key) this.store.mark("theme");
      return;
    }
    const translation = new Translation(buffer, read);
    this.translation = translation;
    this.texts = translation.texts;
    this.words.build(translation, this.texts);
    this.player.build(translation, this.texts);
    this.label();
    if (first || translation.follow) this.start(translation);
    else this.store.set({ ...this.fitted(this.store.state), cursor: null });
    this.store.mark("data");
    this.store.mark("theme");
    if (first) this.store.flush();
  }

  start({ selection, gloss }) {
    this.store.set({ ...selection, ...this.fitted(selection), kind: selection.kind });
    this.store.touch({ gloss });
    this.reported = JSON.stringify(this.store.selection());
  }

  /** Layer, head, step and pin that exist in this translation. */
  fitted({ kind, layer, head, step, pin, unit, average }) {
    const shape = this.translation.shape(kind);
    const view = this.translation.view(kind, unit, this.step({ step }));
    const positions = pin?.startsWith("k") ? view.keys : view.queries;
    return {
      pin: pin && Number(pin.slice(1)) < positions.length ? pin : null,
      average,
      layer: Math.min(layer, shape.layers - 1),
      head: Math.min(head, shape.heads - 1),
      step: step !== null && step >= this.translation.length ? null : step,
    };
  }

  label() {
    const { texts } = this;
    this.kind.label(texts.kinds, KINDS.map((kind) => texts[`kind_${kind}`]));
    this.zoom.label(texts.zoom, [texts.zoom_heads, texts.zoom_head, texts.zoom_token]);
    this.view.label(texts.view, [texts.view_heads, texts.view_layer]);
    this.unit.label(texts.unit, [texts.unit_pieces, texts.unit_words]);
    setAttribute(this.root, "lang", texts.language);
    this.count.textContent = texts.count_note;
  }

  /** The view that the large map and the tiles draw. */
  shown() {
    const { kind, unit } = this.store.state;
    return this.translation.view(kind, unit, this.step(this.store.state));
  }

  /** The matrix that the large map draws: a head, or a mean over heads. */
  sheet() {
    const { layer, head, average } = this.store.state;
    return this.shown().sheet(layer, head, average);
  }

  /** Pieces written so far. */
  step({ step }) {
    return step ?? this.translation.length;
  }

  render(state, changed) {
    if (!this.translation) return;
    const has = (...names) => names.some((name) => changed.has(name));
    if (has("theme")) this.retheme();
    Object.assign(state, this.fitted(state)); // kinds may differ in layers and heads
    const step = this.step(state);
    const view = this.shown();
    const sheet = this.sheet();
    const all = has("data", "theme");
    // Where the pointer is, and whether the table is open, change no picture.
    const drawn = [...changed].some((name) => !["cursor", "table", "size"].includes(name));
    if (drawn) this.update(state, step, view, sheet);
    if (drawn || has("size")) {
      this.layout(view);
      if (all || has("kind", "unit", "step", "view", "zoom", "size") || state.view === "layer") {
        this.tiles.paint(view, this.theme, has("data"));
      }
      this.tiles.mark(view, state, this.texts);
    }
    if (drawn || has("table")) this.table.update(sheet, state, this.title(sheet), this.texts);
    this.map.draw();
    this.point(sheet, state);
    this.tiles.readOut(view, state);
    this.tellPython();
  }

  retheme() {
    this.theme = new Theme(this.root, this.translation.colours);
    for (const kind of KINDS) this.root.style.setProperty(`--${kind}`, this.theme.kinds[kind]);
    this.root.style.setProperty("--hatch", this.theme.hatch);
    this.root.style.setProperty("--muted", this.theme.muted);
    this.root.style.setProperty("--line", this.theme.line);
  }

  title({ kind, name }) {
    return fillText(this.texts.title, { kind: this.texts[`kind_${kind}`], head: name });
  }

  update(state, step, view, sheet) {
    const { texts } = this;
    const { kind } = state;
    for (const choice of [this.zoom, this.kind, this.unit, this.view]) choice.update(state);
    this.root.dataset.zoom = state.zoom;
    this.chooseLayer(view, state);
    this.root.dataset.kind = kind;
    this.count.hidden = state.view === "layer";
    this.words.update(state, step);
    this.player.update(state, step);
    // While the translation is being written, the newest row is the one to look at.
    const current = state.step === null || kind === "encoder" || !view.rows ? null : view.rows - 1;
    this.map.show(sheet, this.theme, { current, label: `${this.title(sheet)}. ${texts.map_keys}` });
    this.caption.replaceChildren(caption(sheet, current, texts));
    this.queryTitle.textContent = fillText(texts[`query_${kind}`], { unit: unitName(view, texts) });
    this.keyTitle.textContent = texts[`key_${kind}`];
    this.note.textContent = kind === "encoder" && state.step !== null ? texts.encoder_note : "";
    this.legend.draw(this.theme, texts, view.causal);
    this.tiles.build(view, state, texts);
  }

  layout(view) {
    const width = this.root.clientWidth;
    const wide = width >= WIDE;
    this.root.classList.toggle("wide", wide);
    const left = window.innerHeight - top(this.figure) - this.caption.offsetHeight - 34;
    const height = wide ? Math.max(220, Math.min(640, left)) : 420;
    const tallest = Math.max(height, Math.min(640, window.innerHeight - 220));
    this.tiles.layout(view, this.overview.clientWidth, height - (wide ? NOTE : 0));
    // The readout stands beside the map where that leaves the cells a good size, else under it.
    const space = this.figure.clientWidth - 22;
    this.map.layout(space - BESIDE, height, tallest);
    const { cell, full, shown } = this.map.geometry;
    const beside = full.width <= shown.width && cell >= 16;
    if (!beside) this.map.layout(space, height, tallest);
    this.row.classList.toggle("stacked", !beside);
  }

  /** The numbers of the layers, while one layer is shown. */
  chooseLayer(view, state) {
    if (this.layer?.values.length !== view.layers) {
      this.layer?.element.remove();
      this.layer = new Choice("layer", Array.from({ length: view.layers }, (_, layer) => layer), this.store);
      this.views.append(this.layer.element);
    }
    const numbers = this.layer.values.map((layer) => String(layer + 1));
    this.layer.label(this.texts.layer, numbers);
    this.layer.update(state);
    this.layer.element.hidden = state.view !== "layer";
  }

  /** Everything about the cell under the pointer or of the keyboard. */
  point(sheet, state) {
    const { cursor } = state;
    const valid = cursor && (cursor.query === null || cursor.query < sheet.rows) && (cursor.key === null || cursor.key < sheet.columns);
    this.readout.replaceChildren(...(valid ? readout(sheet, cursor, this.texts) : [h("span", { class: "note" }, this.texts.point)]));
    const cell = valid && cursor.query !== null && cursor.key !== null && !sheet.masked(cursor.query, cursor.key);
    this.legend.point(cell ? sheet.at(cursor.query, cursor.key) : null);
    const line = valid ? spoken(sheet, cursor, this.texts) : "";
    if (this.live.textContent !== line) this.live.textContent = line;
  }

  /** Space plays and pauses wherever it has no other meaning. */
  key(event) {
    const target = event.composedPath()[0];
    if (event.key !== " " || target instanceof HTMLButtonElement) return;
    event.preventDefault();
    this.player.toggle();
  }

  tellPython() {
    const text = JSON.stringify(this.store.selection());
    clearTimeout(this.waiting);
    if (text === this.reported || this.store.state.playing) return;
    this.waiting = setTimeout(() => {
      this.reported = text;
      this.report(JSON.parse(text));
    }, REPORT_AFTER);
  }

  stop() {
    clearTimeout(this.waiting);
    this.player.stop();
    this.store.stop();
    this.sizes.disconnect();
    window.removeEventListener("resize", this.onResize);
    document.fonts.removeEventListener("loadingdone", this.onFonts);
  }
}
