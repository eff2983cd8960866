// The translation token by token, each with the source word that one encoder-decoder head prefers.

import { headAddress } from "../../common/heads/heads.js";
import { RovingFocus } from "../../common/page/arrowkeys.js";
import { direction, fill, h, setAttribute } from "../../common/page/dom.js";
import { explainIn } from "../../common/page/explained.js";
import { tool } from "../../common/page/tool.js";
import { confirmCopy } from "../../common/text/copy.js";
import { fillText, percent } from "../../common/text/format.js";
import { tokenText } from "../../common/text/tokens.js";
import { plainText } from "./data/data.js";
import { pinName } from "./draw/picture.js";

const UNSURE = 0.5; // below this probability a token is marked
const WEAK = 0.25; // below this weight a gloss is muted
const WORDLIKE = /[\p{L}\p{N}]/u; // punctuation needs no gloss

export class Words {
  /** @type {Translation} */
  translation;
  /** @type {ExplorerTexts} */
  texts;
  /** @type {HTMLElement} */
  text;
  /** @type {{ element: HTMLSpanElement, gloss: HTMLElement, tokens: HTMLButtonElement[], first: number }[]} */
  words;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    // One set of listeners for all tokens: a long translation has hundreds.
    const leave = () => this.store.set({ cursor: null });
    this.line = h("div", {
      class: "words",
      pointerover: (event) => event.pointerType === "mouse" && this.open(event),
      pointerout: leave,
      focusin: (event) => this.open(event),
      focusout: leave,
      click: (event) => this.press(event),
    });
    this.stops = new RovingFocus(this.line); // one stop of the Tab key
    this.heading = h("h2", { class: "unseen sentence" });
    const copied = () => this.translation.tree?.text ?? plainText(this.translation.axes.outputs);
    this.copy = tool("copy", { click: () => confirmCopy(copied(), this.texts, this.copy.button, this.copy.words) });
    this.note = h("p", { class: "note words-note" });
    this.element = h("div", { class: "translation", role: "group" }, this.heading, this.line, this.note);
  }

  /**
   * Builds the words of a new translation.
   * @param {Translation} translation
   * @param {ExplorerTexts} texts
   */
  build(translation, texts) {
    this.element.hidden = !translation.length; // an encoder generates nothing
    this.translation = translation;
    this.texts = texts;
    setAttribute(this.element, "aria-label", texts.translation);
    setAttribute(this.line, "lang", translation.languages.target);
    const runs = direction(plainText(translation.axes.outputs));
    setAttribute(this.line, "dir", runs);
    this.text = h("bdi", { lang: translation.languages.target, dir: "auto" });
    // The brackets of a tree are no sentence.
    this.heading.replaceChildren(texts.translation, ...(translation.tree ? [] : [": ", this.text]));
    this.copy.words.textContent = texts.copy;
    const { written } = translation;
    const words = translation.axis("outputs", "words").filter(({ first }) => first < (written ?? Infinity));
    this.words = words.map((word) => this.word(word));
    const { beam } = translation;
    const pruned = beam && beam.shown >= beam.hypotheses; // the end of a branch, not of what the model may write
    const reason = pruned ? texts.beam_cut : texts.cut_off;
    const cut = translation.finished ? null : h("span", { class: "cut", lang: texts.language, dir: "auto" }, reason);
    this.line.replaceChildren(...this.words.map(({ element }) => element), ...(cut ? [cut] : []));
  }

  /**
   * A word and its gloss.
   * @param {Position} position
   */
  word({ first, last, special }) {
    const tokens = [];
    for (let index = first; index <= last; index++) tokens.push(this.token(index));
    const gloss = h("bdi", { class: "gloss", dir: "auto", lang: this.translation.languages.source });
    const element = h(
      "span",
      { class: special ? "word special" : "word" },
      h("span", { class: "tokens", dir: "auto" }, ...tokens),
      gloss,
    );
    return { element, gloss, tokens, first };
  }

  /** @param {number} index */
  token(index) {
    const text = tokenText(this.translation.axes.outputs.tokens[index]);
    if (!this.translation.steps.length) return h("button", { class: "token", "data-index": index }, text);
    const [probability] = this.translation.steps[index];
    const attributes = {
      class: probability < UNSURE ? "token unsure" : "token",
      "data-index": index,
      "aria-label": fillText(this.texts.token, { token: text, probability: percent(probability) }),
    };
    return h("button", attributes, text);
  }

  /**
   * Points at the row of a token, which shows where it looked.
   * @param {Event} event
   */
  open({ target }) {
    const { kind, unit } = this.store.state;
    const token = /** @type {HTMLElement | null} */ (target instanceof Element && target.closest(".token"));
    if (!token || kind === "encoder") return; // whose maps have other rows
    this.store.set({ cursor: { query: this.row(Number(token.dataset.index), unit), key: null } });
  }

  /**
   * @param {number} index
   * @param {string} unit
   */
  row(index, unit) {
    return unit === "words" ? this.translation.axes.outputs.words[index] : index;
  }

  /**
   * Pins the row of a token. The encoder has none, and gives way to encoder-decoder attention.
   * @param {Event} event
   */
  press(event) {
    const { kind, unit } = this.store.state;
    const token = /** @type {HTMLElement | null} */ (event.target instanceof Element && event.target.closest(".token"));
    if (!token) return;
    const query = this.row(Number(token.dataset.index), unit);
    const pin = pinName(this.store.state, { query, key: null });
    this.store.set({ kind: kind === "encoder" ? "cross" : kind, pin, cursor: null });
  }

  /**
   * Shows what is written at this step, with its glosses.
   * @param {State} state
   * @param {number} step
   */
  update(state, step) {
    this.text.textContent = plainText(this.translation.axes.outputs, step) || "\u2026";
    this.line.classList.toggle("by-token", state.unit === "tokens");
    this.words.forEach((word, index) => {
      word.element.classList.toggle("unwritten", word.first >= step);
      word.tokens.forEach((token, offset) => {
        token.classList.toggle("unwritten", word.first + offset >= step);
        token.classList.toggle("newest", word.first + offset === step - 1 && state.step !== null);
        const pinned = state.kind !== "encoder" && state.pin === `q${this.row(word.first + offset, state.unit)}`;
        setAttribute(token, "aria-pressed", String(pinned));
      });
    });
    const tokens = this.words.flatMap((word) => word.tokens);
    for (const token of tokens.slice(step)) token.tabIndex = -1;
    this.stops.arrange([tokens.slice(0, step)]);
    this.follow(state, step);
    if (this.translation.available.includes("cross")) this.gloss(state, step);
    if (this.translation.steps.some(([probability]) => probability < UNSURE)) {
      this.note.append(" ", h("span", { class: "unsure-key" }, this.texts.unsure_note));
    }
  }

  /**
   * Puts under each word the source word that a head attends to most.
   * @param {State} state
   * @param {number} step
   */
  gloss(state, step) {
    const [layer, head] = state.gloss;
    const view = this.translation.view("cross", "words", step);
    const matrix = view.matrix(layer, head);
    this.words.forEach((word, index) => {
      const query = view.queries[index];
      const glossed = index < view.rows && !query.special && WORDLIKE.test(query.text);
      const key = glossed ? matrix.favourite(index, ({ special }) => !special) : -1;
      const weight = key < 0 ? 0 : matrix.at(index, key);
      word.gloss.textContent = key < 0 ? "\u00a0" : view.keys[key].text;
      const weak = key >= 0 && (weight < WEAK || view.keys[matrix.favourite(index)].special);
      word.gloss.classList.toggle("weak", weak);
      word.gloss.title = key < 0 ? "" : percent(weight);
    });
    const head_name = h("b", {}, headAddress({ kind: "cross", layer, head }));
    const note = fill(this.texts.gloss_note, { head: head_name, count: this.translation.headCount });
    this.note.replaceChildren(explainIn(note, this.texts.language, ["head"]));
    if (this.words.some(({ gloss }) => gloss.classList.contains("weak")))
      this.note.append(" ", h("span", { class: "weak-key" }, this.texts.weak_note));
  }

  /**
   * Keeps the newest token of a long translation in sight.
   * @param {State} state
   * @param {number} step
   */
  follow(state, step) {
    if (state.step === null || this.line.scrollHeight <= this.line.clientHeight) return;
    const word = this.words.findLast(({ first }) => first < step)?.element;
    if (!word) return;
    this.line.scrollTop = word.offsetTop - this.line.offsetTop - this.line.clientHeight / 2;
  }
}
