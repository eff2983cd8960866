// The card of a head: beside its map the role and the way to the rest, below it what the model's atlas has measured.

import { headAddress } from "../../../common/heads/heads.js";
import { fill, h, setAttribute } from "../../../common/page/dom.js";
import { eventId } from "../../../common/page/events.js";
import { fillText, percent } from "../../../common/text/format.js";
import { tokenText } from "../../../common/text/tokens.js";
import { Evidence, fixed, part, share } from "./evidence.js";
import { findings, rolesOf } from "./findings.js";

/** @typedef {import("./evidence.js").CardData} CardData */

export class HeadCard {
  /** @type {(event: { name: string, id: number }) => void} Asks Python for the sentence of an example. */
  reportSentence;
  /** @type {ExplorerTexts} */
  texts;
  /** @type {Translation} */
  translation;
  /** @type {CardData | null} What is drawn. */
  drawn = null;
  /** @type {{ text: string, at: number, token: string } | null} The place of an example that was pressed. */
  wanted = null;
  /** @type {Evidence} */
  measured;
  moved = false; // whether the focus goes to the card of another head

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.role = h("p", { class: "head-role" });
    this.opener = h("button", {
      class: "plain card-button",
      "aria-controls": "atlas-card",
      click: () => this.turn(),
    });
    this.tools = [this.role, this.opener];
    this.title = h("h3", { class: "atlas-title", id: "atlas-title", tabindex: "-1" });
    this.back = h("button", { class: "plain atlas-close", click: () => this.close() }, "\u00d7");
    this.body = h("div", {});
    this.summary = h("summary", {});
    this.numbers = h("div", { class: "atlas-body" });
    this.evidence = h("details", {}, this.summary, this.numbers); // stays open from head to head
    this.element = h(
      "section",
      { class: "atlas-card", id: "atlas-card", hidden: true, "aria-labelledby": "atlas-title" },
      this.title,
      this.back,
      this.body,
    );
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * @param {Translation} translation
   * @param {ExplorerTexts} texts
   */
  build(translation, texts) {
    if (texts !== this.texts) this.drawn = null;
    this.translation = translation;
    this.texts = texts;
    setAttribute(this.back, "aria-label", texts.card_close);
    this.back.title = texts.card_close;
    this.summary.textContent = texts.card_evidence;
    this.opener.textContent = texts.card_open;
    this.measured = new Evidence(texts, (layer, head) => this.goTo(layer, head));
    this.select();
  }

  turn() {
    if (this.store.state.card) return this.close();
    this.store.set({ card: true });
    this.moved = true;
  }

  /** Selects the place of the example that was pressed, once its sentence is there. */
  select() {
    const { wanted, translation } = this;
    if (!wanted || translation.about?.text !== wanted.text) return;
    this.wanted = null;
    const { kind } = this.store.state;
    const row = translation.view(kind, "tokens", translation.length).queries[wanted.at];
    if (row && row.text === tokenText(wanted.token)) this.store.set({ pin: `q${wanted.at}` });
  }

  close() {
    this.store.set({ card: false });
    this.opener.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    this.close();
  }

  /**
   * @param {State} state
   * @param {boolean} one Whether one head is shown.
   */
  update(state, one) {
    const { card, kind, layer, head } = state;
    const before = this.element.hidden;
    const known = Boolean(rolesOf(this.translation)?.atlas);
    this.role.replaceChildren(this.describeRole(state));
    this.opener.hidden = !known;
    setAttribute(this.opener, "aria-expanded", String(card));
    this.element.hidden = !card || !known || !one;
    if (this.element.hidden) {
      this.drawn = null;
      return;
    }
    const cardData = findings(this.translation.key).card;
    const here =
      cardData &&
      cardData.model === this.translation.about?.model &&
      cardData.head === headAddress({ kind, layer, head });
    if (!here) {
      this.drawn = null;
      this.title.textContent = headAddress({ kind, layer, head });
      this.body.replaceChildren(h("p", { class: "note", role: "status" }, this.texts.card_waiting));
    } else if (cardData !== this.drawn) {
      this.drawn = cardData;
      this.title.replaceChildren(`${headAddress({ kind, layer, head })}: ${cardData.words}`);
      this.numbers.replaceChildren(...this.measured.parts(cardData));
      const plain = h("p", { class: "atlas-plain" }, this.plain(cardData));
      this.body.replaceChildren(plain, this.evidence, ...this.examples(cardData));
      if (this.moved) {
        this.title.focus({ preventScroll: true });
        this.title.scrollIntoView({ block: "nearest" });
      }
      this.moved = false;
    }
    if (before) this.element.scrollIntoView({ block: "nearest" });
  }

