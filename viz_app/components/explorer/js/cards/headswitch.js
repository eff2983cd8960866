// Beside the map of a head and on its tile: a switch. Above the pictures: the translation without the head.

import { headAddress, parseHead } from "../../../common/heads/heads.js";
import { fill, h, setAttribute, svg, tokenElement } from "../../../common/page/dom.js";
import { explainIn } from "../../../common/page/explained.js";
import { fillText, percent, signed, tiny } from "../../../common/text/format.js";
import { tokenText } from "../../../common/text/tokens.js";
import { findings } from "./findings.js";

const NEEDED = "needed"; // instead of a head that is switched off: the one that the sentence needs most, while it is unknown

export class HeadSwitch {
  /** @type {ExplorerTexts} */
  texts;
  /** @type {Translation} */
  translation;
  /** @type {string | null} What is switched off in the picture. */
  off = null;
  fixed = true; // whether no head can be switched off

  /**
   * @param {Store} store
   * @param {import("../overview.js").Overview} overview
   */
  constructor(store, overview) {
    this.store = store;
    this.overview = overview;
    this.button = h("button", { class: "off-button", "aria-keyshortcuts": "X", click: () => this.toggle() });
    this.most = h("button", { class: "plain off-most", click: () => this.store.set({ off: NEEDED }) });
    this.cause = h("p", { class: "note" });
    this.tools = [this.button, this.cause];
    this.title = h("p", { class: "off-title" });
    this.body = h("div", { class: "off-body" });
    this.back = h("button", { class: "plain off-back", click: () => this.end() }, "\u00d7");
    this.result = h("section", { class: "off", hidden: true, role: "status" }, this.title, this.body, this.back);
    const power = svg("svg", { viewBox: "0 0 24 24" }, svg("path", { d: "M12 4v8M7 7a7 7 0 1 0 10 0" }));
    this.mark = h("span", { class: "tile-switch", "aria-hidden": "true" }, power); // of the tile under the pointer
    overview.foot.append(this.most);
    const { element } = overview.tiles;
    element.addEventListener("pointerover", () => this.point());
    element.addEventListener("click", (event) => this.press(event), true);
  }

  /**
   * @param {Translation} translation
   * @param {ExplorerTexts} texts
   */
  build(translation, texts) {
    this.translation = translation;
    this.texts = texts;
    this.most.textContent = texts.needed;
    setAttribute(this.back, "aria-label", texts.off_back);
    this.back.title = texts.off_back;
  }

  toggle() {
    const { kind, layer, head, off } = this.store.state;
    this.store.set({ off: off ? null : headAddress({ kind, layer, head }) });
  }

  end() {
    this.toggle();
    this.button.focus({ preventScroll: true });
  }

  /** The switch is in the corner of the tile under the pointer. */
  point() {
    const tile = this.overview.pointed;
    if (!tile || this.fixed || this.mark.parentElement === tile.button) return;
    this.mark.title = fillText(this.texts.off_tile, { head: headAddress(this.place(tile)) });
    tile.button.append(this.mark);
  }

  /** @param {MouseEvent} event On a tile. */
  press(event) {
    if (!this.mark.contains(/** @type {Node} */ (event.target))) return;
    event.stopPropagation(); // or the tile would open
    this.toggleTile(this.overview.pointed);
  }

  /** @param {KeyboardEvent} event X switches the head of the tile that has the focus, or the selected one. */
  key({ key, target, ctrlKey, metaKey, altKey }) {
    if (key.toLowerCase() !== "x" || ctrlKey || metaKey || altKey || this.fixed) return;
    const tile = this.overview.tiles.all.find(({ button }) => button === target);
    if (tile) this.toggleTile(tile);
    else this.toggle();
  }

  /** @param {Tile | null} tile */
  toggleTile(tile) {
    if (!tile) return;
    const place = this.place(tile);
    const address = headAddress(place);
    this.store.set({ ...place, off: this.store.state.off === address ? null : address });
  }

