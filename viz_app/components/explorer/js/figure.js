// The large figure: a head as a map or as lines, or one token in all heads, with caption and readout.

import { h } from "../../common/page/dom.js";
import { define } from "../../common/page/explained.js";
import { fillText, percent } from "../../common/text/format.js";
import { Choice } from "./controls.js";
import { Legend } from "./draw/legend.js";
import { Lines } from "./draw/lines.js";
import { LargeMap } from "./draw/map.js";
import { isCell, Picture, pinName } from "./draw/picture.js";
import { Flow } from "./flow/flow.js";
import { caption, hiddenNote, meanName, readout, spoken, tellingRow, title, unitName } from "./sentences.js";
import { Table } from "./tables/table.js";
import { weightTable } from "./tables/tablecontents.js";
import { TokenView } from "./token.js";

const AXES = ["query", "key", "token", "layer", "head"]; // words of the names of both axes that explain themselves
const BESIDE = 185; // width that the notes need beside the picture
const TIP = 5; // from a cell to its value

/** @typedef {import("./flow/flowcanvas.js").FlowCanvas} FlowCanvas */

export class Figure {
  /** @type {ExplorerTexts} */
  texts;
  /** @type {Theme} */
  theme;
  /** @type {Picture} */
  picture;
  /** @type {string} */
  title;
  /** @type {LargeMap | Lines | FlowCanvas} The picture that is drawn now. */
  shown;
  /** @type {Measures} Of the translation that is shown. */
  measures;
  /** @type {string} What was last brought into sight. */
  followed;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    /** @type {import("./draw/picturecanvas.js").Hand} */
    const hand = {
      cursor: () => store.state.cursor,
      move: (cursor) => store.set({ cursor }),
      pick: (cell, how) => this.pin(cell, how),
    };
    this.map = new LargeMap(hand);
    this.lines = new Lines("lines", hand);
    this.token = new TokenView(store);
    this.flow = new Flow(store);
    this.form = new Choice("form", ["map", "lines", "flow"], store);
    this.legend = new Legend();
    this.table = new Table(() => store.set({ table: !store.state.table }));
    this.caption = h("figcaption", { class: "caption" });
    this.queryTitle = h("span", { class: "axis query-axis" });
    this.keyTitle = h("span", { class: "axis key-axis" });
    this.readout = h("div", { class: "readout", "aria-hidden": true, hidden: true }); // at the cell
    this.hint = h("p", { class: "note hint" });
    this.live = h("p", { class: "unseen", "aria-live": "polite" });
    this.notes = h("div", { class: "notes" });
    this.omitted = h("p", { class: "note", hidden: true });
    this.frame = h("div", { class: "map-frame" }, this.keyTitle, this.queryTitle, this.map.element, this.readout);
    const beside = h(
      "div",
      { class: "beside" },
      this.notes,
      this.legend.element,
      this.hint,
      this.table.button,
      this.omitted,
    );
    this.row = h("div", { class: "head-row" }, this.frame, beside);
    this.tools = h("div", { class: "figure-tools" }, this.form.element);
    const top = h("div", { class: "figure-top" }, this.caption, this.tools);
    beside.prepend(this.flow.about);
    this.element = h("figure", { class: "head" }, top, this.flow.tools, this.token.head, this.row, this.live);
  }

  /** @param {ExplorerTexts} texts */
  label(texts) {
    this.texts = texts;
    this.form.label(texts.form, [texts.form_map, texts.form_lines, texts.form_flow]);
    this.flow.label(texts);
  }

  /**
   * One of the pictures; a model without a flow has the map instead.
   * @param {Pick<State, "zoom" | "form">} state
   */
  plate({ zoom, form }) {
    if (zoom === "token") return this.token.map;
    if (form === "flow" && this.flow.offered(this.measures.translation)) return this.flow.canvas;
    return form === "lines" ? this.lines : this.map;
  }

  /** Whether the flow is drawn. */
  get flows() {
    return this.shown === this.flow.canvas;
  }

  /**
   * In the zoom on a token something has to be pinned, and it follows the time bar.
   * @param {LabelledMatrix} matrix
   * @param {State} state
   * @param {number | null} current
   * @param {boolean} stepped
   */
  pinFor(matrix, state, current, stepped) {
    if (state.zoom !== "token") return state.pin;
    if (stepped && current !== null && !state.pin?.startsWith("k")) return `q${current}`;
    if (state.pin) return state.pin;
    const query = current ?? tellingRow(new Picture(matrix, state));
    return `q${query ?? 0}`;
  }

  /**
   * Takes over what is to be seen; `current` is the row of the step, or null.
   * @param {View} view
   * @param {LabelledMatrix} matrix
   * @param {State} state
   * @param {number | null} current
   * @param {Theme} theme
   */
  update(view, matrix, state, current, theme) {
    const { texts } = this;
    const own = state.zoom === "token";
    this.theme = theme;
    this.picture = own ? this.token.picture(view, state) : new Picture(matrix, state, current);
    this.title = title(this.picture.matrix, texts);
    this.token.head.hidden = !own;
    if (own) this.token.update(view, this.picture, state, texts);
    const plate = this.plate(state);
    const offered = this.flow.offered(this.measures.translation);
    this.form.offer(["map", "lines", ...(offered ? ["flow"] : [])]);
    this.form.element.hidden = own;
    this.form.update(offered || state.form !== "flow" ? state : { form: "map" });
    if (plate !== this.shown) (this.shown ?? this.map).element.remove();
    if (!plate.element.isConnected) this.frame.append(plate.element);
    this.shown = plate;
    this.frame.classList.toggle("frame-lines", plate === this.lines);
    this.element.classList.toggle("flows", this.flows);
    this.name(view, own);
    this.annotate(state, theme, plate === this.lines);
    if (plate === this.flow.canvas) {
      this.title = texts.flow_title;
      return this.flow.update(this.measures.translation, state, theme);
    }
    const drawing = /** @type {LargeMap | Lines} */ (plate);
    drawing.show(this.picture, theme, `${this.title}. ${this.help(drawing)}`);
    this.caption.replaceChildren(caption(this.picture, texts));
  }

  /** @param {LargeMap | Lines} plate */
  help(plate) {
    const { texts } = this;
    if (plate === this.lines) return texts.lines_keys;
    return plate === this.map ? texts.map_keys : texts.token_keys;
  }

  /**
   * The names of both axes.
   * @param {View} view
   * @param {boolean} own
   */
  name(view, own) {
    const { texts } = this;
    const { kind } = view;
    const query = fillText(texts[`query_${kind}`], { unit: unitName(view, texts) });
    define(this.queryTitle, own ? texts.token_heads : query, texts.language, AXES);
    const key = own && this.picture.matrix.received ? query : texts[`key_${kind}`];
    define(this.keyTitle, key, texts.language, AXES);
  }

  /**
   * Legend and notes.
   * @param {State} state
   * @param {Theme} theme
   * @param {boolean} lines
   */
  annotate(state, theme, lines) {
    const { texts, picture } = this;
    const { matrix } = picture;
    const mean = meanName(matrix, texts);
    const blind = !matrix.groups && picture.rows.slice(0, picture.written).some((query) => picture.blind(query));
    const hatched = lines ? "" : blind ? texts.blind : matrix.causal ? texts.masked : "";
    this.legend.draw(theme, texts, picture, { lines, mean, hatched });
    const encoder = matrix.kind === "encoder" && state.step !== null ? texts.encoder_note : null;
    const notes = [
      mean ? texts.mean_note : null,
      this.restingNote(matrix, state),
      matrix.received ? null : hiddenNote(picture, texts),
      encoder,
    ].filter((note) => note);
    this.notes.replaceChildren(...notes.map((note) => h("p", { class: "note" }, note)));
  }

  /**
   * That the selected head rests, with its share; null for one that looks, and for what is no head.
   * @param {LabelledMatrix} matrix
   * @param {State} state
   */
  restingNote(matrix, { kind, layer, head, average }) {
    if (matrix.groups || average !== "none") return null;
    const index = layer * matrix.view.heads + head;
    if (!this.measures.resting(kind).has(index)) return null;
    const share = this.measures.of("resting", kind)?.[index] ?? 0;
    return fillText(this.texts.resting, { share: percent(share) });
  }

  /**
   * The numbers of the picture, when they are asked for.
   * @param {State} state
   */
  tabulate(state) {
    const corner = state.zoom === "token" ? `${this.texts.token_heads} \u2193` : undefined;
    const content = this.flows ? this.flow.table() : weightTable(this.picture, this.title, this.texts, corner);
    this.table.show(content, state.table);
  }

  /**
   * Put the notes beside the picture if that leaves it a good size, else under it.
   * @param {number} height
   * @param {number} tallest
   */
  layout(height, tallest) {
    const space = this.element.clientWidth - 22;
    if (space <= 0) return;
    const plate = this.shown;
    this.row.classList.toggle("stacked", this.flows);
    if (plate === this.flow.canvas) {
      this.frame.style.width = "";
      return plate.layout(this.element.clientWidth, height - this.flow.tools.offsetHeight);
    }
    const above = this.token.head.offsetHeight;
    plate.layout(space - BESIDE, height - above, tallest - above);
    const beside = plate.roomy();
    if (!beside) plate.layout(space, height - above, tallest - above);
    this.row.classList.toggle("stacked", !beside);
    // The names of the columns of tokens stand above these and share their width.
    this.frame.style.width = plate === this.lines ? this.lines.element.style.width : "";
    this.follow();
  }

  /** Keeps the newest row of a long sentence in sight, or what has been pinned. */
  follow() {
    const { picture } = this;
    const { rows, columns, current, pin } = picture;
    const target = picture.matrix.groups
      ? this.token.target(picture)
      : [current ?? pin?.query ?? -1, current === null ? (pin?.key ?? -1) : -1];
    const key = `${this.shown.element.className} ${target}`;
    if (key === this.followed) return;
    this.followed = key;
    this.shown.reveal(rows.indexOf(target[0]), columns.indexOf(target[1]));
  }

  draw() {
    if (!this.shown.labels) return; // fonts came while the figure was hidden; it is laid out when it is seen again
    this.shown.draw();
    this.omitted.hidden = this.shown !== this.lines || !this.lines.omitted;
    this.omitted.textContent = this.omitted.hidden ? "" : this.texts.lines_omitted;
  }

  /**
   * Everything about the cell under the pointer or of the keyboard, else about what is pinned.
   * @param {State} state
   */
  point(state) {
    const { picture, texts } = this;
    if (this.flows) return this.pointFlow();
    const cursor = state.zoom === "token" ? state.spot : (state.cursor ?? picture.pin);
    const valid = cursor && this.exists(cursor);
    const starts = picture.matrix.unit === "tokens" ? ` ${texts.word_starts}` : "";
    const hint = `${this.shown === this.lines ? texts.lines_point : texts.point}${starts}`;
    if (this.hint.textContent !== hint) this.hint.textContent = hint;
    const at = valid && isCell(cursor) ? cursor : null;
    this.readOut(this.shown === this.lines ? null : at);
    const cell = at && !picture.forbidden(at.query, at.key);
    this.legend.point(cell ? picture.place(at.query, at.key) : null);
    const line = valid ? spoken(picture, cursor, texts) : "";
    if (this.live.textContent !== line) this.live.textContent = line;
  }

  /**
   * Puts the value of a cell of the map beside it.
   * @param {Cell | null} cell
   */
  readOut(cell) {
    const { readout: tip } = this;
    tip.hidden = !cell;
    if (!cell) return;
    tip.replaceChildren(...readout(this.picture, cell, this.texts));
    const map = /** @type {LargeMap} */ (this.shown);
    const { x, y, height } = map.place(cell);
    const { offsetLeft, offsetTop, clientHeight } = map.element;
    const below = y + height + tip.offsetHeight + TIP <= clientHeight;
    const left = Math.min(offsetLeft + x, Math.max(0, this.element.clientWidth - tip.offsetWidth));
    tip.style.left = `${left}px`;
    tip.style.top = `${offsetTop + (below ? y + height + TIP : y - tip.offsetHeight - TIP)}px`;
  }

  /** What the flow says of the word, the way or the state under the pointer. */
  pointFlow() {
    const { flow, caption } = this;
    caption.replaceChildren(...flow.caption());
    flow.show();
    const { hit, unfolded } = flow.canvas;
    const line = (hit && unfolded ? flow.detail : caption).textContent ?? "";
    if (this.live.textContent !== line) this.live.textContent = line;
  }

  /**
   * Whether a cursor points at something that is shown; it may come from elsewhere on the page.
   * @param {Cursor} cursor
   */
  exists({ query, key }) {
    const { rows, columns, written, existing } = this.picture;
    return (
      (query === null || rows.slice(0, written).includes(query)) &&
      (key === null || columns.slice(0, existing).includes(key))
    );
  }

  /**
   * A click pins a label's row or column; the Enter key the row of the cell, with Shift its column.
   * @param {Cursor} cell
   * @param {import("./draw/picturecanvas.js").Pick} how
   */
  pin({ query, key }, how) {
    if (query !== null && key !== null && !how.keyboard) return;
    const column = query === null || (how.column && key !== null);
    this.store.set({ pin: pinName(this.store.state, column ? { query: null, key } : { query, key: null }) });
  }
}