  /**
   * "Role: looks at the previous token." of the model's atlas; from the example sentences where it has none.
   * @param {State} state
   */
  describeRole({ kind, layer, head }) {
    const { texts } = this;
    const roles = rolesOf(this.translation);
    const cardData = roles?.heads[kind]?.[layer]?.[head];
    if (!roles || !cardData) return "";
    if ("words" in cardData)
      return fill(texts[`role_atlas_${cardData.clear ? "named" : "none"}`], { role: h("b", {}, cardData.words) });
    const { role, standing, share, chance, places } = cardData;
    const values = { share: percent(share), chance: percent(chance), places };
    const told = fill(texts[`role_${standing}`], { role: h("b", {}, texts[`role_is_${role}`]), ...values });
    const why = roles.problem ? fillText(texts.role_problem, { problem: roles.problem }) : texts.role_examples;
    told.append(" ", h("span", { class: "note" }, why));
    return told;
  }

  /**
   * What the head does, what is lost without it, and what it carries, in plain words.
   * @param {CardData} cardData
   */
  plain({ plain, clear, decode, effect, circuits }) {
    const { texts } = this;
    const role = clear ? fillText(texts.card_role, { role: plain }) : texts.card_no_role;
    const { value, significant } = decode ? { ...decode, value: decode.whole - decode.bleu } : { value: 0, ...effect };
    const change = !significant ? "same" : (value ?? 0) > 0 ? "worse" : "better";
    const measure = decode ? "bleu" : "loss";
    const values = { whole: decode?.whole.toFixed(1) ?? "", bleu: decode?.bleu.toFixed(1) ?? "", value: fixed(value) };
    const lost = decode || effect ? fillText(texts[`card_${measure}_${change}`], values) : "";
    const carried = (circuits ?? []).filter(({ value }) => (value ?? 0) > 0);
    const tasks = carried.map(({ words, value, whole }) => `${words} (${share((value ?? 0) / whole)})`).join(", ");
    const carries = tasks ? fillText(texts.card_carries, { tasks }) : "";
    return [`${role[0].toUpperCase()}${role.slice(1)}`, lost, carries].filter(Boolean).join(" ");
  }

  /**
   * @param {number} layer
   * @param {number} head
   */
  goTo(layer, head) {
    this.moved = true;
    this.title.focus({ preventScroll: true }); // the button goes with the card of this head
    this.store.set({ layer, head, pin: null });
  }

  /** @param {CardData} cardData */
  examples({ examples = [] }) {
    const { languages } = this.translation;
    const title = examples.some(({ fits }) => fits) ? this.texts.card_examples : this.texts.card_largest;
    const rows = examples.map((example) => {
      const { text, target, query, key, weight } = example;
      const pair = [query, key].filter(Boolean).map((token) => h("bdi", { class: "atlas-token" }, tokenText(token)));
      const link = pair.length === 2 ? [pair[0], " \u2192 ", pair[1]] : pair;
      const press = { class: "atlas-press atlas-example", lang: languages.source, click: () => this.ask(example) };
      return h(
        "li",
        {},
        example.fixed ? h("span", { lang: languages.source }, text) : h("button", press, text),
        target ? h("span", { class: "note", lang: languages.target, dir: "auto" }, target) : null,
        h("span", { class: "atlas-pair" }, ...link, pair.length ? ", " : "", share(weight)),
      );
    });
    return rows.length ? [part(title, "examples", [h("ol", { class: "atlas-list" }, ...rows)])] : [];
  }

  /** @param {NonNullable<CardData["examples"]>[number]} example */
  ask({ text, at, query }) {
    this.wanted = { text, at, token: query };
    this.store.set({ zoom: "head", unit: "tokens", step: null, branch: 0 });
    this.select();
    this.reportSentence({ name: text, id: eventId() });
    this.element.previousElementSibling?.scrollIntoView(); // the maps, which show it
  }
}
