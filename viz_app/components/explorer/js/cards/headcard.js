// Beside the map of a head: its role, the way to its card, and a switch. Above the pictures: the translation without it.

import { headPlace } from "../../../common/heads/heads.js";
import { fill, h, setAttribute, tokenElement } from "../../../common/page/dom.js";
import { explainIn } from "../../../common/page/explained.js";
import { fillText, headName, percent, signed, tiny } from "../../../common/text/format.js";
import { AtlasCard } from "./atlascard.js";
import { findings } from "./findings.js";

export class HeadCard {
  /** @type {ExplorerTexts} */
  texts;
  /** @type {Translation} */
  translation;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.role = h("p", { class: "head-role" });
    this.open = h("button", {
      class: "plain card-button",
      "aria-controls": "atlas-card",
      click: () => this.turn(),
    });
    this.card = new AtlasCard(store, this.open);
    this.button = h("button", { class: "off-button", click: () => this.toggle() });
    this.layer = h("button", { class: "plain off-layer", click: () => this.toggle(true) });
    this.cause = h("p", { class: "note" });
    this.element = h("div", { class: "head-card" }, this.role, this.open, this.button, this.layer, this.cause);
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
    this.open.textContent = texts.card_open;
    this.card.build(translation, texts);
  }

  turn() {
    if (this.store.state.card) return this.card.close();
    this.store.set({ card: true });
    this.card.moved = true;
  }

  /** @param {boolean} [all] Whether all heads of the layer are switched, not one. */
  toggle(all = false) {
    const { kind, layer, head, off } = this.store.state;
    const { heads } = this.translation.kinds[kind];
    const places = all ? Array.from({ length: heads }, (_, head) => headPlace({ kind, layer, head })) : [];
    this.store.set({ off: off ? null : places.join(" ") || headPlace({ kind, layer, head }) });
    this.button.focus({ preventScroll: true });
  }

  /** @param {State} state */
  update(state) {
    const { texts, translation } = this;
    this.element.hidden = state.zoom !== "head" || state.average !== "none";
    const { about, beam } = translation;
    const own = !beam?.shown && !about?.force; // nothing else is an answer of the model
    const fixed = !about || about.answers?.off === false || !own;
    this.button.hidden = this.cause.hidden = fixed;
    this.layer.hidden = fixed || !about.answers?.layer || Boolean(state.off);
    this.layer.textContent = fillText(texts.off_layer, { layer: state.layer + 1 });
    this.button.textContent = state.off ? texts.off_back : texts.off;
    setAttribute(this.button, "aria-pressed", String(Boolean(state.off)));
    this.cause.textContent = texts.no_cause;
    this.role.replaceChildren(this.describeRole(state));
    const measured = Boolean(this.roles()?.atlas);
    this.open.hidden = !measured;
    setAttribute(this.open, "aria-expanded", String(state.card));
    this.card.update(state, measured && !this.element.hidden);
    this.result.hidden = !state.off || fixed;
    if (!this.result.hidden) this.show(state);
  }

  /** What is known of the roles of this model. */
  roles() {
    const { roles } = findings(this.translation.key);
    return roles?.model === this.translation.about?.model ? roles : null;
  }

  /**
   * "Role: looks at the previous token." of the model's atlas; from the example sentences where it has none.
   * @param {State} state
   */
  describeRole({ kind, layer, head }) {
    const { texts } = this;
    const roles = this.roles();
    const found = roles?.heads[kind]?.[layer]?.[head];
    if (!roles || !found) return "";
    if ("words" in found)
      return fill(texts[`role_atlas_${found.clear ? "named" : "none"}`], { role: h("b", {}, found.words) });
    const { role, standing, share, chance, places } = found;
    const values = { share: percent(share), chance: percent(chance), places };
    const told = fill(texts[`role_${standing}`], { role: h("b", {}, texts[`role_is_${role}`]), ...values });
    const why = roles.problem ? fillText(texts.role_problem, { problem: roles.problem }) : texts.role_examples;
    told.append(" ", h("span", { class: "note" }, why));
    return told;
  }

  /**
   * The translation with and without the head, and what the first one has lost.
   * @param {State} state
   */
  show({ kind, layer, head, off }) {
    const { texts, translation } = this;
    const count = off?.split(" ").length ?? 1;
    const values = { kind: texts[`kind_${kind}`], head: headName(layer, head), layer: layer + 1, count };
    this.title.textContent = fillText(count > 1 ? texts.off_layer_title : texts.off_title, values);
    const found = findings(translation.key).off;
    const { source, model } = translation.about ?? {};
    if (!found || found.head !== off || found.source !== source || found.model !== model)
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
      changed ? tokenElement(word, "mark", { class: `off-${mark}` }) : tokenElement(word),
    ]);
    const sentence = h("span", { lang: this.translation.languages.target, dir: "auto" }, ...parts);
    return h("p", { class: "off-line" }, h("span", { class: "note" }, label), sentence);
  }
}
