// Beside the map of a head: a switch. Above the pictures: the translation without the head.

import { headAddress } from "../../../common/heads/heads.js";
import { fill, h, setAttribute, tokenElement } from "../../../common/page/dom.js";
import { explainIn } from "../../../common/page/explained.js";
import { fillText, signed, tiny } from "../../../common/text/format.js";
import { findings } from "./findings.js";

export class HeadSwitch {
  /** @type {ExplorerTexts} */
  texts;
  /** @type {Translation} */
  translation;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.button = h("button", { class: "off-button", click: () => this.toggle() });
    this.layer = h("button", { class: "plain off-layer", click: () => this.toggle(true) });
    this.cause = h("p", { class: "note" });
    this.tools = [this.button, this.layer, this.cause];
    this.title = h("p", { class: "off-title" });
    this.body = h("div", { class: "off-body" });
    this.back = h("button", { class: "plain off-back", click: () => this.toggle() }, "\u00d7");
    this.result = h("section", { class: "off", hidden: true, role: "status" }, this.title, this.body, this.back);
  }

  /**
   * @param {Translation} translation
   * @param {ExplorerTexts} texts
   */
  build(translation, texts) {
    this.translation = translation;
    this.texts = texts;
    setAttribute(this.back, "aria-label", texts.off_back);
    this.back.title = texts.off_back;
  }

  /** @param {boolean} [all] Whether all heads of the layer are switched, not one. */
  toggle(all = false) {
    const { kind, layer, head, off } = this.store.state;
    const { heads } = this.translation.kinds[kind];
    const places = all ? Array.from({ length: heads }, (_, head) => headAddress({ kind, layer, head })) : [];
    this.store.set({ off: off ? null : places.join(" ") || headAddress({ kind, layer, head }) });
    this.button.focus({ preventScroll: true });
  }

  /** @param {State} state */
  update(state) {
    const { texts, translation } = this;
    const { about, beam } = translation;
    const own = !beam?.shown && !about?.force; // nothing else is an answer of the model
    const fixed = !about || about.answers?.off === false || !own;
    this.button.hidden = this.cause.hidden = fixed;
    this.layer.hidden = fixed || !about.answers?.layer || Boolean(state.off);
    this.layer.textContent = fillText(texts.off_layer, { layer: state.layer + 1 });
    this.button.textContent = state.off ? texts.off_back : texts.off;
    setAttribute(this.button, "aria-pressed", String(Boolean(state.off)));
    this.cause.textContent = texts.no_cause;
    this.result.hidden = !state.off || fixed;
    if (!this.result.hidden) this.show(state);
  }

  /**
   * The translation with and without the head, and what the first one has lost.
   * @param {State} state
   */
  show({ kind, layer, head, off }) {
    const { texts, translation } = this;
    const count = off?.split(" ").length ?? 1;
    const values = { kind: texts[`kind_${kind}`], head: headAddress({ kind, layer, head }), layer: layer + 1, count };
    this.title.textContent = fillText(count > 1 ? texts.off_layer_title : texts.off_title, values);
    const comparison = findings(translation.key).off;
    const { source, model } = translation.about ?? {};
    if (!comparison || comparison.head !== off || comparison.source !== source || comparison.model !== model)
      return this.body.replaceChildren(h("p", { class: "note" }, texts.off_waiting));
    const { before, after, original, words } = comparison;
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
    this.body.replaceChildren(
      this.line(texts.off_with, original, "gone"),
      this.line(texts.off_without, words, "new"),
      h("p", {}, h("b", {}, same ? texts.off_same : texts.off_changed), " ", numbers),
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
