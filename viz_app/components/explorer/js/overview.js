// All heads: which of them, in which order, and one line that tells about the head under the pointer.

import { h } from "../../common/page/dom.js";
import { define } from "../../common/page/explained.js";
import { fillText } from "../../common/text/format.js";
import { rolesOf } from "./cards/findings.js";
import { Choice } from "./controls.js";
import { Measures } from "./data/measures.js";
import { Legend } from "./draw/legend.js";
import { Picture } from "./draw/picture.js";
import { HeadOrder } from "./headorder.js";
import { caption } from "./sentences.js";
import { kindsShown, Tiles } from "./tiles.js";

const NOTED = ["entropy", "alignment_error_rate", "layer", "head"]; // words of the line under the tiles that explain themselves
const LONG = 10_000; // cells of a head: all weights are read in more than a tenth of a second
const AFTER = 100; // milliseconds
const EDGE = 22; // space that stays free under the overview

export class Overview {
  /** @type {Measures} */
  measures;
  /** @type {ExplorerTexts} */
  texts;
  /** @type {Tile | null} Under the pointer. */
  pointed = null;
  marking = 0; // the timer of marks that wait
  opened = false; // whether a head was opened from here
  /** @type {Measures | null} Of the translation whose changes have been seen. */
  glowed = null;
  /** @type {DOMRect | null} Where the tile stood that was pressed. */
  pressed = null;
  /** @type {State["view"] | null} The tiles beside a head, before all of them were shown. */
  beside = null;
  /** @type {Views} */
  views;
  /** @type {State} With the order that holds. */
  effective;
  /** @type {Choice} */
  layer;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.tiles = new Tiles((tile) => this.open(tile));
    this.view = new Choice("view", ["heads", "layer", "kinds"], {
      // All kinds need the whole width.
      set: ({ view }) =>
        store.set({ ...this.zoomed(store.state, view === "kinds" ? "heads" : store.state.zoom), view }),
    });
    this.heads = new HeadOrder(store, (head) => this.openHead(head));
    this.legend = new Legend();
    const { view, heads, legend } = this;
    this.choices = h("div", { class: "views" }, view.element, ...heads.tools);
    this.note = h("p", { class: "note count" });
    this.about = h("span");
    this.foot = h("div", { class: "tiles-foot" }); // what is asked of all heads
    const below = h("div", { class: "below-tiles" }, this.note, legend.element, this.foot);
    this.element = h("div", { class: "overview" }, this.choices, this.tiles.element, below, heads.list.element);
    const { element } = this.tiles;
    element.addEventListener("pointerover", (event) => event.pointerType !== "touch" && this.point(event.target));
    element.addEventListener("pointerleave", () => this.point(null));
    element.addEventListener(
      "focusin",
      ({ target }) => target instanceof Element && target.matches(":focus-visible") && this.point(target),
    );
    element.addEventListener("focusout", () => this.point(null));
  }

  /**
   * A new translation; the one before is kept to tell which heads have changed.
   * @param {Translation} translation
   * @param {ExplorerTexts} texts
   */
  receive(translation, texts) {
    const last = this.measures?.translation;
    const others = last && last.about?.model !== translation.about?.model; // heads of another model have not changed
    const before = !last || others ? null : same(last, translation) ? this.measures.before : last;
    before?.views.clear(); // only its tokens are needed again, which cost nothing
    this.measures = new Measures(translation, before);
    this.texts = texts;
    this.view.label(texts.view, [texts.view_heads, texts.view_layer, texts.view_kinds]);
    this.view.offer(["heads", "layer", ...(translation.available.length > 1 ? ["kinds"] : [])]);
    this.heads.receive(this.measures, texts);
    this.pointed = null;
  }

  /**
   * Opens a head; from the overview alone it also zooms in.
   * @param {Tile} tile
   */
  open({ block, row, head, button }) {
    this.pressed = button.getBoundingClientRect();
    this.openHead({ kind: block.kind, layer: block.one ? this.store.state.layer : row, head });
  }

  /** @param {{ kind: Kind, layer: number, head: number, off?: string }} head Perhaps switched off. */
  openHead(head) {
    const { state } = this.store;
    const { zoom, form } = state;
    this.opened ||= zoom === "heads";
    const shown = form === "flow" ? "map" : form; // the flow is of no one head
    this.store.set({ ...head, ...this.zoomed(state, zoom === "heads" ? "head" : zoom), form: shown });
  }

  /**
   * Another zoom: all heads are those of every kind, and beside a head stands what stood there before.
   * @param {State} state
   * @param {State["zoom"]} zoom
   * @returns {Partial<State>}
   */
  zoomed({ zoom: before, view, opens }, zoom) {
    if (zoom !== "heads") return { zoom, view: view === "kinds" ? (this.beside ?? opens) : view };
    if (before === "heads" || opens === "layer") return { zoom };
    this.beside = view;
    return { zoom, view: this.measures.translation.available.length > 1 ? "kinds" : view };
  }

  /**
   * Another kind of attention: the head of the same number, or one that looks at words where that one rests.
   * @param {State} state
   * @param {Kind} kind
   * @returns {Partial<State>}
   */
  turned({ kind: before, layer, head, average }, kind) {
    const { layers, heads } = this.measures.translation.kinds[kind];
    const same = Math.min(layer, layers - 1) * heads + Math.min(head, heads - 1);
    if (kind === before || average !== "none" || !this.measures.resting(kind).has(same)) return { kind };
    const looking = this.measures.looking(kind);
    if (looking === null) return { kind };
    return { kind, layer: Math.floor(looking / heads), head: looking % heads };
  }

  /**
   * Brings the tiles and what stands above and below them to a state.
   * @param {State} state
   * @param {number} step
   * @param {Theme} theme
   * @param {Translation} [translation] Whose weights the tiles show.
   */
  update(state, step, theme, translation = this.measures.translation) {
    const { measures, tiles } = this;
    this.look(state, step, translation);
    measures.learn(rolesOf(measures.translation));
    const kinds = kindsShown(state, measures.translation);
    this.heads.update(state, kinds);
    this.effective = { ...state, order: this.heads.order, only: this.heads.only };
    this.view.update(state);
    // All heads are the place to choose, unless there are so many that a model opens with one layer.
    this.view.element.hidden = state.zoom !== "heads" && state.view === "heads" && state.opens === "heads";
    this.chooseLayer(state);
    tiles.build(this.views, this.effective, kinds);
    tiles.order(measures, this.effective);
    this.explain(state, theme);
  }

  /**
   * Takes over the weights of a translation.
   * @param {State} state
   * @param {number} step
   * @param {Translation} translation
   */
  look(state, step, translation) {
    clearTimeout(this.marking);
    const views = kindsShown(state, translation).map((kind) => [kind, translation.view(kind, state.unit, step)]);
    this.views = Object.fromEntries(views);
  }

  /**
   * The colour scale, where no large picture has one.
   * @param {State} state
   * @param {Theme} theme
   */
  explain(state, theme) {
    const { texts, legend, views } = this;
    legend.element.hidden = state.zoom !== "heads";
    legend.draw(
      theme,
      texts,
      { scale: state.scale, threshold: state.threshold, matrix: state },
      { hatched: views.decoder ? texts.masked : "" },
    );
  }

  /**
   * The numbers of the layers, while one layer is shown.
   * @param {State} state
   */
  chooseLayer(state) {
    const { layers } = this.measures.translation.kinds[state.kind];
    if (this.layer?.values.length !== layers) {
      this.layer?.element.remove();
      this.layer = new Choice(
        "layer",
        Array.from({ length: layers }, (_, layer) => layer),
        this.store,
      );
      this.view.element.after(this.layer.element);
    }
    this.layer.label(
      this.texts.layer,
      this.layer.values.map((layer) => String(Number(layer) + 1)),
    );
    this.layer.update(state);
    this.layer.element.hidden = state.view !== "layer";
  }

  /**
   * Fits into the space down to the edge of the window.
   * @param {State} state
   * @param {number} height
   */
  layout(state, height) {
    const titled = state.zoom === "heads" || state.view === "kinds";
    const note = parseFloat(getComputedStyle(this.note).minHeight); // whatever it says now, so that no tile moves
    const around = this.choices.offsetHeight + note + this.foot.offsetHeight + EDGE;
    this.tiles.layout(this.views, this.element.clientWidth, height - around, titled);
  }

  /**
   * @param {State} state
   * @param {Theme} theme
   * @param {boolean} fade
   */
  paint(state, theme, fade) {
    this.tiles.paint(this.views, state, theme, fade);
  }

  /**
   * @param {State} state
   * @param {Theme} theme
   * @param {number} from The first token whose row is new.
   * @param {boolean} faded Whether the tiles show the old sentence faintly already.
   */
  paintDraft(state, theme, from, faded) {
    this.tiles.paintDraft(this.views, state, theme, from, faded);
  }

  /**
   * Frames the selected head, and says of each what its weights show.
   * @param {boolean} [another] Whether the translation is another one: if it is long, its picture comes first.
   */
  mark(another = false) {
    const { measures, effective, texts } = this;
    const { length, axes } = measures.translation;
    if (another && length * axes.source.tokens.length > LONG && effective.order === "layer") {
      this.marking = setTimeout(() => this.mark(), AFTER);
      return;
    }
    this.tiles.mark(this.views, effective, measures, texts);
    if (this.glowed !== measures) this.tiles.glow();
    this.glowed = measures;
    this.showNote();
  }

  stop() {
    clearTimeout(this.marking);
  }

  /**
   * What follows the pointer, the pin and the step.
   * @param {State} state
   */
  readOut(state) {
    this.tiles.readOut(this.views, { ...state, order: this.effective.order });
    this.tiles.follow(this.followed(state));
  }

  /**
   * For each kind the row and the column of the token that is followed: under the pointer, pinned, or written last.
   * @param {State} state
   */
  followed({ kind, cursor, pin, step }) {
    const position = pin ? Number(pin.slice(1)) : null;
    const query = cursor?.query ?? (pin?.startsWith("q") ? position : null);
    const key = cursor?.key ?? (pin?.startsWith("k") ? position : null);
    /** @param {Kind} name */
    const newest = (name) => (step === null || !this.views[name] ? null : this.views[name].rows - 1);
    /** @type {Record<Kind, (number | null)[]>} */
    const marks = { encoder: [null, null], decoder: [newest("decoder"), null], cross: [newest("cross"), null] };
    if (query !== null || key !== null) marks[kind] = [query, key];
    // A row of the decoder and one of encoder-decoder attention at the same place write the same token.
    const other = kind === "decoder" ? "cross" : kind === "cross" ? "decoder" : null;
    if (other && query !== null) marks[other] = [query, null];
    return marks;
  }

  /** @param {EventTarget | null} target */
  point(target) {
    const button = target instanceof Element && target.closest(".tile");
    const tile = this.tiles.all.find((one) => one.button === button) ?? null;
    if (tile === this.pointed) return;
    this.pointed = tile;
    this.showNote();
  }

  /** The line under the tiles: about the head under the pointer, or how heads are counted or ordered. */
  showNote() {
    const { pointed, texts } = this;
    const { order, view } = this.effective;
    const note = order === "layer" ? (view === "layer" ? "" : texts.count_note) : this.heads.note();
    if (!pointed) {
      define(this.about, note, texts.language, this.store.state.zoom === "heads" ? NOTED : []);
      return this.note.replaceChildren(this.restingNote(), this.matchingNote(), this.about);
    }
    this.note.replaceChildren(h("b", {}, pointed.button.title), ". ", caption(this.picture(pointed), texts));
  }

  /** @param {Tile} tile */
  picture({ block, row, head }) {
    const layer = block.one ? this.store.state.layer : row;
    return new Picture(this.views[block.kind].matrix(layer, head), this.effective);
  }

  /** How many of the heads that are shown rest, which is why their tiles step back. */
  restingNote() {
    const { measures, texts, effective } = this;
    const { layer, view } = effective;
    let [resting, all] = [0, 0];
    for (const kind of kindsShown(effective, measures.translation)) {
      const { layers, heads, absent = [] } = measures.translation.kinds[kind];
      const shown = (/** @type {number} */ index) => view !== "layer" || Math.floor(index / heads) === layer;
      resting += [...measures.resting(kind)].filter(shown).length;
      all += (view === "layer" ? heads : layers * heads) - absent.filter(shown).length;
    }
    return resting ? h("span", { class: "resting-key" }, fillText(texts.tiles_resting_key, { resting, all }), " ") : "";
  }

  /** How many heads pass the filter; empty without one. */
  matchingNote() {
    const { measures, texts, effective } = this;
    if (effective.only === null) return "";
    const [count, all] = [effective.only, null].map(
      (only) => measures.ranked("layer", kindsShown(effective, measures.translation), only).length,
    );
    return `${fillText(texts.only_matching, { count, all })} `;
  }

  /** Back to the overview, with the focus on the tile of the selected head. */
  comeBack() {
    this.opened = false;
    this.tiles.focusSelected();
  }
}

/**
 * Whether two payloads hold the same maps, perhaps with labels in another language.
 * @param {Translation} a
 * @param {Translation} b
 */
function same(a, b) {
  const shape = (/** @type {Translation} */ { axes, kinds }) => JSON.stringify([axes, kinds]);
  return shape(a) === shape(b) && a.available.every((kind) => equal(a.weights.of(kind), b.weights.of(kind)));
}

/**
 * @param {Uint16Array} a
 * @param {Uint16Array} b
 */
function equal(a, b) {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
