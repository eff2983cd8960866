// A head that is pinned, A, beside what is selected, B, and their difference.

import { divergingPixel } from "../../common/diverging.js";
import { decimals, fill, fillText, h, headName, setAttribute, token } from "../../common/dom.js";
import { Difference, plus } from "./difference.js";
import { DifferenceTable } from "./differencetable.js";
import { resize } from "./paint.js";
import { unitName } from "./sentences.js";
import { SideMap } from "./sidemap.js";
import { toneIndex } from "./tone.js";

const LONGEST = 500; // characters of a sentence that a link carries
const THREE = 900; // from this width on three maps stand side by side
const MAPS = ["a", "b", "difference"];
const NONE = { against: null, vs: null, vsmodel: null, vsbranch: 0 };

export class Compare {
  /** @type {Translation} */
  translation;
  /** @type {Texts} */
  texts;
  /** @type {boolean} */
  wants;
  /** @type {any} */
  a;
  /** @type {Sheet} */
  b;
  /** @type {Difference} */
  difference;
  /** @type {any} */
  cursor;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.pinned = null; // the translation of A
    this.button = h("button", { class: "plain compare-button", click: () => this.pin() });
    this.models = h("select", {
      class: "plain compare-models",
      change: () => this.withModel(this.models.value),
      keydown: (event) => event.key !== "Escape" && event.stopPropagation(),
    });
    this.tools = h("div", { class: "compare-tools" }, this.button, this.models);
    this.about = h("p", { class: "compare-about", role: "status" });
    this.close = h("button", { class: "plain compare-close", click: () => this.release() }, "\u00d7");
    this.note = h("p", { class: "note" });
    this.alone = h("p", { class: "note" });
    this.readout = h("p", { class: "compare-readout" });
    this.live = h("p", { class: "unseen", "aria-live": "polite" });
    this.table = new DifferenceTable();
    this.maps = Object.fromEntries(
      MAPS.map((name) => [name, new SideMap(name, (/** @type {Cursor | null} */ cursor) => this.point(name, cursor))]),
    );
    this.titles = Object.fromEntries(MAPS.map((name) => [name, h("figcaption", {})]));
    this.figures = MAPS.map((name) =>
      h("figure", { class: "compare-side" }, this.titles[name], this.maps[name].element),
    );
    this.weights = new Bar("0", "0.5", "1");
    this.differences = new Bar("\u22121", "0", "+1");
    this.hatched = h("span", {});
    const hatch = h(
      "span",
      { class: "legend-masked" },
      h("span", { class: "hatch", "aria-hidden": true }),
      this.hatched,
    );
    this.legend = h("div", { class: "compare-legend" }, this.weights.element, this.differences.element, hatch);
    const head = h("div", { class: "compare-head" }, this.about, this.close);
    this.sides = h("div", { class: "compare-sides" }, ...this.figures);
    this.body = [
      this.note,
      this.sides,
      this.readout,
      this.legend,
      this.table.button,
      this.alone,
      this.table.element,
      this.live,
    ];
    this.element = h("section", { class: "compare", hidden: true, keydown: (event) => this.key(event) }, head);
  }

  /**
   * Takes over a new translation, and the one to compare with when Python has sent it along.
   * @param {Translation} translation
   * @param {any} other
   * @param {Texts} texts
   */
  receive(translation, other, texts) {
    const spoke = this.translation?.about?.own;
    this.translation = translation;
    this.texts = texts;
    const { state } = this.store;
    const { about } = translation;
    if (spoke !== undefined && spoke !== about?.own) this.follow(spoke);
    const fits =
      other?.about &&
      about &&
      other.about.model === (state.vsmodel ?? about.own) &&
      other.about.text === (state.vs ?? about.text);
    if (fits && other.id !== this.pinned?.id) this.pinned = other;
    // A link to a comparison within one sentence: from now on that sentence is pinned.
    if (!this.pinned && state.against && !state.vsmodel && (state.vs === null || state.vs === about?.text)) this.hold();
    setAttribute(this.element, "aria-label", texts.compare);
    this.button.textContent = texts.compare;
    this.button.title = texts.compare_pin;
    setAttribute(this.close, "aria-label", texts.compare_close);
    this.close.title = texts.compare_close;
    const names = about?.models ?? [];
    this.models.hidden = !names.length;
    setAttribute(this.models, "aria-label", texts.compare_models);
    const options = names.map((name) =>
      h("option", { value: name }, fillText(texts.compare_model, { model: this.called(name) })),
    );
    this.models.replaceChildren(h("option", { value: "" }, texts.compare_models), ...options);
  }

  /**
   * Another model speaks now: a comparison within the model follows it; one with this very model changes sides.
   * @param {string} spoke
   */
  follow(spoke) {
    const { against, vsmodel } = this.store.state;
    if (against === null) return;
    this.pinned = null;
    if (vsmodel === null) this.store.set({ vsbranch: 0 });
    else if (vsmodel === this.translation.about?.own) this.store.set({ vsmodel: spoke, vsbranch: 0 });
  }

  /**
   * What the page calls a model: its languages, if it tells them.
   * @param {string} name
   */
  called(name) {
    return this.translation.about?.titles?.[name] ?? name;
  }

  hold() {
    const { translation } = this;
    const text = translation.about?.text ?? "";
    this.pinned = translation;
    this.store.set({
      vs: text && text.length <= LONGEST ? text : null,
      vsbranch: translation.beam?.shown ?? 0,
      vsmodel: null,
    });
  }

  pin() {
    const { kind, layer, head } = this.store.state;
    this.hold();
    this.store.set({ against: `${kind}.${layer}.${head}`, zoom: "head" });
    this.wants = true;
  }

  /** @param {string} vsmodel */
  withModel(vsmodel) {
    if (!vsmodel) return;
    const { kind, layer, head } = this.store.state;
    this.pinned = null;
    this.store.set({ ...NONE, against: `${kind}.${layer}.${head}`, vsmodel, zoom: "head" });
    this.models.value = "";
  }

  release() {
    if (this.store.state.against === null) return false;
    this.pinned = null;
    this.wants = false;
    this.store.set({ ...NONE });
    return true;
  }

  /**
   * Whether the comparison stands in place of the large map.
   * @param {State} state
   */
  ready(state) {
    return state.against !== null && this.pinned !== null && state.zoom === "head";
  }

  /**
   * @param {State} state
   * @param {Sheet} sheet
   * @param {Theme} theme
   * @param {number} step
   */
  update(state, sheet, theme, step) {
    const { texts } = this;
    this.element.hidden = state.against === null;
    if (state.against === null) return this.clear();
    const ready = this.ready(state);
    if (!ready) this.clear();
    this.a = this.pinned ? this.sheetOfA(state, step) : null;
    this.describe(state, sheet);
    if (!ready) return;
    if (!this.sides.isConnected) this.element.append(...this.body);
    this.b = sheet;
    this.difference = new Difference(this.a, sheet);
    this.show(state, theme, texts);
    if (this.wants) this.maps.b.element.focus({ preventScroll: true });
    this.wants = false;
  }

  /** Takes the maps off the page. */
  clear() {
    for (const part of this.body) part.remove();
  }

  /**
   * The pinned head; of the same translation as it stands at this step, of another one complete.
   * @param {{ against: any, unit: string }} given
   * @param {number} step
   */
  sheetOfA({ against, unit }, step) {
    const [kind, layer, head] = against.split(".");
    const { pinned } = this;
    const shape = pinned.shape(kind);
    const view = pinned.view(kind, unit, pinned.id === this.translation.id ? step : pinned.length);
    return view.sheet(Math.min(Number(layer), shape.layers - 1), Math.min(Number(head), shape.heads - 1));
  }

  /**
   * @param {{ vsmodel: any, against: any }} given
   * @param {Sheet} sheet
   */
  describe({ vsmodel, against }, sheet) {
    const { texts, translation } = this;
    if (!this.pinned) {
      const [, layer, head] = against.split(".");
      const waiting = vsmodel ? texts.compare_waiting_model : texts.compare_waiting;
      this.about.replaceChildren(
        fill(waiting, { model: this.called(vsmodel ?? ""), head: headName(Number(layer), Number(head)) }),
      );
      return;
    }
    const parts = [this.name("A", this.pinned, this.a), this.name("B", translation, sheet)];
    this.about.replaceChildren(...parts.map((part) => h("span", { class: "compare-name" }, ...part)));
    this.note.textContent = this.a.kind === sheet.kind ? "" : texts.compare_kinds;
  }

  /**
   * "A: head 2.1 · Encoder-decoder attention · sentence · model".
   * @param {string} letter
   * @param {Translation} translation
   * @param {{ name: string, kind: Kind }} given
   */
  name(letter, translation, { name, kind }) {
    const { texts } = this;
    const parts = [fillText(texts.compare_head, { head: name }), texts[`kind_${kind}`]];
    const model = translation.about?.model;
    if (model && model !== (letter === "A" ? this.translation : this.pinned).about?.model)
      parts.push(this.called(model));
    if (translation.beam?.shown) parts.push(fillText(texts.compare_branch, { branch: translation.beam.shown + 1 }));
    const text = translation.about?.text ?? "";
    return [
      h("b", {}, `${letter}: `),
      `${parts.join(" \u00b7 ")} \u00b7 `,
      token(text, "q", { lang: translation.languages.source }),
    ];
  }

  /**
   * @param {State} state
   * @param {Theme} theme
   * @param {Texts} texts
   */
  show(state, theme, texts) {
    const { a, b, difference } = this;
    /**
     * @param {Position[]} positions
     * @param {number} count
     */
    const seen = (positions, count) =>
      Array.from({ length: count }, (_, i) => i).filter((i) => state.special || !positions[i].special);
    /** @param {Sheet} sheet */
    const axes = (sheet) => ({ rows: seen(sheet.queries, sheet.rows), columns: seen(sheet.keys, sheet.columns) });
    /** @param {Sheet} sheet */
    const plain = (sheet) => weights(sheet, axes(sheet).columns, state, theme);
    /**
     * @param {number} query
     * @param {number} key
     */
    const colour = (query, key) => {
      const value = difference.at(query, key);
      return value === null ? null : divergingPixel(theme, value, state.scale);
    };
    /** @param {string} name */
    const common = (name) => ({ theme, label: `${this.titles[name].textContent}. ${texts.map_keys}` });
    /**
     * @param {string} name
     * @param {string} letter
     * @param {string} text
     * @param {Sheet} sheet
     */
    const caption = (name, letter, text, sheet) =>
      this.titles[name].replaceChildren(h("b", {}, letter), ` ${text}`, this.axes(sheet));
    caption("a", "A", fillText(texts.compare_head, { head: a.name }), a);
    caption("b", "B", fillText(texts.compare_head, { head: b.name }), b);
    caption("difference", "B \u2212 A", texts.compare_difference, b);
    this.maps.a.show({ sheet: a, ...axes(a), colour: plain(a), ...common("a") });
    this.maps.b.show({ sheet: b, ...axes(b), colour: plain(b), ...common("b") });
    this.figures[2].hidden = !difference.comparable;
    const { rows, columns } = axes(b);
    this.maps.difference.show({ sheet: b, rows, columns, colour, ...common("difference") });
    this.table.button.hidden = !difference.comparable;
    if (!difference.comparable) this.table.open = false;
    this.table.update(difference, rows, columns, fillText(texts.compare_title, { a: a.name, b: b.name }), texts);
    this.weights.draw(
      texts.weight,
      (/** @type {number} */ share) => theme.pixels[toneIndex(share, 1, state.scale, state.threshold)],
    );
    this.differences.draw(texts.compare_scale, (/** @type {number} */ share) =>
      divergingPixel(theme, 2 * share - 1, state.scale),
    );
    this.differences.element.hidden = !difference.comparable;
    this.hatched.textContent = texts.compare_nothing;
    this.tellAlone(difference, texts);
    this.layout();
    if (!this.cursor) this.readout.textContent = texts.compare_point;
  }

  /**
   * What stands on the two axes.
   * @param {Sheet} sheet
   */
  axes(sheet) {
    const { texts } = this;
    const query = fillText(texts[`query_${sheet.kind}`], { unit: unitName(sheet, texts) });
    return h("span", { class: "note side-axes" }, `\u2193 ${query}. \u2192 ${texts[`key_${sheet.kind}`]}.`);
  }

  /**
   * Names the tokens without a partner, which have no difference.
   * @param {Difference} difference
   * @param {Texts} texts
   */
  tellAlone(difference, texts) {
    const { a, b } = difference.alone();
    /** @param {{ queries: any, keys: any }} given */
    const unique = ({ queries, keys }) => [...new Set([...queries, ...keys])].slice(0, 60);
    /** @param {any[]} all */
    const list = (all) => all.flatMap((text, index) => [index ? ", " : "", token(text)]);
    /** @param {any} all */
    const span = (all) => (all.length ? h("span", {}, ...list(all)) : "\u2013");
    this.alone.hidden = !difference.comparable || !(unique(a).length || unique(b).length);
    this.alone.replaceChildren(fill(texts.compare_alone, { a: span(unique(a)), b: span(unique(b)) }));
  }

  layout() {
    if (!this.sides.isConnected) return;
    const width = this.element.clientWidth;
    const shown = this.figures.filter(({ hidden }) => !hidden).length;
    const columns = width >= THREE ? shown : width >= 620 ? 2 : 1;
    this.sides.style.setProperty("--columns", String(columns));
    const room = Math.floor((width - (columns - 1) * 22 - 30) / columns);
    for (const name of MAPS) {
      this.maps[name].layout(room);
      this.maps[name].draw();
    }
  }

  /**
   * The pointer or the keyboard is at a cell of one of the maps.
   * @param {string} name
   * @param {any} cursor
   */
  point(name, cursor) {
    const { difference, maps, texts } = this;
    if (!difference) return;
    this.cursor = cursor;
    const inB = !cursor || name !== "a" ? cursor : difference.counterpart(cursor);
    const inA = !cursor || name === "a" ? cursor : difference.partner(cursor);
    Object.assign(maps.a, { cursor: inA });
    for (const map of [maps.b, maps.difference]) map.cursor = inB;
    for (const map of Object.values(maps)) map.draw();
    this.readout.replaceChildren(cursor ? this.values(inA, inB) : texts.compare_point);
    if (cursor?.spoken) this.live.textContent = this.spoken(inA, inB);
  }

  /**
   * @param {any} inA
   * @param {any} inB
   */
  values(inA, inB) {
    const { a, b, difference, texts } = this;
    const [left, right] = [this.weight(a, inA), this.weight(b, inB)];
    const between = inB && inB.query !== null && inB.key !== null ? difference.at(inB.query, inB.key) : null;
    const [sheet, cell] = right === null ? [a, inA] : [b, inB];
    /**
     * @param {any} positions
     * @param {number} index
     */
    const name = (positions, index) => token(index === null ? "\u2013" : positions[index].text, "b");
    return fill(texts.compare_values, {
      query: name(sheet.queries, cell.query),
      key: name(sheet.keys, cell.key),
      a: left === null ? "\u2013" : decimals(left),
      b: right === null ? "\u2013" : decimals(right),
      difference: h("b", {}, between === null ? "\u2013" : plus(between, 3)),
    });
  }

  /**
   * @param {Sheet} sheet
   * @param {Cursor | null} cell
   */
  weight(sheet, cell) {
    if (!cell || cell.query === null || cell.key === null || sheet.masked(cell.query, cell.key)) return null;
    return sheet.at(cell.query, cell.key);
  }

  /**
   * "head 4.6 minus head 2.1, 'Hund' to 'dog', +0.31".
   * @param {any} inA
   * @param {any} inB
   */
  spoken(inA, inB) {
    const { a, b, difference, texts } = this;
    const between = inB && inB.query !== null && inB.key !== null ? difference.at(inB.query, inB.key) : null;
    const [sheet, cell] = this.weight(b, inB) === null ? [a, inA] : [b, inB];
    /**
     * @param {any} positions
     * @param {number} index
     */
    const text = (positions, index) => (index === null || index === undefined ? "" : positions[index].text);
    const values = { a: a.name, b: b.name, query: text(sheet.queries, cell?.query), key: text(sheet.keys, cell?.key) };
    return fillText(texts.compare_spoken, {
      ...values,
      difference: between === null ? texts.compare_nothing : plus(between),
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === " " && !(event.composedPath()[0] instanceof HTMLButtonElement)) event.stopPropagation();
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.release();
    this.button.focus();
  }
}

