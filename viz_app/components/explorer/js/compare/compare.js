// A head that is pinned, A, beside what is selected, B, and their difference.

import { cssColour } from "../../../common/draw/canvas.js";
import { divergingPixel } from "../../../common/draw/diverging.js";
import { fill, h, setAttribute, tokenElement } from "../../../common/page/dom.js";
import { tool } from "../../../common/page/tool.js";
import { decimals, fillText } from "../../../common/text/format.js";
import { Comparison } from "../data/comparison.js";
import { Difference, DifferencePicture, plus } from "../data/difference.js";
import { ColourScale } from "../draw/colourscale.js";
import { Legend } from "../draw/legend.js";
import { isCell, Picture } from "../draw/picture.js";
import { Table } from "../tables/table.js";
import { differenceTable } from "../tables/tablecontents.js";
import { Side } from "./compareside.js";

const THREE = 900; // from this width on three maps stand side by side
const TWO = 620;
const TALLEST = 460;
const DASH = "\u2013";
const SIGNED = ["\u22121", "0", "+1"].map((text, i) => /** @type {[string, number]} */ ([text, i / 2]));

export class Compare {
  /** @type {ExplorerTexts} */
  texts;
  /** @type {Difference | null} */
  difference = null;
  /** @type {Record<string, Cursor | null> & { b?: Cursor | null }} By map. */
  cursors = {};
  wantsFocus = false;

  /** @param {Store} store */
  constructor(store) {
    this.comparison = new Comparison(store);
    const { button, words } = tool("compare", { class: "tool plain compare-button", click: () => this.pin() });
    this.button = button;
    this.words = words;
    this.models = h("select", {
      class: "plain compare-models",
      change: () => this.pinInModel(),
      keydown: (event) => event.key !== "Escape" && event.stopPropagation(),
    });
    this.tools = h("div", { class: "compare-tools" }, this.button);
    this.about = h("p", { class: "compare-about", role: "status" });
    this.close = h("button", { class: "plain compare-close", click: () => this.release() }, "\u00d7");
    this.note = h("p", { class: "note" });
    this.alone = h("p", { class: "note" });
    this.readout = h("p", { class: "compare-readout" });
    this.live = h("p", { class: "unseen", "aria-live": "polite" });
    this.table = new Table();
    this.sides = ["a", "b", "difference"].map((name) => new Side(name, this));
    this.legend = new Legend();
    this.differences = new ColourScale();
    this.grid = h("div", { class: "compare-sides" }, ...this.sides.map(({ element }) => element));
    this.body = [
      this.note,
      this.grid,
      this.readout,
      h("div", { class: "compare-legend" }, this.legend.element, this.differences.element),
      this.table.button,
      this.alone,
      this.table.element,
      this.live,
    ];
    const head = h("div", { class: "compare-head" }, this.about, this.models, this.close);
    this.element = h("section", { class: "compare", hidden: true, keydown: (event) => this.key(event) }, head);
  }

  /**
   * @param {Translation} translation
   * @param {Translation | null} other
   * @param {ExplorerTexts} texts
   */
  receive(translation, other, texts) {
    this.texts = texts;
    this.comparison.receive(translation, other);
    setAttribute(this.element, "aria-label", texts.compare);
    this.words.textContent = texts.compare;
    this.button.title = texts.compare_pin;
    setAttribute(this.close, "aria-label", texts.compare_close);
    this.close.title = texts.compare_close;
    const names = translation.about?.models ?? [];
    this.models.hidden = !names.length;
    setAttribute(this.models, "aria-label", texts.compare_models);
    const options = names.map((name) =>
      h("option", { value: name }, fillText(texts.compare_model, { model: this.comparison.modelTitle(name) })),
    );
    this.models.replaceChildren(h("option", { value: "" }, texts.compare_models), ...options);
  }

  pin() {
    this.comparison.pin();
    this.wantsFocus = true;
  }

  pinInModel() {
    if (this.models.value) this.comparison.pin(this.models.value);
    this.models.value = "";
  }

