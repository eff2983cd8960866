// Beside the map of a head: its role, and a switch. Above the pictures: the translation without the head.

import { fill, fillText, h, headName, percent, setAttribute, token } from "../../common/dom.js";
import { explainIn } from "../../common/explained.js";
import { signed, tiny } from "../../common/format.js";
import { findings } from "./findings.js";

export class HeadCard {
  /** @type {Texts} */
  texts;
  /** @type {Translation} */
  translation;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.role = h("p", { class: "head-role" });
    this.button = h("button", { class: "off-button", click: () => this.toggle() });
    this.cause = h("p", { class: "note" });
    this.element = h("div", { class: "head-card" }, this.role, this.button, this.cause);
    this.title = h("p", { class: "off-title" });
    this.body = h("div", { class: "off-body" });
    this.back = h("button", { class: "plain off-back", click: () => this.toggle() }, "\u00d7");
    this.result = h("section", { class: "off", hidden: true, role: "status" }, this.title, this.body, this.back);
  }

  /**
   * @param {Translation} translation
   * @param {Texts} texts
   */
  build(translation, texts) {
    this.translation = translation;
    this.texts = texts;
    setAttribute(this.back, "aria-label", texts.off_back);
    this.back.title = texts.off_back;
  }

  toggle() {
    const { kind, layer, head, off } = this.store.state;
    this.store.set({ off: off ? null : `${kind}.${layer}.${head}` });
    this.button.focus({ preventScroll: true });
  }

  /** @param {State} state */
  update(state) {
    const { texts, translation } = this;
    this.element.hidden = state.zoom !== "head" || state.average !== "none";
    const fixed = !translation.about || Boolean(translation.beam?.shown); // a branch is not what the model answers
    this.button.hidden = this.cause.hidden = fixed;
    this.button.textContent = state.off ? texts.off_back : texts.off;
    setAttribute(this.button, "aria-pressed", String(Boolean(state.off)));
    this.cause.textContent = texts.no_cause;
    this.role.replaceChildren(this.describeRole(state));
    this.result.hidden = !state.off || fixed;
    if (!this.result.hidden) this.show(state);
  }

  /**
   * "Role: attends to the previous token, at 83 % of 91 positions (uniform attention: 12 %)."
   * @param {State} state
   */
  describeRole({ kind, layer, head }) {
    const { texts, translation } = this;
    const { roles } = findings();
    const found = roles && roles.model === translation.about?.model ? roles.heads[kind]?.[layer]?.[head] : null;
    if (!found) return "";
    const { role, standing, share, chance, places } = found;
    const values = { share: percent(share), chance: percent(chance), places };
    return fill(texts[`role_${standing}`], { role: h("b", {}, texts[`role_is_${role}`]), ...values });
  }

  /**
   * The translation with and without the head, and what the first one has lost.
   * @param {State} state
   */
  show({ kind, layer, head, off }) {
    const { texts, translation } = this;
    this.title.textContent = fillText(texts.off_title, { kind: texts[`kind_${kind}`], head: headName(layer, head) });
    const found = findings().off;
    const { text, model } = translation.about ?? {};
    if (!found || found.head !== off || found.source !== text || found.model !== model)
      return this.body.replaceChildren(h("p", { class: "note" }, texts.off_waiting));
    const { before, after, original, words } = found;
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
      changed ? token(word, "mark", { class: `off-${mark}` }) : token(word),
    ]);
    const sentence = h("span", { lang: this.translation.languages.target, dir: "auto" }, ...parts);
    return h("p", { class: "off-line" }, h("span", { class: "note" }, label), sentence);
  }
}
