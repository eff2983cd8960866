// The head under the pointer or the focus: name in words, value, interval, baseline, and its map on the sentence.

import { resize } from "../../common/draw/canvas.js";
import { h, setAttribute } from "../../common/page/dom.js";
import { fillText, percent } from "../../common/text/format.js";
import { Look, PLAIN, paintHead } from "../../explorer/js/draw/paint.js";

const SIZE = 168; // CSS pixels of a map

export class Card {
  /** @param {AtlasActions} actions */
  constructor(actions) {
    this.actions = actions;
    this.title = h("h4");
    this.facts = h("div", { class: "facts" });
    this.open = h("button", { class: "plain", click: () => this.head && this.actions.open(this.head) });
    this.choose = h("button", { class: "plain", click: () => this.head && this.actions.choose(this.head) });
    this.canvas = h("canvas", { role: "img" });
    this.note = h("p", { class: "note" });
    const buttons = h("div", { class: "buttons" }, this.open, this.choose);
    const words = h("div", { class: "words" }, this.title, this.facts, buttons);
    this.element = h("div", { class: "card" }, words, h("figure", {}, this.canvas, this.note));
  }

  /**
   * @param {AtlasData} data
   * @param {AtlasState} state
   * @param {Head} head
   * @param {Theme} theme
   */
  update(data, state, head, theme) {
    this.head = head;
    const { texts } = data;
    const measure = data.measure(state.by);
    setAttribute(this.element, "data-kind", head.kind);
    this.title.textContent = `${texts[`kind_${head.kind}`]}, ${fillText(texts.head, { head: head.name })}`;
    this.facts.replaceChildren(
      ...facts(data, measure, head).map((text, at) => h("p", { class: at ? "" : "role" }, text)),
    );
    this.open.textContent = texts.open;
    const chosen = state.chosen.includes(head.place);
    this.choose.textContent = chosen ? texts.unselect : texts.select;
    setAttribute(this.choose, "aria-pressed", String(chosen));
    showMap(this.canvas, this.note, data, head, theme, SIZE);
  }
}

/**
 * Role, value, interval, baseline.
 * @param {AtlasData} data
 * @param {AtlasMeasure} measure
 * @param {Head} head
 */
export function facts(data, measure, head) {
  const { texts } = data;
  const roles = data
    .roles(head)
    .map(({ words, value, baseline }) =>
      fillText(texts.role_share, { role: words, share: percent(value), baseline: percent(baseline) }),
    );
  const lines = [roles.length ? roles.join("; ") : texts.no_role];
  const numbers = data.numbers(measure, head);
  if (!numbers) return [...lines, `${measure.label}: ${texts.cell_none}`];
  const unit = measure.unit === "share" ? "" : ` ${texts[`unit_${measure.unit}`]}`;
  lines.push(fillText(texts.card_value, { measure: measure.label, value: data.format(measure, numbers.value) + unit }));
  const parts = [];
  const show = (/** @type {number | null} */ value) => data.format(measure, value);
  if (numbers.low !== null) parts.push(fillText(texts.interval, { low: show(numbers.low), high: show(numbers.high) }));
  if (numbers.baseline !== null) parts.push(fillText(texts.baseline, { value: show(numbers.baseline) }));
  if (numbers.q !== null)
    parts.push(fillText(texts.q_value, { value: numbers.q < 0.001 ? "< 0.001" : `= ${numbers.q.toFixed(3)}` }));
  if (parts.length) lines.push(parts.join(" · "));
  if (numbers.detail)
    lines.push(
      measure.name === "nearest"
        ? fillText(texts.nearest_is, { head: numbers.detail })
        : fillText(texts.best_rule, { rule: numbers.detail }),
    );
  return lines;
}

/**
 * The map, or why there is none.
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLElement} note
 * @param {AtlasData} data
 * @param {Head} head
 * @param {Theme} theme
 * @param {number} size
 */
export function showMap(canvas, note, data, head, theme, size) {
  const { texts, header } = data;
  const view = data.view(head.kind);
  canvas.hidden = !view;
  if (!view) {
    note.textContent = header.has_sentence ? texts.preview_waits : texts.preview_none;
    return;
  }
  const cell = size / Math.max(view.rows, view.columns);
  const context = resize(canvas, Math.round(cell * view.columns), Math.round(cell * view.rows));
  paintHead(context, view, head.layer, head.head, new Look(view, PLAIN, theme));
  setAttribute(canvas, "aria-label", `${texts[`kind_${head.kind}`]}, ${fillText(texts.head, { head: head.name })}`);
  const cut = header.sentence?.cut ?? 0;
  note.textContent = texts.preview + (cut ? ` ${fillText(texts.preview_cut, { most: cut })}` : "");
}
