// The beam search of the translation: a button in the line of words, the tree, and the ranking under any length penalty.

import { fill, h, setAttribute, tokenElement } from "../../../common/page/dom.js";
import { define } from "../../../common/page/explained.js";
import { tool } from "../../../common/page/tool.js";
import { fillText, signed } from "../../../common/text/format.js";
import { joinTokens } from "../../../common/text/tokens.js";
import { Search } from "../data/search.js";
import { Table } from "../tables/table.js";
import { branchTable } from "../tables/tablecontents.js";
import { BeamTree } from "./beamtree.js";

const MAX_ALPHA = 2;
const MAX_RANKED = 12; // finished hypotheses in the list; the table has all branches

export class Beam {
  /** @type {ExplorerTexts} */
  texts;
  /** @type {Search | null} Of the translation; null when there was none. */
  search = null;
  /** @type {number} */
  alpha;
  /** @type {number} */
  shown;
  /** @type {string | null} Tokens that the search was forced to begin with. */
  force = null;
  /** @type {{ branch: number, alpha: number } | null} The best hypothesis, and the alpha for which it was. */
  best = null;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    const { button, words } = tool("beam", {
      class: "tool beam-button",
      click: () => store.set({ beam: !store.state.beam }),
    });
    this.button = button;
    this.words = words;
    this.note = new BranchNote(store);
    this.element = h("section", { class: "beam", hidden: true, keydown: (event) => this.key(event) });
    this.tree = new BeamTree(
      (branch) => store.set({ branch }),
      (node, spoken) => this.point(node, spoken),
    );
    const attributes = { type: "range", class: "slider", min: "0", max: MAX_ALPHA, step: "0.01" };
    this.slider = h("input", { ...attributes, input: () => this.setAlpha(Number(this.slider.value)) });
    this.own = h("button", { class: "plain", click: () => this.setAlpha(this.search?.alpha ?? 0) });
    this.value = h("output", { class: "beam-alpha" });
    this.mark = h("span", { class: "beam-mark", "aria-hidden": true });
    this.list = h("ol", { class: "beam-ranking" });
    this.readout = h("p", { class: "note beam-readout" });
    this.live = h("p", { class: "unseen", "aria-live": "polite" });
    this.table = new Table();
    this.title = h("h3", { class: "beam-title" });
    this.about = h("p", { class: "note" });
    this.label = h("span");
    this.ranked = h("h4", { class: "beam-title" });
    this.formula = h("p", { class: "note" });
    this.pruning = h("p", { class: "note" });
    const bar = h("span", { class: "beam-bar" }, this.slider, this.mark);
    const alpha = h("label", { class: "beam-slider" }, this.label, bar, this.value);
    const side = h("div", { class: "beam-side" }, this.ranked, this.list, alpha, this.own, this.formula, this.pruning);
    const main = h("div", { class: "beam-main" }, this.tree.element, this.readout, this.table.button);
    const body = h("div", { class: "beam-body" }, main, side);
    this.contents = [this.title, this.about, body, this.table.element, this.live]; // on the page while it is open
  }

  /**
   * Takes over a new translation, or another branch of the same search.
   * @param {Translation} translation
   * @param {ExplorerTexts} texts
   */
  build(translation, texts) {
    this.texts = texts;
    const { beam } = translation;
    this.button.hidden = !beam;
    if (beam?.id !== this.search?.id) {
      this.search = beam ? new Search(beam, translation.about?.answers?.branches) : null;
      this.alpha = beam?.alpha ?? 0;
      this.table.first = 0;
    }
    this.shown = beam?.shown ?? 0;
    this.force = translation.about?.force ?? null;
    if (!beam) return;
    const values = { size: beam.size, alpha: beam.alpha };
    define(this.title, texts.beam, texts.language, ["beam_search"]);
    define(this.about, fillText(texts.beam_note, values), texts.language, ["pruned", "token", "log_probability"]);
    define(this.label, texts.beam_alpha, texts.language, ["length_penalty"]);
    this.ranked.textContent = texts.beam_ranking;
    this.formula.textContent = texts[`beam_formula_${beam.penalty}`];
    define(this.pruning, fillText(texts.beam_pruning, values), texts.language, ["beam_size"]);
    this.own.textContent = fillText(texts.beam_own, values);
    setAttribute(this.element, "aria-label", texts.beam);
    const share = Math.min(beam.alpha, MAX_ALPHA) / MAX_ALPHA;
    this.mark.style.left = `calc(8px + ${share} * (100% - 16px))`; // where the middle of the thumb then is
  }

  /** @param {number} alpha */
  setAlpha(alpha) {
    this.alpha = alpha;
    this.store.mark("alpha");
  }

  /**
   * @param {State} state
   * @param {Theme} theme
   * @param {string} language
   */
  update(state, theme, language) {
    const { texts, search, shown } = this;
    this.words.textContent = texts.beam;
    setAttribute(this.button, "aria-expanded", String(Boolean(search && state.beam)));
    this.note.update(search, { shown, force: this.force }, state, texts);
    this.element.hidden = !search || !state.beam;
    if (!search || !state.beam) return this.element.replaceChildren();
    if (!this.element.firstChild) this.element.append(...this.contents);
    if (Number(this.slider.value) !== this.alpha) this.slider.value = String(this.alpha);
    this.slider.style.setProperty("--share", String(Math.min(1, this.alpha / MAX_ALPHA)));
    this.value.textContent = this.alpha.toFixed(2);
    this.own.disabled = this.alpha === search.alpha;
    const ranking = search.ranking(this.alpha);
    const { alpha, tree, table } = this;
    tree.show(search, { theme, kind: state.kind, alpha, branch: shown, winner: ranking[0].node, texts });
    this.rank(search, ranking.slice(0, MAX_RANKED), language);
    const open = (/** @type {number} */ branch) => this.store.set({ branch });
    table.show(branchTable(search, { alpha, shown, language, open }, texts));
    if (tree.node === null) this.readout.textContent = texts.beam_point;
    this.announce(search, ranking[0]);
  }

  /**
   * The list; its buttons stay, so that the focus does.
   * @param {Search} search
   * @param {ReturnType<Search["ranking"]>} ranking
   * @param {string} language
   */
  rank(search, ranking, language) {
    const { texts } = this;
    while (this.list.children.length > ranking.length) this.list.lastElementChild?.remove();
    while (this.list.children.length < ranking.length) {
      const button = h("button", {
        class: "beam-hypothesis",
        click: () => this.store.set({ branch: Number(button.dataset.branch) }),
      });
      this.list.append(h("li", {}, button));
    }
    ranking.forEach(({ node, branch, score }, index) => {
      const button = /** @type {HTMLButtonElement} */ (this.list.children[index].firstElementChild);
      button.dataset.branch = String(branch);
      button.disabled = !search.open.has(branch);
      setAttribute(button, "aria-pressed", String(branch === this.shown));
      const values = {
        score: signed(score, 3),
        total: signed(search.total[node]),
        length: search.step[node],
        rank: branch + 1,
      };
      const before = branch < search.hypotheses ? texts.beam_was : texts.beam_pushed_out;
      button.replaceChildren(
        tokenElement(search.text(node) || "\u2205", "bdi", { class: "beam-text", lang: language }),
        h(
          "span",
          { class: "beam-numbers" },
          h("b", {}, values.score),
          " ",
          fill(`${texts.beam_numbers} \u00b7 ${before}`, values),
        ),
      );
    });
  }

  /**
   * Says aloud when another hypothesis has come to the top.
   * @param {Search} search
   * @param {ReturnType<Search["ranking"]>[0]} first
   */
  announce(search, { branch, node }) {
    const { alpha, best } = this;
    if (best && best.branch !== branch && best.alpha !== alpha)
      this.live.textContent = fillText(this.texts.beam_first, { alpha: alpha.toFixed(2), text: search.text(node) });
    this.best = { branch, alpha };
  }

  /**
   * @param {number | null} node
   * @param {boolean} spoken
   */
  point(node, spoken) {
    const line = node === null ? this.texts.beam_point : this.tree.describe(node);
    this.readout.textContent = line;
    if (spoken) this.live.textContent = line;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === " ") event.stopPropagation(); // here it does not play the decoding
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.store.set({ beam: false });
    this.button.focus();
  }
}

