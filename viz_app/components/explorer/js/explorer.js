// One explorer on a page: its parts, its layout, and what a change draws again.

import { Theme } from "../../common/draw/theme.js";
import { headAddress, KINDS } from "../../common/heads/heads.js";
import { fill, h, pageTop, setAttribute } from "../../common/page/dom.js";
import { onFollowedView } from "../../common/page/followed_view.js";
import { isPresenting, leavePresenting, present } from "../../common/page/presenting.js";
import { fillText } from "../../common/text/format.js";
import { Beam } from "./beam/beam.js";
import { Candidates } from "./beam/candidates.js";
import { findings, whenTold } from "./cards/findings.js";
import { HeadCard } from "./cards/headcard.js";
import { HeadSwitch } from "./cards/headswitch.js";
import { Compare } from "./compare/compare.js";
import { Choice, Player } from "./controls.js";
import { halves, readPayload, Translation } from "./data/data.js";
import { DraftTranslation } from "./data/draft.js";
import { growFrom } from "./draw/transition.js";
import { Figure } from "./figure.js";
import { FigureFiles } from "./figurefiles.js";
import { Marks } from "./marks.js";
import { Menu } from "./menu.js";
import { MenuTools } from "./menutools.js";
import { Overview } from "./overview.js";
import { Recorder } from "./record.js";
import { Regions } from "./regions.js";
import { fitted, Report } from "./selectiontext.js";
import { Store } from "./store.js";
import { Tree } from "./tree/tree.js";
import { Words } from "./words.js";

const WIDE = 720; // from this width on the map and the tiles stand side by side
const LOW = 0.5; // share of the window above the pictures
const SCROLLED = 90; // what stands over them when one has scrolled
const TILES_CHANGE = ["kind", "unit", "step", "view", "zoom", "size", "order", "scale", "special", "threshold"];

