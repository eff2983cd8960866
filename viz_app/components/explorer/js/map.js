// A large map: cells, labels of both axes, crosshair, what is pinned. It scrolls inside itself when it is too large; the
// canvas covers only what is visible and is drawn again at every scroll.

import { h } from "../../common/dom.js";
import { Cells, outline } from "./cells.js";
import { ARROW, Labels, measureMap } from "./geometry.js";
import { resize } from "./paint.js";

const ROOMY = 16; // cells from this size on leave room for something else

export class LargeMap {
  /** @type {Picture} */
  picture;
  /** @type {Theme} */
  theme;
  /** @type {Labels} */
  labels;
  stale = false; // whether the font of the labels has come since
  /** @type {any} */
  geometry;
  /** @type {CanvasRenderingContext2D} */
  context;
  /** @type {boolean} */
  touched;

  /**
   * @param {any} hand What the map is worked with: `cursor()` tells the cell under the pointer or of the keyboard, `move(cell)`
   *   puts it elsewhere, `pick(cell, how)` hears of a click or the Enter key. A cell on a label lacks query or key.
   */
  constructor(hand) {
    this.hand = hand;
    this.canvas = h("canvas", { "aria-hidden": true });
    this.space = h("div", { class: "map-space" }, this.canvas);
    this.element = h(
      "div",
      {
        class: "map",
        tabindex: "0",
        role: "application",
        pointermove: (event) => this.point(event),
        pointerdown: (event) => this.press(event),
        pointerleave: (event) => this.leave(event),
        click: (event) => this.click(event),
        scroll: () => this.draw(),
        keydown: (event) => this.key(event),
      },
      this.space,
    );
    this.cells = new Cells();
  }

  /**
   * Takes over what is to be seen.
   * @param {Picture} picture
   * @param {Theme} theme
   * @param {string} label
   */
  show(picture, theme, label) {
    this.picture = picture;
    this.theme = theme;
    this.element.setAttribute("aria-label", label);
    this.cells.paint(picture, theme);
  }

  /**
   * Fits the map into a width and, while the cells can shrink, a height.
   * @param {number} width
   * @param {number} height
   * @param {number} tallest
   */
  layout(width, height, tallest) {
    const { sheet, rows, columns } = this.picture;
    const size = width < 420 || columns.length > 40 ? 11 : 12.5;
    if (this.stale || this.labels?.size !== size || this.labels.family !== this.theme.code) {
      this.labels = new Labels(this.theme.code, size);
      this.stale = false;
    }
    const axes = {
      queries: rows.map((query) => sheet.queries[query]),
      keys: columns.map((key) => sheet.keys[key]),
      causal: sheet.causal,
      groups: sheet.groups,
    };
    this.geometry = measureMap(axes, this.labels, width, height, tallest);
    const { full, shown, left, top, cell, row } = this.geometry;
    this.space.style.width = `${full.width}px`;
    this.space.style.height = `${full.height}px`;
    this.element.style.width = `${shown.width}px`;
    this.element.style.height = `${shown.height}px`;
    // Where the cells lie, for whoever reads pixels.
    Object.assign(this.element.dataset, { left, top, cell, row });
    this.context = resize(this.canvas, shown.width, shown.height);
  }

  /** Whether the cells have a good size here and all of them are seen from left to right. */
  roomy() {
    const { cell, full, shown } = this.geometry;
    return full.width <= shown.width && cell >= ROOMY;
  }

  draw() {
    const { context, geometry, theme, picture } = this;
    if (!geometry) return;
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = geometry.shown;
    const { left, top, cell, row } = geometry;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(left, top, width - left, height - top);
    context.clip();
    context.translate(left - this.element.scrollLeft, top - this.element.scrollTop);
    this.cells.draw(context, geometry, {
      rows: inSight(picture.written, this.element.scrollTop, height - top, row),
      columns: inSight(picture.existing, this.element.scrollLeft, width - left, cell),
    });
    this.drawMarks();
    context.restore();
    this.drawLabels();
  }

