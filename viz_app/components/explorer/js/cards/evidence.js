// What the atlas of a model has measured of a head, with intervals and baselines: the evidence in its card.

import { axisAround, intervalPlot, shareAxis } from "../../../common/draw/interval.js";
import { headAddress, parseHead } from "../../../common/heads/heads.js";
import { h, svg } from "../../../common/page/dom.js";
import { fillText, formatCount, percent, signed } from "../../../common/text/format.js";

const BARS = { width: 208, height: 54, foot: 14 }; // of the offsets, in CSS pixels

/** @typedef {NonNullable<Findings["card"]>} CardData */

export class Evidence {
  /**
   * @param {ExplorerTexts} texts
   * @param {(layer: number, head: number) => void} open A head of the same kind.
   */
  constructor(texts, open) {
    this.texts = texts;
    this.open = open;
  }

  /** @param {CardData} cardData */
  parts(cardData) {
    const { texts } = this;
    const { looks, effect, decode, flow, circuits, siblings } = cardData;
    const parts = [part(texts.card_rules, "evidence", this.rules(cardData))];
    if (looks) parts.push(part(texts.card_looks, "looks", this.looks(looks)));
    if (effect || decode) {
      const lines = [...(effect ? this.effect(effect) : []), ...(decode ? [this.decode(decode)] : [])];
      parts.push(part(texts.card_effect, "effect", lines));
    }
    if (flow) parts.push(part(texts.card_flow, "flow", this.flow(flow)));
    if (circuits) parts.push(part(texts.card_circuits, "circuits", this.circuits(circuits)));
    if (siblings?.heads.length)
      parts.push(part(texts.card_siblings, "siblings", this.siblings(siblings, parseHead(cardData.head).kind)));
    const { weights, data, seeds, versions } = cardData.source;
    const values = { weights, data: data.join(", "), seed: seeds.join(", "), version: versions.join(", ") };
    return [...parts, h("p", { class: "note atlas-source" }, fillText(texts.card_source, values))];
  }

  /** @param {CardData} cardData */
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

  /** @param {NonNullable<CardData["flow"]>} flow */
  flow({ value, low, high, baseline, sentences, data }) {
    const numbers = Object.entries({ value, low, high, even: baseline });
    const values = Object.fromEntries(numbers.map(([name, each]) => [name, (100 * (each ?? 0)).toFixed(1)]));
    const said = fillText(this.texts.card_flow_share, values);
    const axis = axisAround([value, low, high, baseline]);
    const plot = intervalPlot({ value, low, high }, { value: baseline, low: null, high: null }, axis, said);
    const count = `n = ${formatCount(sentences)}${data ? `, ${data}` : ""}`;
    return [h("p", { class: "atlas-line" }, plot, said), h("p", { class: "note" }, count)];
  }

  /** @param {NonNullable<CardData["circuits"]>} circuits */
  circuits(circuits) {
    const { texts } = this;
    const rows = circuits.map((each) => {
      const { words, value, low, high, null: limit, whole, pairs, edges, all } = each;
      const interval = low === null ? "" : ` [${fixed(low)}, ${fixed(high)}]`; // none of few groups
      const numbers = { value: fixed(value), interval, null: fixed(limit), pairs };
      const counts = { whole: fixed(whole), edges: formatCount(edges), all: formatCount(all) };
      const said = fillText(texts.card_circuit, { ...numbers, ...counts });
      const same = Math.sign(value ?? 0) * limit;
      const plot = intervalPlot(
        each,
        { value: same, low: null, high: null },
        axisAround([value, low, high, same]),
        said,
      );
      return h("li", {}, h("b", {}, words), plot, h("span", {}, said));
    });
    return [h("ul", { class: "atlas-list" }, ...rows), h("p", { class: "note" }, texts.card_circuits_about)];
  }

  /**
   * @param {NonNullable<CardData["siblings"]>} siblings
   * @param {Kind} kind
   */
  siblings({ heads, typical, uniform, data }, kind) {
    const { texts } = this;
    const rows = heads.map(({ model, layer, head, distance, low, high, words }) => {
      const numbers = { distance: fixed(distance), low: fixed(low), high: fixed(high) };
      const click = () => this.open(layer, head);
      const name = headAddress({ kind, layer, head });
      return h(
        "li",
        {},
        model ? h("span", {}, `${model} ${name}`) : h("button", { class: "atlas-press atlas-sibling", click }, name),
        h("span", {}, words),
        h("span", { class: "note" }, fillText(texts.card_distance_of, numbers)),
      );
    });
    const note = fillText(texts.card_typical, { typical: fixed(typical), uniform: fixed(uniform) });
    return [h("ul", { class: "atlas-list" }, ...rows), h("p", { class: "note" }, `${note}${data ? ` ${data}` : ""}`)];
  }
}

/**
 * A part of the card.
 * @param {string} title
 * @param {string} name Of the class.
 * @param {Node[]} lines
 */
export function part(title, name, lines) {
  return h("div", { class: `atlas-part atlas-${name}` }, h("h4", {}, title), ...lines);
}

/**
 * Value and ends as percentages.
 * @param {import("../../../common/draw/interval.js").Interval} interval
 */
function shares({ value, low, high }) {
  return { value: share(value), low: share(low), high: share(high) };
}

/** @param {number | null} value */
export function share(value) {
  return value === null ? "\u2013" : percent(value);
}

/**
 * @param {number | null} value
 * @param {number} [digits]
 */
export function fixed(value, digits = 2) {
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
