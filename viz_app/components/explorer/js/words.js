// The translation as a sentence; below it token by token, with the source word that one encoder-decoder head prefers.

import { headAddress } from "../../common/heads/heads.js";
import { direction, fill, h, setAttribute } from "../../common/page/dom.js";
import { explainIn } from "../../common/page/explained.js";
import { copyButton } from "../../common/text/copy.js";
import { fillText, percent } from "../../common/text/format.js";
import { tokenText } from "../../common/text/tokens.js";
import { Popover } from "./beam/popover.js";
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
    const leave = () => this.closePopover();
    this.line = h("div", {
      class: "words",
      pointerover: (event) => event.pointerType === "mouse" && this.open(event),
      pointerout: leave,
      focusin: (event) => this.open(event),
      focusout: leave,
      click: (event) => this.press(event),
      keydown: (event) => event.key === "Escape" && this.closePopover(),
    });
    this.sentence = h("p", { class: "sentence" });
    this.note = h("p", { class: "note words-note" });
    this.popover = new Popover();
    this.element = h(
      "div",
      { class: "translation", role: "group" },
      this.sentence,
      this.line,
      this.note,
      this.popover.element,
    );
  }

  /**
   * Builds the words of a new translation.
   * @param {Translation} translation
   * @param {ExplorerTexts} texts
   */
  build(translation, texts) {
    this.popover.hide();
    this.element.hidden = !translation.length; // an encoder generates nothing
    this.translation = translation;
    this.texts = texts;
    setAttribute(this.element, "aria-label", texts.translation);
    setAttribute(this.line, "lang", translation.languages.target);
    const runs = direction(plainText(translation.axes.outputs));
    setAttribute(this.line, "dir", runs);
    setAttribute(this.sentence, "dir", runs);
    this.text = h("bdi", { lang: translation.languages.target, dir: "auto" });
    const { tree } = translation;
    const copied = () => tree?.text ?? plainText(translation.axes.outputs);
    const copy = copyButton(copied, texts, { class: "plain" });
    this.sentence.replaceChildren(...(tree ? [copy] : [this.text, copy])); // the brackets of a tree stand below it
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
   * A word and its gloss; the popover of a token is made when it is asked for.
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
   * Opens the popover of the token that an event is about.
   * @param {Event} event
   */
  open({ target }) {
    const token = /** @type {HTMLElement | null} */ (target instanceof Element && target.closest(".token"));
    if (token) this.openPopover(Number(token.dataset.index));
  }

  /** @param {number} index */
  openPopover(index) {
    const { kind, unit } = this.store.state;
    const button = /** @type {HTMLButtonElement} */ (this.line.querySelector(`[data-index="${index}"]`));
    if (this.translation.steps.length) this.popover.show(button, this.translation, index, this.texts);
    // The same position is a row of the decoder's maps; pointing at a word shows where it looked.
    if (kind !== "encoder") this.store.set({ cursor: { query: this.row(index, unit), key: null } });
  }

  /**
   * @param {number} index
   * @param {string} unit
   */
  row(index, unit) {
    return unit === "words" ? this.translation.axes.outputs.words[index] : index;
  }

  /**
   * Pins the row of a token; the encoder has none.
   * @param {Event} event
   */
  press(event) {
    const { state } = this.store;
    const token = event.target instanceof Element && event.target.closest(".token");
    if (!token || state.kind === "encoder") return this.open(event);
    this.closePopover();
    const query = this.row(Number(/** @type {HTMLElement} */ (token).dataset.index), state.unit);
    this.store.set({ pin: pinName(state, { query, key: null }) });
  }

  closePopover() {
    if (this.popover.hide() || !this.translation.steps.length) this.store.set({ cursor: null });
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
        setAttribute(token, "tabindex", word.first + offset >= step ? -1 : 0);
        const pinned = state.kind !== "encoder" && state.pin === `q${this.row(word.first + offset, state.unit)}`;
        setAttribute(token, "aria-pressed", String(pinned));
      });
    });
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
    const note = fill(this.texts.gloss_note, { head: h("b", {}, headAddress({ kind: "cross", layer, head })) });
    this.note.replaceChildren(explainIn(note, this.texts.language, ["cross_attention", "head"]));
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
