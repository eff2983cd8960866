// One token in all heads: a row for each head, with its weights from the pinned query or to the pinned key.

import { arrowTarget } from "../../common/page/arrowkeys.js";
import { h, rootOf, setAttribute, tokenElement } from "../../common/page/dom.js";
import { clamp } from "../../common/page/keyboard.js";
import { headName } from "../../common/text/format.js";
import { Choice } from "./controls.js";
import { LabelledMatrix } from "./data/labelledmatrix.js";
import { shownIndices } from "./data/visibletokens.js";
import { LargeMap } from "./draw/map.js";
import { Picture, pinned } from "./draw/picture.js";

const MAX = 41; // tokens of the strip; of a long sentence those around the pinned one

/** Heads by tokens; its queries are heads, grouped by layer. */
export class TokenMatrix extends LabelledMatrix {
  /**
   * @param {View} view
   * @param {Cursor} pin
   */
  constructor(view, { query, key }) {
    super(view);
    this.query = /** @type {number} */ (query); // one of the two is null
    this.key = /** @type {number} */ (key);
    this.groups = view.heads;
    /** @type {Position[]} */
    this.others = [];
    this.received = query === null;
    this.queries = Array.from({ length: view.layers * view.heads }, (_, index) => this.head(index));
    this.keys = this.received ? view.queries : view.keys;
    this.columns = this.received ? view.rows : view.columns;
    this.chosen = this.received ? view.keys[this.key] : view.queries[this.query];
    const exists = this.received ? this.key < view.columns : this.query < view.rows;
    this.rows = exists ? this.queries.length : 0;
    this.name = this.chosen.text;
  }

  /** @param {number} index */
  head(index) {
    const [layer, head] = [Math.floor(index / this.view.heads), index % this.view.heads];
    return { text: headName(layer, head), start: false, special: false, first: index, last: index, layer, head };
  }

  /**
   * Query and key of a column.
   * @param {number} column
   * @returns {[number, number]}
   */
  cell(column) {
    return this.received ? [column, this.key] : [this.query, column];
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  at(row, column) {
    const { layer, head } = this.queries[row];
    return this.view.at(layer, head, ...this.cell(column));
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  masked(row, column) {
    return this.view.masked(...this.cell(column));
  }

  /** @param {number} row */
  rowSum(row) {
    const { layer, head } = this.queries[row];
    return this.received ? super.rowSum(row) : this.view.matrix(layer, head).rowSum(this.query);
  }
}

/** Strip of the tokens of one side, above the picture; the pinned one is pressed. */
class Strip {
  /** @type {number[]} */
  indices;
  /** @type {string} */
  side;
  /** @type {number} */
  chosen;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.element = h("div", { class: "strip", role: "group", keydown: (event) => this.key(event) });
  }

  /**
   * @param {Position[]} positions
   * @param {number[]} indices
   * @param {string} side
   * @param {number} chosen
   * @param {ExplorerTexts} texts
   */
  update(positions, indices, side, chosen, texts) {
    this.indices = indices;
    this.side = side;
    this.chosen = chosen;
    setAttribute(this.element, "aria-label", texts.token_choose);
    const focused = this.element.contains(rootOf(this.element).activeElement);
    const middle = Math.max(0, indices.indexOf(chosen));
    const first = Math.max(0, Math.min(indices.length - MAX, middle - (MAX >> 1)));
    const buttons = indices.slice(first, first + MAX).map((index) => {
      const pressed = index === chosen;
      const attributes = {
        class: positions[index].special ? "strip-token special" : "strip-token",
        "aria-pressed": String(pressed),
        tabindex: pressed ? 0 : -1,
        click: () => this.store.set({ pin: `${side}${index}` }),
      };
      return h("button", attributes, tokenElement(positions[index].text));
    });
    if (!indices.includes(chosen) && buttons.length) buttons[0].tabIndex = 0;
    this.element.replaceChildren(...buttons);
    const pressed = /** @type {HTMLElement | null} */ (this.element.querySelector("[aria-pressed=true]"));
    if (focused) (pressed ?? buttons[0])?.focus({ preventScroll: true });
    if (pressed) this.element.scrollLeft = pressed.offsetLeft - this.element.clientWidth / 2;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = arrowTarget(event, [0, this.indices.indexOf(this.chosen)], 1, this.indices.length);
    if (target) this.store.set({ pin: `${this.side}${this.indices[target[1]]}` });
  }
}

export class TokenView {
  /** @type {View} */
  view;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.side = new Choice("side", ["q", "k"], { set: ({ side }) => this.turn(side) });
    this.strip = new Strip(store);
    this.head = h("div", { class: "token-head" }, this.side.element, this.strip.element);
    this.map = new LargeMap({
      cursor: () => store.state.spot,
      move: (spot) => store.set({ spot }),
      pick: (cell, how) => this.pick(cell, how),
    });
  }

  /**
   * The picture of a pinned token in all heads of a view.
   * @param {View} view
   * @param {State} state
   */
  picture(view, state) {
    const matrix = new TokenMatrix(view, /** @type {Cursor} */ (pinned(state.pin)));
    const selected = state.average === "none" ? state.layer * view.heads + state.head : null;
    return new Picture(matrix, { ...state, pin: null }, selected);
  }

  /**
   * @param {View} view
   * @param {Picture} picture
   * @param {State} state
   * @param {ExplorerTexts} texts
   */
  update(view, picture, state, texts) {
    const { received, query, key } = picture.matrix;
    this.view = view;
    this.side.label(texts.token_side, [texts.token_looks, texts.token_seen]);
    this.side.update({ side: received ? "k" : "q" });
    const [positions, end] = received ? [view.keys, view.columns] : [view.queries, view.rows];
    const indices = shownIndices(positions, state).filter((index) => index < end);
    const chosen = Number(received ? key : query);
    this.strip.update(positions, indices, received ? "k" : "q", chosen, texts);
  }

  /**
   * The cell that is to be in sight: the row of the selected head, the column at which any head looks most.
   * @param {Picture} picture
   */
  target(picture) {
    return [picture.current ?? -1, picture.strongest()?.[1] ?? -1];
  }

  /**
   * The other side of the same position; in encoder-decoder attention the nearest one that exists.
   * @param {string} side
   */
  turn(side) {
    const position = Number(String(this.store.state.pin).slice(1));
    const last = (side === "q" ? this.view.rows : this.view.columns) - 1;
    this.store.set({ pin: `${side}${clamp(position, 0, last)}` });
  }

  /**
   * A row opens its head, the name of a column chooses that token.
   * @param {Cursor} cell
   * @param {import("./draw/picturecanvas.js").Pick} how
   */
  pick({ query, key }, { first }) {
    const { matrix } = this.map.picture;
    if (query !== null && !first) {
      const { layer, head } = matrix.queries[query];
      this.store.set({ layer, head, zoom: "head", spot: null });
    } else if (query === null) {
      this.store.set({ pin: `${matrix.received ? "q" : "k"}${key}`, spot: null });
    }
  }
}
