// The flow beside map and lines: which word, compared with what, folded or unfolded; what it says, and what is behind a way.

import { AXES, headAddress } from "../../../common/heads/heads.js";
import { h, setAttribute } from "../../../common/page/dom.js";
import { clamp } from "../../../common/page/keyboard.js";
import { percent, signed } from "../../../common/text/format.js";
import { tokenText } from "../../../common/text/tokens.js";
import { choicesAt } from "../beam/candidates.js";
import { findings } from "../cards/findings.js";
import { FlowCanvas } from "./flowcanvas.js";
import { chosenToken, edgeAt } from "./flowparts.js";
import { flowTable, waysTable } from "./flowtable.js";
import { flowCaption, hitText, legend } from "./flowwords.js";

/** @typedef {import("./flowcanvas.js").Hit} Hit */

export class Flow {
  /** @type {ExplorerTexts} */
  texts;
  /** @type {Translation} */
  translation;
  /** @type {FlowData | null} Of the translation that is shown. */
  data = null;
  /** @type {(FlowWord | null)[]} With the contrast in its place. */
  words = [];
  /** @type {number | null} */
  chosen = null;
  detailed = ""; // what the detail shows
  /** @type {FlowWord | null} */
  detailedWord = null;
  /** @type {FlowData | null} Of the words. */
  from = null;
  compared = false; // whether the chosen word is compared with another token

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.canvas = new FlowCanvas({
      point: () => store.mark("cursor"),
      pick: (hit) => this.pick(hit),
      key: (key, step) => this.key(key, step),
    });
    this.unfold = h("button", { class: "tool plain flow-unfold", click: () => this.turn() });
    this.grow = h("button", { class: "tool plain flow-grow", click: () => this.canvas.grow() });
    this.share = h("input", {
      type: "range",
      min: 10,
      max: 99,
      class: "menu-range",
      input: () => store.set({ share: Number(this.share.value) }),
      keydown: (event) => event.key !== "Escape" && event.stopPropagation(),
    });
    this.shareText = h("output", {});
    this.shareName = h("span", {});
    this.slider = h("label", { class: "flow-share" }, this.shareName, this.share, this.shareText);
    this.versus = h("select", {
      class: "plain flow-versus",
      change: () => store.set({ versus: this.versus.value || null }),
      keydown: (event) => event.key !== "Escape" && event.stopPropagation(),
    });
    this.versusName = h("span", {});
    this.against = h("label", { class: "flow-against" }, this.versusName, this.versus);
    this.tools = h("div", { class: "flow-tools" }, this.unfold, this.grow, this.against, this.slider);
    this.detail = h("div", { class: "flow-detail" });
    this.legend = h("p", { class: "flow-legend note" });
    this.is = h("p", { class: "note" });
    this.isNot = h("p", { class: "note" });
    this.about = h("div", { class: "flow-about" }, this.detail, this.legend, this.is, this.isNot);
  }

  /** @param {ExplorerTexts} texts */
  label(texts) {
    this.texts = texts;
    this.grow.textContent = texts.flow_grow;
    this.shareName.textContent = texts.flow_share;
    this.versusName.textContent = texts.flow_versus;
    this.is.textContent = texts.flow_is;
    this.isNot.textContent = texts.flow_is_not;
  }

  /**
   * Whether the flow is there, or will be: a page without Python says so in its answers.
   * @param {Translation} translation
   */
  offered({ key, about, available, length }) {
    const { flow } = findings(key);
    const waits = flow === undefined && (!about?.answers || about.answers.flow !== undefined);
    return (Boolean(flow) || waits) && available.length === 3 && length > 0;
  }

  /**
   * Takes over what is to be seen.
   * @param {Translation} translation
   * @param {State} state
   * @param {Theme} theme
   */
  update(translation, state, theme) {
    const { texts } = this;
    this.translation = translation;
    this.learn(translation, state);
    const { chosen, words } = this;
    const word = chosen === null ? null : words[chosen];
    const written = state.step ?? translation.length;
    const outputs = translation.axis("outputs", "tokens");
    const tokens = {
      source: translation.axis("source", "tokens"),
      outputs,
      first: translation.axis("inputs", "tokens")[0],
      biases: texts.flow_biases,
    };
    const names = { encoder: texts.flow_encoder, decoder: texts.flow_decoder, biases: texts.flow_biases };
    const unfold = state.unfold && Boolean(word?.ways);
    const { axes } = translation;
    const view = {
      about: String([axes.source.tokens, axes.outputs.tokens, texts.language]),
      tokens,
      words,
      all: this.data?.words ?? [],
      written,
      chosen,
      unfold,
      share: state.share / 100,
      plays: state.playing,
      names,
    };
    this.canvas.see(view, theme, `${texts.flow_title}. ${texts.flow_keys}`);
    this.control(state, unfold);
    this.legend.replaceChildren(...legend(unfold, texts));
  }

  /**
   * The flow of this translation, and of the contrast that was asked for.
   * @param {Translation} translation
   * @param {State} state
   */
  learn(translation, state) {
    const found = findings(translation.key);
    const { about, axes } = translation;
    const fits = (/** @type {FlowData | null | undefined} */ data) =>
      data &&
      String(data.tokens) === String(axes.outputs.tokens) &&
      (!about || (data.model === about.model && data.source === (about.source ?? about.text)));
    this.data = fits(found.flow) ? /** @type {FlowData} */ (found.flow) : null;
    this.chosen = chosenToken(state, translation);
    const { chosen } = this;
    const contrast = fits(found.contrast) ? found.contrast : null;
    const there = contrast && state.versus && contrast.at === chosen && contrast.against === state.versus;
    this.compared = Boolean(there);
    const base = this.data?.words ?? [];
    const from = there ? contrast : this.data;
    if (from === this.from) return;
    this.from = from;
    this.words = there ? base.map((word, i) => (i === chosen ? contrast.words[i] : word)) : base;
  }

  /**
   * @param {State} state
   * @param {boolean} unfold
   */
  control(state, unfold) {
    const { texts, translation, chosen } = this;
    const none = chosen === null || !this.words[chosen]; // no word is there to unfold
    this.unfold.textContent = unfold ? texts.flow_fold : texts.flow_unfold;
    setAttribute(this.unfold, "aria-pressed", String(unfold));
    this.unfold.disabled = none;
    this.grow.hidden = this.slider.hidden = !unfold;
    this.share.value = String(state.share);
    this.share.style.setProperty("--share", String((state.share - 10) / 89));
    this.shareText.textContent = percent(state.share / 100);
    const { answers } = translation.about ?? {};
    this.against.hidden = none || !translation.steps.length || Boolean(answers && !answers.flow);
    if (chosen === null || this.against.hidden) return;
    const { others } = choicesAt(translation, chosen);
    const tokens = others.map(({ token }) => token);
    if (state.versus && !tokens.includes(state.versus)) tokens.push(state.versus);
    const options = [["", texts.flow_mean], ...tokens.map((token) => [token, tokenText(token)])];
    this.versus.replaceChildren(...options.map(([value, text]) => h("option", { value }, text)));
    this.versus.value = state.versus ?? "";
  }

  /** The sentence above the picture. */
  caption() {
    const { texts, data, words, store } = this;
    const { hit, view, unfolded } = this.canvas;
    const pointed = hit && "output" in hit ? hit.output : this.chosen;
    if (!data) return [texts.flow_waiting];
    if (hit && "source" in hit && !unfolded) return hitText(hit, this, texts);
    if (pointed === null) return [texts.flow_all];
    const word = words[pointed]; // of a long translation some may not be there
    const { unfold, versus } = pointed === this.chosen ? store.state : {};
    if (!word || (unfold && !unfolded) || (versus && !this.compared)) return [texts.flow_waiting];
    const against = (this.compared && versus) || null;
    return [flowCaption(word, pointed, { view, unfolded, against }, texts)];
  }

  /** What is behind the way or the state under the pointer, else of the one that was pressed. */
  show() {
    const { texts, canvas, chosen, words } = this;
    const { hit, picked, unfolded } = canvas;
    const word = chosen === null ? null : words[chosen];
    const about = hit && !("output" in hit) ? hit : picked;
    const key = JSON.stringify([about, chosen, texts.language, Boolean(unfolded)]);
    if (key === this.detailed && word === this.detailedWord) return;
    this.detailed = key; // a button in it keeps the focus
    this.detailedWord = word;
    this.detail.hidden = !unfolded;
    const parts = !word || !unfolded ? [] : about ? hitText(about, this, texts) : [texts.flow_press];
    const heads = word && about && "edge" in about ? this.headButtons(edgeAt(word, about.edge)) : [];
    this.detail.replaceChildren(...parts, " ", ...heads);
  }

  /** @param {import("./flowparts.js").Edge} edge */
  headButtons(edge) {
    const { kind, layer } = edge;
    return edge.heads.map(([head, flow]) => {
      const name = headAddress({ kind, layer, head });
      return h("button", { class: "flow-head", click: () => this.open(edge, head) }, `${name}\u2002${signed(flow, 1)}`);
    });
  }

  /**
   * The map of a head, with the pair that the way joins.
   * @param {import("./flowparts.js").Edge} edge
   * @param {number} head
   */
  open({ kind, layer, query, key }, head) {
    const { unit } = this.store.state;
    const { axes } = this.translation;
    const place = (/** @type {"queries" | "keys"} */ side, /** @type {number} */ index) =>
      unit === "words" ? axes[AXES[kind][side]].words[index] : index;
    const cell = { query: place("queries", query), key: place("keys", key) };
    this.store.set({ kind, layer, head, form: "map", pin: `q${cell.query}` });
    this.store.flush(); // another kind takes the cursor away
    this.store.set({ cursor: { ...cell, spoken: true } });
  }

  /** @param {Hit} hit */
  pick(hit) {
    if ("output" in hit) {
      if (hit.output === this.chosen && !this.store.state.unfold) return this.turn();
      return this.choose(hit.output);
    }
    if ("source" in hit) return;
    this.canvas.picked = JSON.stringify(this.canvas.picked) === JSON.stringify(hit) ? null : hit;
    this.canvas.compose("morph");
    this.store.mark("flow");
  }

  /** @param {number} output */
  choose(output) {
    const { kind, unit, step } = this.store.state;
    const written = step ?? this.translation.length;
    const index = clamp(output, 0, written - 1);
    const row = unit === "words" ? this.translation.axes.outputs.words[index] : index;
    this.store.set({ kind: kind === "encoder" ? "cross" : kind, pin: `q${row}`, versus: null, playing: false });
  }

  turn() {
    if (chosenToken(this.store.state, this.translation) !== null) this.store.set({ unfold: !this.store.state.unfold });
  }

  /** Folds the picture; whether it was unfolded. */
  fold() {
    const { unfold, form } = this.store.state;
    if (!unfold || form !== "flow") return false;
    this.store.set({ unfold: false });
    return true;
  }

  /**
   * @param {string} key
   * @param {number} step
   */
  key(key, step) {
    const chosen = chosenToken(this.store.state, this.translation); // a picture may be on its way
    if (step) this.choose(chosen === null ? 0 : this.next(chosen, step));
    else if (key === "Enter" || key === " ") chosen === null ? this.choose(0) : this.turn();
    else return key === "Escape" && this.fold();
    return true;
  }

  /**
   * The token beside one; over words the first of the word beside.
   * @param {number} from
   * @param {number} step
   */
  next(from, step) {
    const { words } = this.translation.axes.outputs;
    let next = from + step;
    if (this.store.state.unit === "words") while (next in words && words[next] === words[from]) next += step;
    return next;
  }

  /** Rows of a file: the parts of every token. */
  rows() {
    const { tokens } = this.canvas.view;
    const names = (/** @type {Position[]} */ line) => line.map(({ text }) => text);
    const inputs = [tokens.first, ...tokens.outputs.slice(0, -1)];
    const { texts } = this;
    return [
      ["", texts.flow_logit, ...names(tokens.source), ...names(inputs), texts.flow_biases],
      ...this.words.flatMap((word, row) =>
        word ? [[tokens.outputs[row].text, word.logit, ...word.source, ...word.inputs, word.biases]] : [],
      ),
    ];
  }

  table() {
    const { texts, canvas, words, chosen, data } = this;
    const word = chosen === null ? null : words[chosen];
    if (canvas.view.unfold && word)
      return waysTable(
        word,
        canvas.view.share,
        { tokens: canvas.view.tokens, heads: (edge) => this.headButtons(edge) },
        texts,
      );
    return flowTable(data ? words : [], canvas.view.tokens, texts);
  }
}