  release() {
    this.wantsFocus = false;
    return this.comparison.release();
  }

  /**
   * Whether the comparison stands in place of the large map.
   * @param {State} state
   */
  ready(state) {
    return state.against !== null && this.comparison.pinned !== null && state.zoom === "head";
  }

  /**
   * @param {State} state
   * @param {LabelledMatrix} b
   * @param {Theme} theme
   * @param {number} step
   */
  update(state, b, theme, step) {
    this.element.hidden = state.against === null;
    const a = this.comparison.matrix(state, step);
    if (state.against !== null) this.describe(state, a, b);
    if (!a || !this.ready(state)) return this.body.forEach((part) => part.remove()); // the maps are off the page
    if (!this.grid.isConnected) this.element.append(...this.body);
    this.difference = new Difference(a, b);
    this.show(this.difference, { ...state, pin: null }, theme);
    if (this.wantsFocus) this.sides[1].map.element.focus({ preventScroll: true });
    this.wantsFocus = false;
  }

  /**
   * Which two heads are compared, or which one is awaited.
   * @param {State} state
   * @param {LabelledMatrix | null} a
   * @param {LabelledMatrix} b
   */
  describe({ vsmodel, against }, a, b) {
    const { texts, comparison } = this;
    const { pinned, translation } = comparison;
    if (!pinned || !a) {
      const waiting = vsmodel ? texts.compare_waiting_model : texts.compare_waiting;
      const values = { model: comparison.modelTitle(vsmodel ?? ""), head: against ?? "" };
      return this.about.replaceChildren(fill(waiting, values));
    }
    const others = pinned.about?.model !== translation.about?.model;
    this.about.replaceChildren(this.name("A", pinned, a, others), this.name("B", translation, b, others));
    const same = pinned.id === translation.id && a.kind === b.kind && a.name === b.name;
    const start = comparison.isBeside() ? texts.compare_start : "";
    this.note.textContent = same ? texts.compare_same : a.kind === b.kind ? start : texts.compare_kinds;
  }

  /**
   * "A: head cross.2.1 · Encoder-decoder attention · sentence · model".
   * @param {string} letter
   * @param {Translation} translation
   * @param {LabelledMatrix} matrix
   * @param {boolean} others Whether the models differ.
   */
  name(letter, { about, beam, languages }, { name, kind }, others) {
    const { texts } = this;
    const parts = [fillText(texts.compare_head, { head: name }), texts[`kind_${kind}`]];
    if (about?.model && others) parts.push(this.comparison.modelTitle(about.model));
    if (beam?.shown) parts.push(fillText(texts.compare_branch, { branch: beam.shown + 1 }));
    const sentence = tokenElement(about?.text ?? "", "q", { lang: languages.source });
    return h(
      "span",
      { class: "compare-name" },
      h("b", {}, `${letter}: `),
      `${parts.join(" \u00b7 ")} \u00b7 `,
      sentence,
    );
  }

  /**
   * @param {Difference} difference
   * @param {State} state
   * @param {Theme} theme
   */
  show(difference, state, theme) {
    const { texts } = this;
    const { a, b, comparable } = difference;
    const [left, right, between] = this.sides;
    const [names, picture] = [[a.name, b.name], new DifferencePicture(difference, state)];
    left.show("A", fillText(texts.compare_head, { head: a.name }), new Picture(a, state), theme);
    right.show("B", fillText(texts.compare_head, { head: b.name }), new Picture(b, state), theme);
    between.show("B \u2212 A", texts.compare_difference, picture, theme);
    between.element.hidden = !comparable;
    this.table.button.hidden = !comparable;
    const title = fillText(texts.compare_title, { a: names[0], b: names[1] });
    this.table.show(differenceTable(difference, picture, title, texts), this.table.open && comparable);
    this.legend.draw(theme, texts, { ...state, matrix: b }, { hatched: texts.compare_nothing });
    this.differences.show(texts.compare_scale, SIGNED, theme.background, (place) =>
      cssColour(divergingPixel(theme, 2 * place - 1, state.scale)),
    );
    this.differences.element.hidden = !comparable;
    this.listUnpaired(difference);
    this.layout();
    if (!this.cursors.b) this.readout.textContent = texts.compare_point;
  }