/**
 * The colour of each weight of a sheet, as in the large map; masked cells have none.
 * @param {Sheet} sheet
 * @param {number[]} columns
 * @param {Pick<State, "scale" | "threshold">} state
 * @param {Theme} theme
 */
function weights(sheet, columns, { scale, threshold }, theme) {
  const largest = new Map(); // of the rows, as far as their columns are shown
  /** @param {number} query */
  const most = (query) => {
    if (!largest.has(query))
      largest.set(query, Math.max(0, ...columns.map((key) => (sheet.masked(query, key) ? 0 : sheet.at(query, key)))));
    return largest.get(query);
  };
  return (/** @type {number} */ query, /** @type {number} */ key) => {
    if (sheet.masked(query, key)) return null;
    return theme.pixels[toneIndex(sheet.at(query, key), scale === "row" ? most(query) : 1, scale, threshold)];
  };
}

/** A colour scale with its numbers. */
class Bar {
  /** @param {...string} numbers */
  constructor(...numbers) {
    this.label = h("span", {});
    this.canvas = h("canvas", { "aria-hidden": true });
    const row = h("span", { class: "bar-numbers" }, ...numbers.map((text) => h("span", {}, text)));
    this.element = h("span", { class: "legend" }, this.label, h("span", { class: "legend-bar" }, this.canvas, row));
  }

  /**
   * @param {string} label
   * @param {(share: number) => number} colour A 32-bit pixel.
   */
  draw(label, colour) {
    this.label.textContent = label;
    const context = resize(this.canvas, 120, 8);
    const { width, height } = this.canvas;
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) pixels[i] = colour((i % width) / (width - 1));
    context.putImageData(image, 0, 0);
  }
}
