// The open card of a head: what the model's atlas has measured of it, with intervals and baselines.

import { axisAround, intervalPlot, shareAxis } from "../../../common/draw/interval.js";
import { headPlace } from "../../../common/heads/heads.js";
import { h, setAttribute, svg } from "../../../common/page/dom.js";
import { eventId } from "../../../common/page/events.js";
import { fillText, formatCount, headName, percent, signed } from "../../../common/text/format.js";
import { tokenText } from "../../../common/text/tokens.js";
import { findings } from "./findings.js";

const BARS = { width: 208, height: 54, foot: 14 }; // of the offsets, in CSS pixels

/** @typedef {NonNullable<Findings["card"]>} CardData */

export class AtlasCard {
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
  moved = false; // whether the focus goes to the card of another head

  /**
   * @param {Store} store
   * @param {HTMLElement} opener What has the focus when the card is closed.
   */
  constructor(store, opener) {
    this.store = store;
    this.opener = opener;
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
    this.select();
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
   * @param {boolean} possible Whether the model has an atlas, and one head is shown.
   */
  update({ card, kind, layer, head }, possible) {
    const before = this.element.hidden;
    this.element.hidden = !card || !possible;
    if (this.element.hidden) {
      this.drawn = null;
      return;
    }
    const found = findings(this.translation.key).card;
    const here =
      found && found.model === this.translation.about?.model && found.head === headPlace({ kind, layer, head });
    if (!here) {
      this.drawn = null;
      this.title.textContent = this.name(kind, layer, head);
      this.body.replaceChildren(h("p", { class: "note", role: "status" }, this.texts.card_waiting));
    } else if (found !== this.drawn) {
      this.drawn = found;
      this.title.replaceChildren(`${this.name(kind, layer, head)}: ${found.words}`);
      this.numbers.replaceChildren(...this.parts(found));
      const plain = h("p", { class: "atlas-plain" }, this.plain(found));
      this.body.replaceChildren(plain, this.evidence, ...this.examples(found));
      if (this.moved) {
        this.title.focus({ preventScroll: true });
        this.title.scrollIntoView({ block: "nearest" });
      }
      this.moved = false;
    }
    if (before) this.element.scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {Kind} kind
   * @param {number} layer
   * @param {number} head
   */
  name(kind, layer, head) {
    return fillText(this.texts.title, { kind: this.texts[`kind_${kind}`], head: headName(layer, head) });
  }

  /**
   * What the head does, and what is lost without it, in plain words.
   * @param {CardData} found
   */
  plain({ plain, clear, decode, effect }) {
    const { texts } = this;
    const role = clear ? fillText(texts.card_role, { role: plain }) : texts.card_no_role;
    const { value, significant } = decode ? { ...decode, value: decode.whole - decode.bleu } : { value: 0, ...effect };
    const change = !significant ? "same" : (value ?? 0) > 0 ? "worse" : "better";
    const measure = decode ? "bleu" : "loss";
    const values = { whole: decode?.whole.toFixed(1) ?? "", bleu: decode?.bleu.toFixed(1) ?? "", value: fixed(value) };
    const lost = decode || effect ? fillText(texts[`card_${measure}_${change}`], values) : "";
    return `${role[0].toUpperCase()}${role.slice(1)} ${lost}`;
  }

  /** @param {CardData} found */
  parts(found) {
    const { texts } = this;
    const { looks, effect, decode, siblings } = found;
    const parts = [this.part(texts.card_rules, "evidence", this.rules(found))];
    if (looks) parts.push(this.part(texts.card_looks, "looks", this.looks(looks)));
    if (effect || decode) {
      const lines = [...(effect ? this.effect(effect) : []), ...(decode ? [this.decode(decode)] : [])];
      parts.push(this.part(texts.card_effect, "effect", lines));
    }
    if (siblings?.heads.length) parts.push(this.part(texts.card_siblings, "siblings", this.siblings(siblings)));
    const { weights, data, seeds, versions } = found.source;
    const values = { weights, data: data.join(", "), seed: seeds.join(", "), version: versions.join(", ") };
    return [...parts, h("p", { class: "note atlas-source" }, fillText(texts.card_source, values))];
  }

  /**
   * @param {string} title
   * @param {string} name Of the class.
   * @param {Node[]} lines
   */
  part(title, name, lines) {
    return h("div", { class: `atlas-part atlas-${name}` }, h("h4", {}, title), ...lines);
  }

  /** @param {CardData} found */
  rules({ clear, penalty, evidence }) {
    const { texts } = this;
    const rows = evidence.map((each) => {
      const said = fillText(texts[each.part === "align" ? "card_aligned" : "card_share"], {
        ...shares(each),
        baseline: share(each.baseline),
        places: formatCount(each.places),
      });
      const plot = intervalPlot(each, { value: each.baseline, low: null, high: null }, shareAxis, said);
      const data = each.data ? h("span", { class: "note" }, each.data) : null;
      return h("li", {}, h("b", {}, each.words), plot, h("span", {}, said), data);
    });
    const list = h("ul", { class: "atlas-list" }, ...rows);
    const note = penalty ? [h("p", { class: "note" }, penalty)] : [];
    return [...(clear ? [] : [h("p", {}, texts.card_unclear)]), list, ...note];
  }

  /** @param {NonNullable<CardData["looks"]>} looks */
  looks({ offsets, shares: bars, entropy, distance, data }) {
    const { texts } = this;
    const said = offsets.map((offset, index) => `${signed(offset, 0)}: ${share(bars[index])}`).join(", ");
    const numbers = [this.beside("card_entropy", entropy), this.beside("card_distance", distance)];
    return [
      histogram(offsets, bars, `${texts.card_offsets}. ${said}`),
      h("p", { class: "note" }, texts.card_offsets),
      ...numbers,
      h("p", { class: "note" }, `n = ${formatCount(entropy.places)}${data ? `, ${data}` : ""}`),
    ];
  }

  /**
   * A number with its interval, beside that of equal weights.
   * @param {string} label
   * @param {import("../../../common/draw/interval.js").Interval & { baseline: number | null }} number
   */
  beside(label, number) {
    const { value, low, high, baseline } = number;
    const said = fillText(this.texts[label], {
      value: fixed(value),
      low: fixed(low),
      high: fixed(high),
      baseline: fixed(baseline),
    });
    const axis = axisAround([value, low, high, baseline]);
    return h(
      "p",
      { class: "atlas-line" },
      intervalPlot(number, { value: baseline, low: null, high: null }, axis, said),
      said,
    );
  }

  /** @param {NonNullable<CardData["effect"]>} effect */
  effect({ value, low, high, baseline, controls, significant, tokens, data }) {
    const { texts } = this;
    const numbers = { value: fixed(value, 4), low: fixed(low, 4), high: fixed(high, 4) };
    const said = [
      fillText(texts.card_loss, numbers),
      controls.length ? texts.card_against_0 : "",
      significant ? texts.card_significant : texts.card_not_significant,
      baseline && !controls.length ? fillText(texts.card_random, { value: fixed(baseline.value, 4) }) : "",
    ].join(" ");
    const axis = axisAround([value, low, high, baseline?.value, baseline?.low, baseline?.high]);
    return [
      h("p", { class: "atlas-line" }, intervalPlot({ value, low, high }, baseline ?? null, axis, said), said),
      ...controls.map((each) => h("p", {}, this.compared(each))),
      h("p", { class: "note" }, `n = ${formatCount(tokens)}${data ? `, ${data}` : ""}`),
    ];
  }

  /** @param {ComparedEffect} difference */
  compared({ name, control, value, low, high, significant }) {
    const { texts } = this;
    const numbers = { control: fixed(control, 4), value: fixed(value, 4), low: fixed(low, 4), high: fixed(high, 4) };
    const verdict = !significant ? "not_survives" : (value ?? 0) > 0 ? "survives" : "control_costs_more";
    return `${fillText(texts[name === "resample" ? "card_resample" : "card_control"], numbers)} ${texts[`card_${verdict}`]}`;
  }

  /** @param {NonNullable<CardData["decode"]>} decode */
  decode({ bleu, half, whole, change, significant, sentences }) {
    const { texts } = this;
    const values = {
      bleu: bleu.toFixed(1),
      half: half.toFixed(1),
      whole: whole.toFixed(1),
      count: formatCount(sentences),
      change: signed(bleu - whole, 1),
      low: change ? signed(change[0], 1) : "",
      high: change ? signed(change[1], 1) : "",
    };
    const said = `${fillText(change ? texts.card_bleu_change : texts.card_bleu, values)} ${significant ? texts.card_significant : texts.card_not_significant}`;
    return h("p", {}, said);
  }

  /** @param {NonNullable<CardData["siblings"]>} siblings */
  siblings({ heads, typical, uniform, data }) {
    const { texts } = this;
    const rows = heads.map(({ model, layer, head, distance, low, high, words }) => {
      const numbers = { distance: fixed(distance), low: fixed(low), high: fixed(high) };
      const click = () => this.goTo(layer, head);
      return h(
        "li",
        {},
        model
          ? h("span", {}, `${model} ${headName(layer, head)}`)
          : h("button", { class: "atlas-press atlas-sibling", click }, headName(layer, head)),
        h("span", {}, words),
        h("span", { class: "note" }, fillText(texts.card_distance_of, numbers)),
      );
    });
    const note = fillText(texts.card_typical, { typical: fixed(typical), uniform: fixed(uniform) });
    return [h("ul", { class: "atlas-list" }, ...rows), h("p", { class: "note" }, `${note}${data ? ` ${data}` : ""}`)];
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

  /** @param {CardData} found */
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
    return rows.length ? [this.part(title, "examples", [h("ol", { class: "atlas-list" }, ...rows)])] : [];
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

/**
 * Value and ends as percentages.
 * @param {import("../../../common/draw/interval.js").Interval} interval
 */
function shares({ value, low, high }) {
  return { value: share(value), low: share(low), high: share(high) };
}

/** @param {number | null} value */
function share(value) {
  return value === null ? "\u2013" : percent(value);
}

/**
 * @param {number | null} value
 * @param {number} [digits]
 */
function fixed(value, digits = 2) {
  return value === null ? "\u2013" : signed(value, digits);
}

/**
 * How often the strongest key is at each offset.
 * @param {number[]} offsets
 * @param {(number | null)[]} shares
 * @param {string} label
 */
function histogram(offsets, shares, label) {
  const { width, height, foot } = BARS;
  const most = Math.max(0.01, ...shares.map((each) => each ?? 0));
  const step = width / offsets.length;
  const parts = offsets.flatMap((offset, index) => {
    const tall = ((height - foot) * (shares[index] ?? 0)) / most;
    const bar = { x: index * step + 1.5, y: height - foot - tall, width: step - 3, height: tall };
    const name = svg("text", { x: (index + 0.5) * step, y: height - 2, class: "atlas-offset" }, signed(offset, 0));
    return [svg("rect", { class: "atlas-bar", ...bar }), name];
  });
  return svg(
    "svg",
    { class: "atlas-offsets", role: "img", "aria-label": label, viewBox: `0 0 ${width} ${height}`, width, height },
    ...parts,
  );
}