  /**
   * Names the tokens without a partner, which have no difference.
   * @param {Difference} difference
   */
  listUnpaired(difference) {
    const [a, b] = difference.unpaired().map((texts) => [...new Set(texts)].slice(0, 60));
    /** @param {string[]} texts */
    const list = (texts) => {
      const parts = texts.flatMap((text, index) => [index ? ", " : "", tokenElement(text)]);
      return parts.length ? h("span", {}, ...parts) : DASH;
    };
    this.alone.hidden = !difference.comparable || !(a.length || b.length);
    this.alone.replaceChildren(fill(this.texts.compare_alone, { a: list(a), b: list(b) }));
  }

  layout() {
    if (!this.grid.isConnected) return;
    const width = this.element.clientWidth;
    const shown = this.sides.filter(({ element }) => !element.hidden);
    const columns = width >= THREE ? shown.length : width >= TWO ? 2 : 1;
    this.grid.style.setProperty("--columns", String(columns));
    const room = Math.floor((width - (columns - 1) * 22 - 30) / columns);
    for (const { map } of shown) map.layout(room, TALLEST, TALLEST);
    const cell = Math.min(...shown.map(({ map }) => map.geometry.cell)); // one scale for all
    for (const { map } of shown) {
      map.layout(room, TALLEST, TALLEST, cell);
      map.draw();
    }
  }

  /**
   * The pointer or the keyboard is at a cell of one of the maps.
   * @param {string} name
   * @param {Cursor | null} cursor
   */
  point(name, cursor) {
    const { difference, texts } = this;
    if (!difference) return;
    const inA = cursor && (name === "a" ? cursor : difference.partner(cursor));
    const inB = cursor && (name === "a" ? difference.counterpart(cursor) : cursor);
    this.cursors = { a: inA, b: inB, difference: inB };
    for (const { map } of this.sides) map.draw();
    this.readout.replaceChildren(inA && inB ? this.values(difference, inA, inB) : texts.compare_point);
    if (cursor?.spoken && inA && inB) this.live.textContent = this.spoken(difference, inA, inB);
  }

  /**
   * @param {Difference} difference
   * @param {Cursor} inA
   * @param {Cursor} inB
   */
  values(difference, inA, inB) {
    const { a, b } = difference;
    const [left, right] = [weight(a, inA), weight(b, inB)];
    const [matrix, { query, key }] = right === null ? [a, inA] : [b, inB];
    const value = isCell(inB) ? difference.at(inB.query, inB.key) : null;
    return fill(this.texts.compare_values, {
      query: tokenElement(query === null ? DASH : matrix.queries[query].text, "b"),
      key: tokenElement(key === null ? DASH : matrix.keys[key].text, "b"),
      a: left === null ? DASH : decimals(left),
      b: right === null ? DASH : decimals(right),
      difference: h("b", {}, value === null ? DASH : plus(value, 3)),
    });
  }

  /**
   * "head cross.4.6 minus head cross.2.1, 'Hund' to 'dog', +0.31".
   * @param {Difference} difference
   * @param {Cursor} inA
   * @param {Cursor} inB
   */
  spoken(difference, inA, inB) {
    const { a, b } = difference;
    const [matrix, { query, key }] = weight(b, inB) === null ? [a, inA] : [b, inB];
    const value = isCell(inB) ? difference.at(inB.query, inB.key) : null;
    return fillText(this.texts.compare_spoken, {
      a: a.name,
      b: b.name,
      query: query === null ? "" : matrix.queries[query].text,
      key: key === null ? "" : matrix.keys[key].text,
      difference: value === null ? this.texts.compare_nothing : plus(value),
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
 * @param {LabelledMatrix} matrix
 * @param {Cursor} cursor
 */
function weight(matrix, cursor) {
  return isCell(cursor) && !matrix.masked(cursor.query, cursor.key) ? matrix.at(cursor.query, cursor.key) : null;
}