export class Explorer {
  /** @type {{ key: string | undefined, state: State } | undefined} The one that was shown last, perhaps on another page. */
  static last;
  /** @type {(head: string | null) => void} Tells Python which head is switched off. */
  reportOff;
  pointing = false; // whether a cell was pointed at when a key was pressed
  /** @type {HTMLDivElement} */
  body;
  /** @type {Translation} */
  translation;
  /** @type {DraftTranslation | null} What a search has of the next one. */
  draft = null;
  /** @type {Draft | null | undefined} What came of it last. */
  drafted;
  unpainted = Infinity; // first row of the draft that the pictures lack
  faded = true; // whether what they show under it is faint
  /** @type {Set<string>} What changed during a draft. */
  missed = new Set();
  /** @type {ExplorerTexts} */
  texts;
  /** @type {Theme} */
  theme;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.store = new Store((state, changed) => this.render(state, changed));
    this.report = new Report(root, this.store);
    this.tree = new Tree(this.store);
    this.words = new Words(this.store);
    this.marks = new Marks();
    this.beam = new Beam(this.store);
    this.compare = new Compare(this.store);
    this.kind = new Choice("kind", KINDS, {
      set: ({ kind }) => this.store.set(this.overview.turned(this.store.state, /** @type {Kind} */ (kind))),
    });
    this.zoom = new Choice("zoom", ["heads", "head", "token"], {
      set: ({ zoom = "head" }) => this.store.set(this.overview.zoomed(this.store.state, zoom)),
    });
    this.player = new Player(this.store);
    this.candidates = new Candidates(this.store);
    this.menu = new Menu(this.store);
    this.figure = new Figure(this.store);
    this.recorder = new Recorder(this.store, this.figure);
    this.files = new FigureFiles(this);
    this.menu.panel.append(...this.recorder.film.tools.map(({ button }) => button), this.files.element);
    this.overview = new Overview(this.store);
    this.card = new HeadCard(this.store);
    this.switch = new HeadSwitch(this.store, this.overview);
    this.headName = h("b", { class: "head-name" }); // beside the flow, which is of no one head
    this.aboutHead = h("div", { class: "head-card" }, this.headName, ...this.card.tools, ...this.switch.tools);
    this.tools = new MenuTools(this);
    this.menu.tools.append(...this.tools.buttons);
    this.regions = new Regions(this);
    this.assemble();
    this.untold = whenTold(() => {
      this.takeDraft();
      this.store.mark("findings");
    });
    this.stopFollowing = onFollowedView((view) => this.showFollowed(view));
    this.sizes = new ResizeObserver(() => this.store.mark("size"));
    this.sizes.observe(root);
    this.onResize = () => this.store.mark("size");
    window.addEventListener("resize", this.onResize);
    // Widths of labels are only right once their font is there.
    this.onFonts = () => {
      const { map, lines, flow, token } = this.figure;
      for (const drawing of [map, lines, flow.canvas, token.map, this.beam.tree]) drawing.stale = true;
      this.tree.draw();
      this.store.mark("size");
    };
    document.fonts.addEventListener("loadingdone", this.onFonts);
    root.addEventListener("keydown", () => (this.pointing = this.store.state.cursor !== null), true);
    root.addEventListener("keydown", (event) => this.key(event));
  }

  assemble() {
    const { words, beam, candidates, compare, figure, overview } = this;
    const { zoom, kind, player, menu } = this;
    const row = [zoom.element, kind.element, player.element, menu.element, menu.chips];
    const controls = h("div", { class: "controls" }, ...row);
    // The candidates of a step take the place of the note, so that nothing moves.
    words.line.after(h("div", { class: "below-words" }, words.note, this.marks.element, candidates.element));
    const { picture, heads } = this.regions;
    this.body = h("div", { class: "body" }, picture, figure.element, heads, overview.element);
    words.heading.after(this.tree.element);
    const parts = [words.element, this.regions.element, beam.note.element, beam.element, controls];
    figure.tools.append(compare.tools);
    figure.legend.element.before(this.aboutHead);
    const under = [this.body, this.card.element, figure.table.element];
    this.root.replaceChildren(...parts, this.switch.result, compare.element, ...under);
  }

  /**
   * New data, or the same again after a rerun or a change of theme.
   * @param {Uint8Array} buffer
   */
  receive(buffer) {
    this.endDraft();
    const [own, compared] = halves(buffer);
    const read = readPayload(own);
    this.drafted = findings(read.header.key).draft; // of what is whole now
    const other = compared && readPayload(compared);
    const first = !this.translation;
    const same = read.header.id === this.translation?.id && read.header.follow === this.translation.follow;
    if (same && (!other || other.header.id === this.compare.comparison.pinned?.id)) {
      if (new Theme(this.root, this.translation.colours).key !== this.theme.key) this.store.mark("theme");
      return;
    }
    const translation = same ? this.translation : new Translation(read);
    if (!first && String(translation.axes.source.tokens) !== String(this.translation.axes.source.tokens))
      this.marks.show("typed", fillText(translation.texts.mark_typed, { count: translation.headCount }));
    const another = !first && translation.about?.own !== this.translation.about?.own; // model that speaks
    const searched = translation.beam?.id === this.translation?.beam?.id; // another branch of the same search
    this.translation = translation;
    this.texts = translation.texts;
    this.tree.build(translation, this.texts);
    this.beam.build(translation, this.texts);
    this.player.build(translation, this.texts);
    this.candidates.build(translation, this.texts);
    this.card.build(translation, this.texts);
    this.switch.build(translation, this.texts);
    this.overview.receive(translation, this.texts);
    this.figure.measures = this.overview.measures;
    this.label();
    if (first) this.store.declare(translation.defaults);
    this.store.state.opens = translation.opens;
    if (first || translation.follow) this.start(translation);
    else this.store.set({ ...fitted(this.translation, this.store.state), cursor: null });
    // The words stand under the translation by the best aligner of the new model, unless one of its heads is looked at.
    if (another && this.store.state.kind !== "cross") this.store.touch({ gloss: translation.gloss });
    if (first) this.goOn(translation);
    // Hundreds of heads are opened by layer, and fewer side by side.
    if (!this.store.state.viewChosen) this.store.set({ view: translation.opens });
    if (!searched || first)
      this.store.set({ branch: translation.beam?.shown ?? 0, force: translation.about?.force ?? null });
    // Last: another head or branch would switch it on. Python need not hear of none.
    if (first && translation.off) this.store.touch({ off: translation.off });
    this.compare.receive(translation, other && new Translation(other), this.texts);
    this.store.mark("data");
    this.store.mark("theme");
    if (first && isPresenting()) this.present(true);
    if (first) this.store.flush();
  }

  /** The newest draft, which may have only the rows that are new. */
  takeDraft() {
    const { draft } = findings(this.translation?.key);
    if (draft === this.drafted) return;
    this.drafted = draft;
    if (!draft) return this.endDraft();
    const { element } = this.words;
    if (!this.draft) element.style.minHeight = `${element.offsetHeight}px`; // so that nothing below jumps up
    if (!this.draft?.continues(draft)) {
      if (draft.from) return; // its beginning went by
      this.draft = new DraftTranslation(this.translation, draft);
      this.faded = false;
    }
    this.unpainted = Math.min(this.unpainted, this.draft.take(draft));
    setAttribute(this.root, "aria-busy", "true");
    this.store.mark("draft");
  }

  /** Back to the whole translation. */
  endDraft() {
    if (!this.draft) return;
    this.draft = null;
    this.unpainted = Infinity;
    this.words.element.style.minHeight = "";
    setAttribute(this.root, "aria-busy", "false");
    for (const name of ["data", ...this.missed]) this.store.mark(name);
    this.missed.clear();
  }

  buildWords() {
    this.words.build(this.drawn, this.texts);
  }

  /** What is drawn: a draft, or a whole translation. */
  get drawn() {
    return this.draft ?? this.translation;
  }

  /** @param {Translation} translation */
  start({ selection, gloss }) {
    this.store.set({ ...selection, ...fitted(this.translation, { ...this.store.state, ...selection }) });
    if (this.store.state.kind !== "cross") this.store.touch({ gloss });
    this.report.known();
  }

  /**
   * After a visit to another page the view is chosen if it was before.
   * @param {Translation} translation
   */
  goOn({ key }) {
    const { last } = Explorer;
    const { state } = this.store;
    if (last && last.key === key) state.viewChosen = last.state.viewChosen;
    Explorer.last = { key, state };
  }

  /**
   * Selects what the teacher has selected, as far as this translation has it.
   * @param {any} view
   */
  showFollowed({ selection }) {
    if (!selection || !this.translation) return false;
    const { against, vs, vsmodel, vsbranch, ...own } = selection; // a comparison needs its other sentence or model
    this.store.set({ ...own, ...fitted(this.translation, { ...this.store.state, ...own }) });
    return true;
  }

  label() {
    const { texts } = this;
    this.kind.label(
      texts.kinds,
      KINDS.map((kind) => texts[`kind_${kind}`]),
    );
    this.kind.offer(this.translation.available);
    const heads = fillText(texts.zoom_heads, { count: this.translation.headCount });
    this.zoom.label(texts.zoom, [heads, texts.zoom_head, texts.zoom_token]);
    this.regions.label(texts, heads);
    this.menu.label(texts);
    this.marks.label(texts);
    this.tools.label();
    this.recorder.label(texts);
    this.files.build();
    this.figure.label(texts);
    setAttribute(this.root, "lang", texts.language);
  }

  /** @param {boolean} on */
  present(on) {
    present(this.root, on);
    this.root.tabIndex = -1; // a press on nothing leaves the focus here, where Escape is heard
    this.label();
    this.store.mark("size");
  }

  /** The view that the large map and the tiles draw. */
  shown() {
    const { kind, unit } = this.store.state;
    return this.drawn.view(kind, unit, this.step(this.store.state));
  }

  /** The matrix that the large map draws: a head, or a mean over heads. */
  matrix() {
    const { layer, head, average } = this.store.state;
    return this.shown().matrix(layer, head, average);
  }

  /**
   * Find a named part of a canvas, "node 5" of the beam tree: the one way for tests to point at it.
   * @param {string} name
   */
  hit(name) {
    const node = Number(name.slice("node ".length));
    return { x: this.beam.tree.layout.x(node), y: this.beam.tree.layout.y(node) };
  }

  /**
   * Tokens written so far.
   * @param {Pick<State, "step">} state
   */
  step({ step }) {
    return this.drawn.written ?? step ?? this.translation.length;
  }

  /**
   * @param {State} state
   * @param {Set<string>} changed
   */
  render(state, changed) {
    if (!this.translation) return;
    /** @param {...string} names */
    const has = (...names) => names.some((name) => changed.has(name));
    if (has("theme")) this.retheme();
    if (this.draft) return this.renderDraft(state, changed);
    if (has("data")) this.buildWords();
    Object.assign(state, fitted(this.translation, state)); // kinds may differ in layers and heads
    const step = this.step(state);
    const view = this.shown();
    const matrix = this.matrix();
    // While the translation is being written, the newest row is the one to look at.
    const current = state.step === null || state.kind === "encoder" || !view.rows ? null : view.rows - 1;
    state.pin = this.figure.pinFor(matrix, state, current, has("step"));
    const all = has("data", "theme");
    // Where the pointer is, and whether the table is open, change no picture.
    const drawn = [...changed].some((name) => !["cursor", "spot", "table", "size", "beam", "alpha"].includes(name));
    if (drawn) this.update(state, step);
    if (drawn) this.figure.update(view, matrix, state, current, this.theme);
    this.root.classList.toggle("flowing", this.figure.flows);
    if (drawn || has("cursor")) this.tree.update(state, step, view, matrix);
    if (drawn) this.updateHead(state);
    if (has("off")) this.reportOff(state.off);
    if (!has("data")) this.remark(state, changed);
    if (drawn || has("size")) {
      this.layout(state);
      if (all || has(...TILES_CHANGE) || state.view === "layer" || this.overview.heads.moved)
        this.overview.paint(state, this.theme, has("data"));
      this.overview.mark(has("data"));
    }
    if (drawn || has("table")) this.figure.tabulate(state);
    this.figure.draw();
    this.figure.point(state);
    this.grow();
    if (drawn || has("beam", "alpha")) this.beam.update(state, this.theme, this.translation.languages.target);
    if (drawn) this.compare.update(state, matrix, this.theme, step);
    this.root.dataset.compare = this.compare.ready(state) ? "on" : "off";
    if (has("size")) {
      this.beam.tree.draw();
      this.compare.layout();
    }
    this.overview.readOut(state);
    if (has("zoom")) this.zoomed(state);
    this.report.update(this.translation);
  }

  /**
   * Answers what was done for the first time.
   * @param {State} state
   * @param {Set<string>} changed
   */
  remark(state, changed) {
    const { texts } = this;
    if (changed.has("pin") || changed.has("step")) this.marks.hide(); // in its place stand the candidates of a token
    if (changed.has("head") || changed.has("layer")) {
      const values = { layer: state.layer + 1, number: state.head + 1, kind: texts[`kind_${state.kind}`] };
      this.marks.show("head", fill(texts.mark_head, { ...values, head: h("b", {}, headAddress(state)) }));
    }
    if (changed.has("playing") && !state.playing && state.step === null) this.marks.show("step", texts.mark_step);
  }

  /**
   * The words, the tiles and the large map of a draft; all else stays until it is whole.
   * @param {State} selected
   * @param {Set<string>} changed
   */
  renderDraft(selected, changed) {
    const step = this.step(selected);
    const state = { ...selected, step, pin: null, cursor: null };
    const view = this.shown();
    const others = [...changed].filter((name) => name !== "draft");
    for (const name of others) this.missed.add(name);
    if (others.some((name) => !["findings", "cursor"].includes(name))) this.unpainted = 0;
    if (this.unpainted > step) return;
    this.choose(state);
    this.buildWords();
    this.words.update(state, step);
    if (this.unpainted) this.overview.look(state, step, this.drawn);
    else this.overview.update(state, step, this.theme, this.drawn);
    if (!this.figure.flows) {
      const current = view.kind === "encoder" ? null : view.rows - 1;
      this.figure.update(view, this.matrix(), state, current, this.theme);
    }
    if (!this.unpainted || !this.figure.flows) this.layout(state); // labels grow
    this.overview.paintDraft(state, this.theme, this.unpainted, this.faded);
    this.figure.draw();
    this.figure.readOut(null);
    this.overview.readOut(state);
    this.unpainted = Infinity;
    this.faded = true;
  }

  /** The tile that was pressed becomes the map. */
  grow() {
    const { pressed } = this.overview;
    this.overview.pressed = null;
    if (pressed) growFrom(pressed, this.figure.shown.element);
  }

  retheme() {
    this.theme = new Theme(this.root, this.translation.colours);
    this.theme.apply(this.root);
  }

  /**
   * @param {State} state
   * @param {number} step
   */
  update(state, step) {
    this.choose(state);
    this.words.update(state, step);
    this.player.update(state, step);
    this.words.note.classList.toggle("hidden", this.candidates.update(state, step));
    this.menu.update(state);
    this.overview.update(state, step, this.theme);
  }

  /** @param {State} state */
  choose(state) {
    for (const choice of [this.zoom, this.kind]) choice.update(state);
    this.root.dataset.zoom = state.zoom;
    this.root.dataset.kind = state.kind;
  }

  /**
   * The card of the head, and its switch.
   * @param {State} state
   */
  updateHead(state) {
    const one = state.zoom === "head" && state.average === "none";
    this.aboutHead.hidden = !one;
    this.headName.textContent = headAddress(state);
    this.card.update(state, one);
    this.switch.update(state);
  }

  /** @param {State} state */
  layout(state) {
    const width = this.root.clientWidth;
    const wide = width >= WIDE;
    this.root.classList.toggle("wide", wide);
    const top = pageTop(this.body);
    // What the window shows of the pictures; to those that begin low, as under a tree, one scrolls.
    const below = window.innerHeight - (top < window.innerHeight * LOW ? top : SCROLLED);
    this.overview.layout(state, wide ? Math.max(300, below) : 520);
    const left = below - this.figure.caption.offsetHeight - 34;
    const height = wide ? Math.max(220, Math.min(900, left)) : 420;
    const tallest = Math.max(height, Math.min(900, window.innerHeight - 220));
    this.figure.layout(height, tallest);
  }

  /**
   * A head that was opened comes into sight; back in the overview its tile has the focus again.
   * @param {Pick<State, "zoom">} state
   */
  zoomed({ zoom }) {
    if (!this.overview.opened) return;
    if (zoom === "heads") return this.overview.comeBack();
    this.overview.tiles.focusSelected(); // the tile that was pressed may be gone
    this.figure.tools.scrollIntoView({ block: "nearest" });
  }

  /**
   * Escape goes back one step; all other keys go to the time bar.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (this.body.contains(/** @type {Node} */ (event.composedPath()[0]))) this.switch.key(event);
    if (event.key !== "Escape") return this.player.key(event);
    const { zoom, pin } = this.store.state;
    if (this.figure.flows && this.figure.flow.fold()) return;
    if (pin && zoom !== "token") this.store.set({ pin: null });
    else if (zoom === "token" && !event.defaultPrevented) this.store.set({ zoom: "head" });
    else if (this.compare.release()) event.preventDefault();
    else if (isPresenting(this.root)) this.present(false);
    else if (zoom === "head" && !this.pointing && this.body.contains(/** @type {Node} */ (event.composedPath()[0]))) {
      this.overview.opened = true;
      this.store.set(this.overview.zoomed(this.store.state, "heads"));
    }
  }

  stop() {
    leavePresenting(this.root);
    this.report.stop();
    this.untold();
    this.overview.stop();
    this.stopFollowing();
    this.player.stop();
    this.menu.close();
    this.recorder.film.stop();
    this.store.stop();
    this.sizes.disconnect();
    window.removeEventListener("resize", this.onResize);
    document.fonts.removeEventListener("loadingdone", this.onFonts);
  }
}
