// A poll: the question, what can be chosen, and what the class has chosen. The same on a phone and before the class.

import { h, setAttribute, tokenElement } from "../../components/common/page/dom.js";
import { fillText, percent } from "../../components/common/text/format.js";
import { build } from "../../lessons/stage/js/prose.js";

const LETTERS = "ABCDEFGHIJKL";
const STRONG = 0.6; // share of the colour from which on dark text on it cannot be read

export class Poll {
  shown = "";
  /** @type {HTMLElement[]} The option that each button chooses, in order. */
  buttons = [];
  /** @type {((counts: Map<number, number>, answers: number) => void)[]} */
  tallies = [];

  /**
   * @param {HTMLElement} root
   * @param {ClassTexts} texts
   * @param {((poll: number, option: number) => void) | null} choose Null where nothing can be chosen.
   */
  constructor(root, texts, choose) {
    this.root = root;
    this.texts = texts;
    this.choose = choose;
    root.classList.add("poll");
  }

  /** @param {ClassView} view */
  show(view) {
    const key = `${view.poll} ${view.state}`;
    if (key !== this.shown) {
      this.shown = key;
      this.build(view);
    }
    for (const [option, button] of this.buttons.entries()) setAttribute(button, "aria-pressed", view.mine === option);
    const counts = new Map(view.counts ?? []);
    for (const tally of this.tallies) tally(counts, view.answers);
  }

  /** @param {ClassView} view */
  build(view) {
    this.buttons = [];
    this.tallies = [];
    const { question } = view;
    if (!question) return this.root.replaceChildren();
    const title = question.title ? h("h2", {}, question.title) : null;
    const parts = question.kind === "map" ? this.map(view, question) : [this.choices(view, question)];
    const answer = question.answer.length
      ? h("div", { class: "answer" }, ...question.answer.map((node) => build(node)))
      : null;
    const children = [title, ...question.prose.map((node) => build(node)), ...parts, answer];
    this.root.replaceChildren(...children.filter((child) => child !== null));
  }

  /** @param {ClassView} view */
  canChoose(view) {
    return this.choose !== null && view.state === "open";
  }

  /**
   * @param {ClassView} view
   * @param {number} option
   * @param {Attributes} attributes
   * @param {...(Node | string)} children
   */
  button(view, option, attributes, ...children) {
    const button = h("button", { ...attributes, click: () => this.choose?.(view.poll, option) }, ...children);
    this.buttons[option] = button;
    return button;
  }

  /**
   * @param {ClassView} view
   * @param {ClassQuestion} question
   */
  choices(view, question) {
    const items = (question.choices ?? []).map((words, option) => {
      const parts = [
        h("span", { class: "letter" }, LETTERS[option]),
        h("span", {}, ...words.map((node) => build(node))),
      ];
      const choice = this.canChoose(view)
        ? this.button(view, option, { class: "choice" }, ...parts)
        : h("div", { class: "choice", "aria-pressed": null }, ...parts);
      if (!this.canChoose(view) && view.mine === option) choice.append(h("span", { class: "mark" }, this.texts.yours));
      const isRight = question.right === option;
      if (isRight) choice.append(h("span", { class: "mark" }, this.texts.right));
      return h("li", { class: isRight ? "option right" : "option" }, choice, view.counts ? this.bar(option) : null);
    });
    return h("ul", { class: "options" }, ...items);
  }

  /** @param {number} option */
  bar(option) {
    const bar = h("span", { class: "bar" });
    const count = h("span", { class: "count" });
    this.tallies.push((counts, answers) => {
      const share = (counts.get(option) ?? 0) / Math.max(1, answers);
      bar.style.width = `${100 * share}%`;
      count.textContent = `${counts.get(option) ?? 0} · ${percent(share)}`;
    });
    return h("div", { class: "tally" }, h("span", { class: "track", "aria-hidden": "true" }, bar), count);
  }

  /**
   * @param {ClassView} view
   * @param {ClassQuestion} question
   */
  map(view, question) {
    const queries = question.queries ?? [];
    const keys = question.keys ?? [];
    if (this.canChoose(view) && queries.length === 1)
      return [
        h("div", { class: "tokens" }, ...keys.map((key, option) => this.button(view, option, {}, tokenElement(key)))),
      ];
    if (this.canChoose(view)) {
      const cell = (/** @type {number} */ option) => h("td", {}, this.tap(view, question, option));
      return [h("div", { class: "scroll" }, this.table(question, "", cell))];
    }
    const maps = [];
    if (view.counts) maps.push(this.table(question, this.texts.taps, (option) => this.heat(question, option)));
    const { weights } = question;
    if (weights) {
      maps.push(
        this.table(question, this.texts.weights, (option) => {
          const cell = h("td", { class: question.right === option ? "right" : "" });
          colour(cell, weights[option], queries.length === 1 ? percent(weights[option]) : "");
          setAttribute(cell, "title", `${this.name(question, option)}: ${percent(weights[option])}`);
          return cell;
        }),
      );
    }
    const mine = view.mine === null ? null : fillText(this.texts.yours_is, { option: this.name(question, view.mine) });
    return [
      h("div", { class: "maps" }, ...maps.map((map) => h("div", { class: "scroll" }, map))),
      ...(mine && this.choose ? [h("p", { class: "mark" }, mine)] : []),
    ];
  }

  /**
   * @param {ClassView} view
   * @param {ClassQuestion} question
   * @param {number} option
   */
  tap(view, question, option) {
    return this.button(view, option, { "aria-label": this.name(question, option) });
  }

  /**
   * @param {ClassQuestion} question
   * @param {number} option
   */
  heat(question, option) {
    const cell = h("td", { class: question.right === option ? "right" : "" });
    this.tallies.push((counts) => {
      const most = Math.max(1, ...counts.values());
      const count = counts.get(option) ?? 0;
      colour(cell, count / most, count ? String(count) : "");
      setAttribute(cell, "title", `${this.name(question, option)}: ${count}`);
    });
    return cell;
  }

  /**
   * @param {ClassQuestion} question
   * @param {string} caption
   * @param {(option: number) => HTMLElement} cell
   */
  table(question, caption, cell) {
    const { queries = [], keys = [] } = question;
    const head = h(
      "tr",
      {},
      h("td", {}, this.texts.axes),
      ...keys.map((key) => h("th", { scope: "col" }, h("span", {}, tokenElement(key)))),
    );
    const rows = queries.map((query, row) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, tokenElement(query)),
        ...keys.map((_, column) => cell(row * keys.length + column)),
      ),
    );
    return h(
      "table",
      { class: queries.length > 1 || keys.length > 12 ? "map many" : "map" },
      caption ? h("caption", {}, caption) : null,
      h("thead", {}, head),
      h("tbody", {}, ...rows),
    );
  }

  /**
   * @param {ClassQuestion} question
   * @param {number} option
   */
  name({ queries = [], keys = [] }, option) {
    const key = keys[option % keys.length];
    return queries.length === 1 ? key : `${queries[Math.floor(option / keys.length)]} → ${key}`;
  }
}

/**
 * @param {HTMLElement} cell
 * @param {number} share From 0 to 1.
 * @param {string} text
 */
function colour(cell, share, text) {
  cell.style.setProperty("--share", `${Math.round(100 * share)}%`);
  cell.classList.toggle("strong", share > STRONG);
  if (cell.textContent !== text) cell.textContent = text;
}
