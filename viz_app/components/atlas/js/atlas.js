// The whole of it: what is chosen, the controls, and the views that follow.

import { paintCells } from "../../common/draw/canvas.js";
import { Theme } from "../../common/draw/theme.js";
import { h, setAttribute } from "../../common/page/dom.js";
import { eventId } from "../../common/page/events.js";
import { consume, hasModifier } from "../../common/page/keyboard.js";
import { StateReport } from "../../common/report.js";
import { fillText } from "../../common/text/format.js";
import { Card } from "./card.js";
import { Compared, MAX } from "./compared.js";
import { Controls } from "./controls.js";
import { AtlasData } from "./data.js";
import { Grid } from "./grid.js";
import { Ranked, wholeTable } from "./ranked.js";

export class Atlas {
  /** @type {(event: { name: string, id: number }) => void} Asks Python to open a head. */
  sendOpen;
  /** @type {AtlasData} */
  data;
  /** @type {Theme} */
  theme;
  /** @type {AtlasState} */
  state;
  /** @type {Head} The head of the card. */
  shown;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.report = new StateReport(root);
    /** @type {AtlasActions} */
    const actions = {
      of: (head) => this.handlers(head),
      set: (change) => this.set(change),
      open: (head) => this.open(head),
      choose: (head) => this.choose(head),
    };
    this.controls = new Controls(actions.set);
    this.grid = new Grid(actions);
    this.ranked = new Ranked(actions);
    this.card = new Card(actions);
    this.compared = new Compared(actions);
    this.about = h("p", { class: "note" });
    this.count = h("p", { class: "note", role: "status" });
    this.legend = h("p", { class: "note legend" });
    this.keys = h("p", { class: "note" });
    this.table = h("button", { class: "plain", click: () => this.toggleTable() });
    this.numbers = h("div");
    this.tableOpen = false;
    root.replaceChildren(
      ...[this.controls.element, this.about, this.grid.element, this.ranked.element, this.legend, this.count],
      ...[this.card.element, this.keys, this.compared.element, this.table, this.numbers],
    );
  }

  /**
   * An atlas, or the same with other labels, colours or maps.
   * @param {Uint8Array} bytes
   */
  receive(bytes) {
    const data = new AtlasData(bytes);
    const another = this.data && (this.data.layers !== data.layers || this.data.heads !== data.heads);
    this.data = data;
    this.theme = new Theme(this.root, data.header.colours);
    this.theme.apply(this.root);
    if (!this.state || another) {
      this.state = { ...data.header.start };
      this.report.known(this.state);
    }
    this.state.by = data.measure(this.state.by).name;
    this.shown = data.byPlace.get(this.shown?.place ?? this.state.chosen[0] ?? "") ?? this.best();
    const { texts } = data;
    setAttribute(this.root, "lang", data.header.language);
    this.keys.textContent = texts.keys;
    this.controls.build(data);
    this.grid.build(data);
    if (this.tableOpen) this.numbers.replaceChildren(wholeTable(data));
    this.draw();
  }

  /** The head that the card shows first: the first of the ranked list. */
  best() {
    return this.data.ranked(this.state)[0] ?? this.data.all[0];
  }

  /**
   * What a head's button does.
   * @param {Head} head
   * @returns {Attributes}
   */
  handlers(head) {
    let tapped = false; // by a finger that has not seen the card yet
    return {
      focus: () => this.show(head),
      pointerenter: (/** @type {PointerEvent} */ event) => event.pointerType === "mouse" && this.show(head),
      pointerdown: (/** @type {PointerEvent} */ event) => {
        tapped = event.pointerType === "touch" && this.shown !== head;
        if (tapped) this.show(head);
      },
      click: (/** @type {MouseEvent} */ event) => {
        const first = tapped;
        tapped = false;
        if (event.shiftKey || event.ctrlKey || event.metaKey) this.choose(head);
        else if (!first) this.open(head);
      },
      keydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== " " || hasModifier(event)) return;
        consume(event);
        this.choose(head);
      },
      keyup: (/** @type {KeyboardEvent} */ event) => event.key === " " && consume(event), // or it would also click
    };
  }

  /** @param {Head} head */
  show(head) {
    const wanted = this.data.header.has_sentence && !this.state.maps;
    if (this.shown === head && !wanted) return;
    this.shown = head;
    if (wanted) this.set({ maps: true });
    else this.card.update(this.data, this.state, head, this.theme);
  }

  /** @param {Head} head */
  choose(head) {
    const { chosen } = this.state;
    this.shown = head;
    if (chosen.includes(head.place)) this.set({ chosen: chosen.filter((place) => place !== head.place) });
    else if (chosen.length < MAX) this.set({ chosen: [...chosen, head.place] });
  }

  /** @param {Head} head */
  open(head) {
    this.sendOpen({ name: head.place, id: eventId() });
  }

  /** @param {Partial<AtlasState>} change */
  set(change) {
    this.state = { ...this.state, ...change };
    this.draw();
  }

  toggleTable() {
    this.tableOpen = !this.tableOpen;
    this.numbers.replaceChildren(...(this.tableOpen ? [wholeTable(this.data)] : []));
    this.label();
  }

  label() {
    const { texts } = this.data;
    this.table.textContent = this.tableOpen ? texts.table_close : texts.table;
    setAttribute(this.table, "aria-expanded", String(this.tableOpen));
  }

  draw() {
    const { data, state, theme } = this;
    const list = state.view === "list";
    this.controls.update(state);
    this.about.textContent = data.measure(state.by).about;
    this.grid.element.hidden = list;
    this.ranked.element.hidden = !list;
    if (list) this.ranked.update(data, state, theme);
    else this.grid.paint(state, theme);
    this.drawLegend();
    const count = data.all.filter((head) => data.passes(state, head)).length;
    this.count.textContent = fillText(data.texts.matching, { count, all: data.all.length });
    this.card.update(data, state, this.shown, theme);
    this.compared.update(data, state, theme);
    this.label();
    this.report.update(state);
  }

  drawLegend() {
    const { data, state, theme } = this;
    const measure = data.measure(state.by);
    const [low, high] = data.range(measure);
    const table = measure.diverging ? theme.diverging : theme.pixels;
    const bar = h("canvas", { "aria-hidden": "true" });
    paintCells(bar, 1, table.length, (_, at) => table[at]);
    const unit = measure.unit === "share" ? "" : ` ${data.texts[`unit_${measure.unit}`]}`;
    const title = fillText(data.texts.legend, { measure: measure.label });
    this.legend.replaceChildren(
      `${title}: ${data.format(measure, low)} `,
      bar,
      ` ${data.format(measure, high)}${unit}`,
    );
  }

  stop() {
    this.report.stop();
  }
}