  /** The newest row, what is pinned, the crosshair. */
  drawMarks() {
    const { context, theme, picture } = this;
    const colour = theme.kinds[picture.sheet.kind];
    if (picture.current !== null) this.frame({ query: picture.current, key: null }, colour, 2);
    if (picture.pin) {
      context.setLineDash([4, 3]);
      this.frame(picture.pin, theme.text, 2);
      context.setLineDash([]);
    }
    const cursor = this.hand.cursor();
    if (!cursor) return;
    const { query, key } = cursor;
    if (query !== null) this.frame({ query, key: null }, colour, 1);
    if (key !== null) this.frame({ query: null, key }, colour, 1);
    if (query !== null && key !== null) this.frame(cursor, theme.text, 2);
  }

  /**
   * A frame around a row, a column or a cell, if it is shown.
   * @param {Cursor} given
   * @param {string} colour
   * @param {number} line
   */
  frame({ query, key }, colour, line) {
    const { rows, columns, written, existing } = this.picture;
    const { cell, row } = this.geometry;
    const [q, k] = [query === null ? 0 : rows.indexOf(query), key === null ? 0 : columns.indexOf(key)];
    if (q < 0 || k < 0 || q >= written || k >= existing) return;
    const [width, height] = [key === null ? existing * cell : cell, query === null ? written * row : row];
    outline(this.context, k * cell, q * row, width, height, colour, line);
  }

