// The picture of the home: a sentence, its translation, the light between them, and the wall of all heads.

import { Theme } from "../../../components/common/draw/theme.js";
import { KINDS } from "../../../components/common/heads/heads.js";
import { fill, h, tokenElement } from "../../../components/common/page/dom.js";
import { percent } from "../../../components/common/text/format.js";
import { added, partsOf } from "../../../components/explorer/js/flow/flowparts.js";
import { Light } from "./light.js";
import { newRow, Wall } from "./wall.js";

const WIDE = 1000; // pixels
const [LISTED, LEAST] = [3, 0.05]; // parts of a word that are named, and the smallest share of these

/**
 * @typedef {import("../../../components/explorer/js/data/data.js").Translation} Translation
 * @typedef {object} Frame
 * @property {Translation} translation
 * @property {(FlowWord | null)[]} words What each is made of, as far as that is known.
 * @property {number} step How many tokens are there.
 * @property {number | null} chosen The token that is lit; null for all.
 * @property {number} typed Characters of the sentence that are there.
 * @property {boolean} plays
 * @typedef {Record<"made" | "hint" | "light" | "kind_encoder" | "kind_decoder" | "kind_cross", string>} StageTexts
 */

export class Stage {
  /** @type {Frame} */
  frame;
  /** @type {Theme} */
  theme;
  painted = ""; // on the wall
  /** @type {Translation | null} */
  of = null;

  /**
   * @param {HTMLElement} root
   * @param {StageTexts} texts
   * @param {(head?: string) => string} address Of the page that opens the translation.
   */
  constructor(root, texts, address) {
    this.root = root;
    this.texts = texts;
    this.light = new Light({
      point: () => this.tell(),
      pick: (hit) => "output" in hit && this.choose(hit.output),
      key: (key, step) => this.key(key, step),
    });
    this.caption = h("p", { class: "stage-caption" });
    this.walls = KINDS.map((kind) => new Wall(kind, texts[`kind_${kind}`], address));
    const walls = this.walls.map(({ element }) => element);
    root.append(h("div", { class: "beams" }, this.light.element), this.caption, h("div", { class: "wall" }, ...walls));
    new ResizeObserver(() => this.draw()).observe(root);
    document.fonts.ready.then(() => {
      this.light.stale = true;
      this.draw();
    });
  }

  /** @param {Partial<Frame>} frame What changes. */
  show(frame) {
    this.frame = { ...this.frame, ...frame };
    this.draw();
  }

  /** Shows all there is. */
  rest() {
    this.show({ step: this.frame.translation.length, chosen: null, typed: Infinity, plays: false });
  }

  draw() {
    if (!this.frame) return;
    const { translation, words, step, chosen, typed, plays } = this.frame;
    this.theme ??= new Theme(this.root, translation.colours);
    const { light, theme, texts } = this;
    const known = translation.written ?? translation.length;
    const tokens = {
      source: translation.axis("source", "tokens"),
      outputs: translation.axis("outputs", "tokens").slice(0, known),
      first: translation.axis("inputs", "tokens")[0],
      biases: "",
    };
    const about = JSON.stringify([tokens, typed]);
    const names = { encoder: "", decoder: "", biases: "" };
    light.typed = typed;
    light.see(
      {
        about,
        tokens,
        words,
        all: step ? words : [],
        written: step,
        chosen,
        unfold: false,
        share: 1,
        plays,
        names,
        bare: true,
      },
      theme,
      texts.light,
    );
    const beams = /** @type {HTMLElement} */ (light.element.parentElement);
    const { clientWidth, clientHeight } = beams;
    beams.classList.toggle("presenting", clientWidth >= WIDE); // larger letters
    light.layout(clientWidth, clientHeight);
    light.draw();
    this.paint();
    this.tell();
  }

  paint() {
    const { translation, step, typed, plays } = this.frame;
    const key = [translation.id, translation.written, step, typed < Infinity, this.root.clientWidth].join();
    if (key === this.painted && this.of === translation) return;
    Object.assign(this, { painted: key, of: translation });
    const state = /** @type {any} */ (translation.defaults);
    for (const wall of this.walls) {
      const view = translation.view(wall.kind, "tokens", step);
      wall.paint(view, state, this.theme, plays ? newRow(wall.kind, step) : null, typed < Infinity);
    }
  }

  /** Says what the word is made of that is pointed at, else of the one that is lit. */
  tell() {
    const { words, chosen, typed, plays } = this.frame;
    const { hit, folded } = this.light;
    const at = hit && "output" in hit ? hit.output : chosen;
    const word = at === null ? null : words[at];
    if (at === null || !word) {
      this.caption.textContent = words[0] && typed === Infinity && !plays ? this.texts.hint : "";
      return;
    }
    const { source, outputs, first } = folded.tokens;
    const inputs = [first, ...outputs];
    const parts = partsOf(word, at).filter(({ value, name }) => value > 0 && name !== "b");
    const whole = added(parts);
    const largest = parts.sort((a, b) => b.value - a.value).filter(({ value }) => value >= LEAST * whole);
    const listed = h("span", {});
    largest.slice(0, LISTED).forEach(({ name, value }, index) => {
      const position = (name[0] === "s" ? source : inputs)[Number(name.slice(1))];
      const part = tokenElement(position.text, "b", { class: name[0] === "s" ? "of-source" : "of-outputs" });
      listed.append(index ? ", " : "", part, ` ${percent(value / whole)}`);
    });
    const { text } = outputs[at];
    this.caption.replaceChildren(fill(this.texts.made, { word: tokenElement(text, "em"), parts: listed }));
  }

  /** @param {number | null} chosen */
  choose(chosen) {
    this.show({ chosen, plays: false });
  }

  /**
   * @param {string} key
   * @param {number} step
   */
  key(key, step) {
    const { chosen, step: written } = this.frame;
    if (step) this.choose(Math.min(written - 1, Math.max(0, (chosen ?? -1) + step)));
    else if (key === "Escape") this.choose(null);
    return step !== 0 || key === "Escape";
  }
}