  /** @param {Tile} tile */
  place(tile) {
    const { block, head } = tile;
    return { kind: block.kind, layer: block.layerOf(tile, this.store.state.layer), head };
  }

  /** What is known of the head that this sentence needs most. */
  get needed() {
    const { needed } = findings(this.translation.key);
    const { source, model } = this.translation.about ?? {};
    return needed?.source === source && needed?.model === model ? needed : null;
  }

  /** @param {State} state */
  update(state) {
    const { texts, translation, needed } = this;
    const { about, beam } = translation;
    const own = !beam?.shown && !about?.force; // nothing else is an answer of the model
    this.fixed = !about || about.answers?.off === false || !own;
    this.button.hidden = this.cause.hidden = this.fixed && !state.off;
    this.most.hidden =
      !about || !own || Boolean(about.answers && !about.answers.needed) || state.off === (needed?.head ?? NEEDED);
    this.button.textContent = state.off ? texts.off_back : texts.off;
    setAttribute(this.button, "aria-pressed", String(Boolean(state.off)));
    this.cause.textContent = texts.no_cause;
    for (const tile of this.overview.tiles.all)
      tile.button.classList.toggle("switched-off", headAddress(this.place(tile)) === state.off);
    if (state.off === NEEDED && needed?.head) this.overview.openHead({ ...parseHead(needed.head), off: needed.head });
    const before = this.off;
    this.off = state.off;
    this.result.hidden = !state.off || !own;
    if (this.result.hidden) return;
    this.show(state);
    if (state.off !== before) this.result.scrollIntoView({ block: "nearest" }); // from the tiles, which may be far below
  }

  /**
   * The translation with and without the head, and what the first one has lost.
   * @param {State} state
   */
  show({ off }) {
    const { texts, translation, needed } = this;
    this.title.textContent = off === NEEDED ? texts.needed_title : fillText(texts.off_title, { head: off ?? "" });
    const comparison = findings(translation.key).off;
    const { source, model } = translation.about ?? {};
    if (!comparison || comparison.head !== off || comparison.source !== source || comparison.model !== model) {
      const waiting = off !== NEEDED ? texts.off_waiting : needed ? texts.needed_long : texts.needed_waiting;
      return this.body.replaceChildren(h("p", { class: "note" }, waiting));
    }
    const { before, after, original, words, worst } = comparison;
    const same = [...original, ...words].every(([, changed]) => !changed);
    const factor = Math.exp(after - before);
    const change = h("b", {}, `${after > before ? "+" : ""}${signed(after - before)}`);
    const numbers = fill(texts.off_numbers, {
      before: signed(before),
      after: signed(after),
      change,
      factor: factor < 0.01 ? tiny(factor) : factor.toFixed(2),
    });
    explainIn(numbers, texts.language, ["log_probability"]);
    const [token, high, low] = worst;
    const loss = { token: tokenElement(tokenText(token), "b"), before: percent(high), after: percent(low) };
    const falls = loss.before === loss.after ? "" : fill(texts.off_worst, loss);
    const { rank = 0, count = 0 } = needed?.head === off ? needed : {};
    const most = rank && fillText(rank === 1 ? texts.needed_first : texts.needed_changes, { rank, count });
    this.body.replaceChildren(
      this.line(texts.off_with, original, "gone"),
      this.line(texts.off_without, words, "new"),
      h("p", {}, h("b", {}, same ? texts.off_same : texts.off_changed), " ", falls, " ", most || ""),
      h("p", { class: "note" }, numbers),
    );
  }

  /**
   * A sentence whose changed words are marked.
   * @param {string} label
   * @param {[string, boolean][]} words
   * @param {string} mark
   */
  line(label, words, mark) {
    const parts = words.flatMap(([word, changed], index) => [
      index ? " " : "",
      changed ? tokenElement(word, "mark", { class: `off-${mark}` }) : tokenElement(word),
    ]);
    const sentence = h("span", { lang: this.translation.languages.target, dir: "auto" }, ...parts);
    return h("p", { class: "off-line" }, h("span", { class: "note" }, label), sentence);
  }
}