/** Says which branch, or what of a forced beginning, stands in place of the translation, with a way back. */
class BranchNote {
  /** @param {Store} store */
  constructor(store) {
    this.text = h("span", {});
    this.back = h("button", { class: "plain", click: () => store.set({ branch: 0, force: null }) });
    this.element = h("p", { class: "branch-note", role: "status", hidden: true }, this.text, " ", this.back);
  }

  /**
   * @param {Search | null} search
   * @param {{ shown: number, force: string | null }} now
   * @param {Pick<State, "branch" | "force">} state
   * @param {ExplorerTexts} texts
   */
  update(search, now, { branch, force }, texts) {
    const waits = branch !== now.shown || force !== now.force;
    this.element.hidden = !search || (!now.shown && !now.force && !waits);
    this.back.textContent = texts.beam_back;
    this.back.hidden = branch === 0 && force === null;
    const line = !search || this.element.hidden ? "" : waits ? texts.beam_waiting : this.line(search, now, texts);
    if (this.text.textContent !== line) this.text.textContent = line;
  }

  /**
   * @param {Search} search
   * @param {{ shown: number, force: string | null }} now
   * @param {ExplorerTexts} texts
   */
  line(search, { shown: branch, force }, texts) {
    if (!branch && force) return fillText(texts.forced, { begin: joinTokens(force.split(" ")) });
    return fillText(texts[`beam_fate_${search.fate(branch)}`], {
      number: branch + 1,
      count: search.hypotheses,
      step: search.step[search.leaves[branch]],
    });
  }
}
