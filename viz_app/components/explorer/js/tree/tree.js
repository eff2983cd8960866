// The tree of a parser's sentence: it grows with the decoding, and shows what the selected head does over it.

import { h, setAttribute, svg } from "../../../common/page/dom.js";
import { consume, hasModifier } from "../../../common/page/keyboard.js";
import { fillText, percent } from "../../../common/text/format.js";
import { FreeSearch } from "./freesearch.js";
import { TreeAlternatives } from "./treealternatives.js";
import { nameRepairs } from "./treechanges.js";
import { layoutTree, phrase } from "./treelayout.js";
import { rowOf, rowOfToken, rowOverTree, strongestWord } from "./treerow.js";

const [MARGIN, HALF] = [14, 11]; // around the drawing; half the height of a label
const UNSURE = 0.5; // below this probability a constituent is marked
const EDGE = 0.25; // least weight of a head's edge

export class Tree {
  /** @type {Translation} */
  translation;
  /** @type {ExplorerTexts} */
  texts;
  /** @type {ReturnType<typeof layoutTree>["items"]} */
  items = [];
  /** @type {Map<number, SVGElement>} */
  nodes = new Map();
  /** @type {Map<number, SVGElement>} */
  words = new Map();
  /** @type {Set<number>} */
  collapsed = new Set();
  focused = 0;
  /** @type {Parameters<typeof layoutTree>[2]} */
  measure;
  /** @type {Element} */
  heads;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.box = h("div", {
      class: "tree-box",
      click: (event) => this.click(event),
      keydown: (event) => this.key(event),
    });
    this.legend = h("p", { class: "note tree-legend" });
    this.repairs = h("p", { class: "note tree-repairs", hidden: true });
    this.live = h("p", { class: "unseen", "aria-live": "polite" });
    this.alternatives = new TreeAlternatives(store);
    this.free = new FreeSearch();
    const below = [this.legend, this.repairs, this.alternatives.element, this.free.element];
    const parts = [this.box, ...below, this.live];
    this.element = h("section", { class: "tree", hidden: true }, ...parts);
  }

  get data() {
    return this.translation.tree;
  }

  /**
   * @param {Translation} translation
   * @param {ExplorerTexts} texts
   */
  build(translation, texts) {
    const same = this.translation?.id === translation.id;
    this.translation = translation;
    this.texts = texts;
    const { data } = this;
    this.element.hidden = !data;
    if (!data) return this.box.replaceChildren();
    if (!same) this.collapsed.clear();
    this.focused = 0;
    setAttribute(this.element, "aria-label", texts.tree);
    this.legend.textContent = texts.tree_legend;
    const repairs = nameRepairs(data.repairs, texts);
    this.repairs.hidden = !repairs;
    this.repairs.textContent = fillText(texts.tree_repaired, { repairs });
    this.alternatives.build(data, texts);
    this.draw();
  }

  /** The layout and all that is drawn, before anything of a head. */
  draw() {
    const { data } = this;
    if (!data) return;
    const style = getComputedStyle(this.element);
    const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    /** @type {(font: string) => (text: string) => number} */
    const measured = (font) => (text) => {
      context.font = `${font} ${style.fontFamily}`;
      return context.measureText(text).width;
    };
    this.measure = { word: measured("15px"), label: measured("600 14px") };
    const { width, height, items } = layoutTree(D3, data, this.measure, this.collapsed);
    items.sort((a, b) => a.node - b.node || a.word - b.word); // words, then constituents with those inside them behind
    this.items = items;
    const size = { width: Math.ceil(width + 2 * MARGIN), height: Math.ceil(height + 2 * (HALF + 6)) };
    const attributes = {
      ...size,
      viewBox: `${-MARGIN} ${-HALF - 6} ${size.width} ${size.height}`,
      class: "tree-drawing",
    };
    this.heads = svg("g", { class: "tree-heads", "aria-hidden": true });
    this.nodes.clear();
    this.words.clear();
    const lines = items.filter(({ from }) => from).map((item) => this.line(item));
    const drawn = items.map((item) => this.item(item));
    const drawing = svg(
      "svg",
      { ...attributes, role: "group", "aria-label": this.texts.tree },
      ...lines,
      this.heads,
      ...drawn,
    );
    this.box.replaceChildren(drawing);
  }

  /**
   * The line to a parent; of a collapsed constituent a triangle.
   * @param {(typeof this.items)[0]} item
   */
  line({ x, y, from, whole, width, parent }) {
    const above = /** @type {Point} */ (from);
    const [top, foot] = [above.y + HALF, y - HALF];
    const half = width / 2 - 7;
    const attributes = { class: "tree-line", "data-parent": parent };
    if (whole === undefined) return svg("line", { ...attributes, x1: above.x, y1: top, x2: x, y2: foot });
    return svg("path", { ...attributes, d: `M${above.x} ${top}L${x - half} ${foot}H${x + half}Z` });
  }

  /** @param {(typeof this.items)[0]} item */
  item({ node, word, text, x, y, width }) {
    const inner = svg("text", { x, y, "text-anchor": "middle", "dominant-baseline": "central" }, text);
    if (node < 0) {
      const plate = { x: x - width / 2 + 3, y: y - HALF, width: width - 6, height: 2 * HALF, rx: 4 };
      const element = svg("g", { class: "tree-word", "aria-hidden": true }, svg("rect", plate), inner);
      if (word >= 0) this.words.set(word, element);
      return element;
    }
    const half = Math.max(15, this.measure.label(text) / 2 + 5);
    const plate = svg("rect", { x: x - half, y: y - HALF, width: 2 * half, height: 2 * HALF, rx: 5 });
    const share = this.probability(node);
    const attributes = {
      class: share !== null && share < UNSURE ? "tree-node unsure" : "tree-node",
      role: "button",
      tabindex: node === this.focused ? 0 : -1,
      "data-node": node,
      "aria-expanded": String(!this.collapsed.has(node)),
      "aria-label": this.describe(node),
    };
    const mark = svg(
      "text",
      { class: "tree-mark", x: x + half + 6, y, "text-anchor": "middle", "dominant-baseline": "central" },
      this.collapsed.has(node) ? "+" : "\u2212",
    );
    const dots = { class: "tree-dots", x1: x - half + 5, y1: y + HALF - 2, x2: x + half - 5, y2: y + HALF - 2 };
    const element = svg("g", attributes, svg("title", {}, this.describe(node)), plate, inner, svg("line", dots), mark);
    if (share !== null) element.style.setProperty("--doubt", String(Math.round((1 - share) * 60)));
    this.nodes.set(node, element);
    return element;
  }

  /**
   * Of both brackets together; null where a repair put one there.
   * @param {number} node
   */
  probability(node) {
    const { opening, closing } = this.node(node);
    if (opening === null || closing === null) return null;
    const { steps } = this.translation;
    return steps[opening][0] * steps[closing][0];
  }

  /** @param {number} node */
  node(node) {
    return /** @type {TreeData} */ (this.data).nodes[node];
  }

  /**
   * "NP, words 3 to 5: the red car. Probability 87 %."
   * @param {number} node
   */
  describe(node) {
    const { label, begin, end } = this.node(node);
    const share = this.probability(node);
    const words = phrase(/** @type {TreeData} */ (this.data).words, begin, end, 8);
    const values = {
      label,
      words,
      first: begin + 1,
      last: end,
      probability: share === null ? "\u2013" : percent(share),
    };
    return fillText(share === null ? this.texts.tree_node_repaired : this.texts.tree_node, values);
  }

  /**
   * @param {State} state
   * @param {number} step Tokens that are generated.
   * @param {View} view
   * @param {LabelledMatrix} matrix
   */
  update(state, step, view, matrix) {
    const { data } = this;
    if (!data) return;
    const row = rowOf(state, view);
    const over = row === null ? null : rowOverTree(matrix, row, data);
    for (const [node, element] of this.nodes) {
      const { opening, closing } = this.node(node);
      element.classList.toggle("unwritten", (opening ?? 0) >= step);
      element.classList.toggle("open", (closing ?? 0) >= step);
      const looked = row !== null && state.kind !== "encoder" ? view.queries[row] : null;
      const own = [opening, closing].some((at) => at !== null && looked && looked.first <= at && at <= looked.last);
      element.classList.toggle("chosen", own);
      element.style.setProperty("--weight", String(Math.round(100 * (over?.nodes?.[node] ?? 0))));
    }
    for (const [word, element] of this.words) {
      const mark = data.marks[word];
      element.classList.toggle("unread", mark === null || mark >= step);
      element.style.setProperty("--weight", String(Math.round(100 * (over?.words[word] ?? 0))));
    }
    for (const line of this.box.querySelectorAll(".tree-line")) {
      const parent = this.nodes.get(Number(/** @type {SVGElement} */ (line).dataset.parent));
      line.classList.toggle("unwritten", Boolean(parent?.classList.contains("unwritten")));
      line.classList.toggle("open", Boolean(parent?.classList.contains("open")));
    }
    this.drawHead(state, step, view, matrix, row);
    this.alternatives.update(state);
    this.free.update(this.translation, this.texts);
  }

  /**
   * Where nothing is looked at: a line from each constituent to the word that the head attends to most for its opening bracket.
   * @param {State} state
   * @param {number} step
   * @param {View} view
   * @param {LabelledMatrix} matrix
   * @param {number | null} row
   */
  drawHead({ kind }, step, view, matrix, row) {
    this.heads.replaceChildren();
    if (kind !== "cross" || row !== null) return;
    const places = new Map(this.items.filter(({ word }) => word >= 0).map((item) => [item.word, item]));
    for (const { node, x, y } of this.items) {
      const opening = node < 0 ? null : this.node(node).opening;
      if (opening === null || opening >= step) continue;
      const over = rowOverTree(matrix, rowOfToken(view, opening), /** @type {TreeData} */ (this.data));
      const best = strongestWord(over.words, EDGE);
      const place = best && places.get(best.word);
      if (!best || !place) continue;
      const bend = `M${x} ${y + HALF}C${x} ${(y + place.y) / 2} ${place.x} ${(y + place.y) / 2} ${place.x} ${place.y - HALF}`;
      const line = svg("path", { d: bend });
      line.style.setProperty("--weight", String(Math.round(100 * best.weight))); // a page forbids styles in attributes
      this.heads.append(line);
    }
  }

  /** @param {Event} event */
  click({ target }) {
    const element = target instanceof Element ? target.closest(".tree-node") : null;
    if (!element) return;
    const node = Number(/** @type {SVGElement} */ (element).dataset.node);
    if (target instanceof Element && target.closest(".tree-mark")) return this.fold(node);
    this.focus(node);
    this.choose(node);
  }

  /**
   * Pins the row of the opening bracket; of the closing one where that is pinned already; then none.
   * @param {number} node
   */
  choose(node) {
    const { state } = this.store;
    const kind = state.kind === "encoder" ? "cross" : state.kind;
    const { opening, closing } = this.node(node);
    const view = this.translation.view(kind, state.unit, this.translation.length);
    const pins = [opening, closing].flatMap((at) => (at === null ? [] : [`q${rowOfToken(view, at)}`]));
    const at = state.kind === kind ? pins.indexOf(String(state.pin)) : -1;
    this.store.set({ kind, pin: pins[at + 1] ?? null, cursor: null });
    this.live.textContent = this.describe(node);
  }

  /** @param {number} node */
  fold(node) {
    if (!this.collapsed.delete(node)) this.collapsed.add(node);
    this.draw();
    this.store.mark("tree");
    this.focus(node);
  }

  /** @param {number} node */
  focus(node) {
    this.nodes.get(this.focused)?.setAttribute("tabindex", "-1");
    this.focused = node;
    const element = this.nodes.get(node);
    element?.setAttribute("tabindex", "0");
    element?.focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const element = event.target instanceof Element ? event.target.closest(".tree-node") : null;
    if (!element || hasModifier(event)) return;
    const node = Number(/** @type {SVGElement} */ (element).dataset.node);
    const target = this.target(node, event.key);
    if (target === undefined) return;
    consume(event);
    if (event.key === "Enter") this.choose(node);
    else if (event.key === " ") this.fold(node);
    else this.focus(target);
  }

  /**
   * Where a key leads; undefined for one that means nothing here.
   * @param {number} node
   * @param {string} key
   */
  target(node, key) {
    const shown = [...this.nodes.keys()];
    const { parent } = this.node(node);
    const siblings = shown.filter((each) => this.node(each).parent === parent);
    const at = siblings.indexOf(node);
    if (key === "Enter" || key === " ") return node;
    if (key === "ArrowUp") return parent < 0 ? node : parent;
    if (key === "ArrowDown") return shown.find((each) => this.node(each).parent === node) ?? node;
    if (key === "ArrowLeft") return siblings[at - 1] ?? node;
    if (key === "ArrowRight") return siblings[at + 1] ?? node;
    if (key === "Home") return shown[0];
    return undefined;
  }
}