  drawLabels() {
    const { context, geometry, picture } = this;
    const { left, top, cell, row, angle, next, shown } = geometry;
    const { sheet, rows, columns, current, pin, written, existing } = picture;
    const cursor = this.hand.cursor();
    const { scrollTop, scrollLeft } = this.element;
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, top, left, shown.height - top);
    context.clip();
    const font = row < this.labels.size + 1 ? `${row - 1}px ${this.labels.family}` : this.labels.font;
    for (let [slot, end] = inSight(written, scrollTop, shown.height - top, row); slot < end; slot++) {
      const query = rows[slot];
      const y = top - scrollTop + (slot + 0.5) * row;
      const strong = [cursor?.query, current, pin?.query].includes(query);
      this.drawNext(sheet.queries[query], left - 8, y);
      this.drawLabel(sheet.queries[query], left - 8 - next, y, "right", strong, font);
    }
    context.restore();
    context.save();
    context.beginPath();
    context.rect(left - 8, 0, shown.width - left + 8, top);
    context.clip();
    for (let [slot, end] = inSight(existing, scrollLeft, shown.width - left, cell); slot < end; slot++) {
      const key = columns[slot];
      context.save();
      context.translate(left - scrollLeft + (slot + 0.5) * cell, top - 6);
      context.rotate(-angle);
      this.drawLabel(sheet.keys[key], 2, 0, "left", [cursor?.key, pin?.key].includes(key));
      context.restore();
    }
    context.restore();
  }

  /**
   * A label; the start of a word carries a thin mark, a special token stands back.
   * @param {Position} position
   * @param {number} x
   * @param {number} y
   * @param {string} align
   * @param {boolean} strong
   * @param {string} [font]
   */
  drawLabel({ text, start, special }, x, y, align, strong, font = this.labels.font) {
    const { context, geometry, labels, theme, picture } = this;
    const short = labels.shorten(text, geometry.limit);
    context.fillStyle = strong || !special ? theme.text : theme.muted;
    context.textAlign = /** @type {CanvasTextAlign} */ (align);
    context.font = strong ? `bold ${font}` : font;
    context.fillText(short, x, y);
    if (!start || picture.sheet.unit === "words") return;
    const edge = align === "left" ? x - 4 : x - context.measureText(short).width - 4;
    context.fillStyle = theme.mark;
    context.fillRect(Math.round(edge), y - labels.size * 0.4, 1, labels.size * 0.8);
  }

  /**
   * Beside what the decoder has read: what this row helps to write.
   * @param {Position} position
   * @param {number} x
   * @param {number} y
   */
  drawNext({ next }, x, y) {
    const { context, geometry, labels, theme } = this;
    if (!geometry.next || !next) return;
    context.fillStyle = theme.muted;
    context.textAlign = "left";
    context.font = labels.font;
    context.fillText(labels.shorten(`${ARROW}${next}`, geometry.next), x - geometry.next + 6, y);
  }

  /**
   * The cell, row label or column label at the place of an event; null elsewhere.
   * @param {PointerEvent} event
   */
  cellAt(event) {
    const { left, top, cell, row } = this.geometry;
    const { rows, columns, written, existing } = this.picture;
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const q = y < top ? null : Math.floor((y - top + this.element.scrollTop) / row);
    const k = x < left ? null : Math.floor((x - left + this.element.scrollLeft) / cell);
    if ((q === null && k === null) || (q ?? 0) >= written || (k ?? 0) >= existing) return null;
    return { query: q === null ? null : rows[q], key: k === null ? null : columns[k] };
  }

  /** @param {any} event */
  point(event) {
    this.move(this.cellAt(event));
  }

  /** @param {PointerEvent} event */
  press(event) {
    const before = this.hand.cursor();
    const cell = this.cellAt(event);
    this.touched = event.pointerType !== "mouse" && !(before && cell && before.query === cell.query);
    this.move(cell);
  }

  /**
   * A finger first shows the cell; a second touch of its row picks it.
   * @param {any} event
   */
  click(event) {
    const cell = this.cellAt(event);
    if (cell) this.hand.pick(cell, { keyboard: false, column: false, first: this.touched });
  }

  /** @param {PointerEvent} event */
  leave(event) {
    if (event.pointerType === "mouse") this.move(null);
  }

  /** @param {Cursor | null} cursor */
  move(cursor) {
    const old = this.hand.cursor();
    if (old?.query !== cursor?.query || old?.key !== cursor?.key) this.hand.move(cursor);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const cursor = this.hand.cursor();
    if (event.key === "Escape" && cursor) {
      event.preventDefault(); // only the next one leaves this zoom
      this.move(null);
    }
    if (event.key === "Enter" && cursor) {
      this.hand.pick(cursor, { keyboard: true, column: event.shiftKey, first: false });
      event.preventDefault();
    }
    const { rows, columns, written, existing } = this.picture;
    /** @type {Record<string, number[]>} */
    const steps = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      Home: [0, -existing],
      End: [0, existing],
      PageUp: [-written, 0],
      PageDown: [written, 0],
    };
    if (!(event.key in steps) || !written || !existing || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const [down, right] = steps[event.key];
    const [q, k] = [rows.indexOf(cursor?.query ?? -1), columns.indexOf(cursor?.key ?? -1)];
    const slot =
      q < 0 || k < 0
        ? [Math.max(0, rows.indexOf(this.picture.current ?? -1)), 0]
        : [Math.max(0, Math.min(written - 1, q + down)), Math.max(0, Math.min(existing - 1, k + right))];
    this.move({ query: rows[slot[0]], key: columns[slot[1]], spoken: true });
    this.reveal(slot[0], slot[1]);
  }

  /**
   * Scrolls a cell into sight, or only a row or a column where the other slot is negative.
   * @param {number} q
   * @param {number} [k]
   */
  reveal(q, k = -1) {
    const { cell, row, left, top, shown } = this.geometry;
    if (q >= 0) this.element.scrollTop = within(this.element.scrollTop, q * row, row, shown.height - top - 2);
    if (k >= 0) this.element.scrollLeft = within(this.element.scrollLeft, k * cell, cell, shown.width - left - 2);
  }
}

/**
 * The slots [first, end) of `count` that a scrolled extent shows.
 * @param {number} count
 * @param {number} scroll
 * @param {number} extent
 * @param {number} size
 */
export function inSight(count, scroll, extent, size) {
  return [
    Math.min(count, Math.max(0, Math.floor(scroll / size))),
    Math.min(count, Math.ceil((scroll + extent) / size) + 1),
  ];
}

/**
 * The scroll position nearest to the present one at which a slot is in sight.
 * @param {number} scroll
 * @param {number} start
 * @param {number} size
 * @param {number} extent
 */
export function within(scroll, start, size, extent) {
  return Math.min(start, Math.max(scroll, start + size - extent));
}
