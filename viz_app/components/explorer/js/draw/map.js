// Large map: cells, labels of both axes, crosshair, pin.

import { arrowTarget } from "../../../common/page/arrowkeys.js";
import { Cells, outline } from "./cells.js";
import { ARROW, measureMap } from "./geometry.js";
import { PictureCanvas } from "./picturecanvas.js";
import { inSight } from "./scrollcanvas.js";

const ROOMY = 16; // cells from this size on leave room for something else

export class LargeMap extends PictureCanvas {
  /** @type {ReturnType<typeof measureMap>} */
  geometry;
  /** @type {boolean} */
  touched;
  cells = new Cells();

  /**
   * @param {import("./picturecanvas.js").Hand} hand
   * @param {string} [name] Class of the element.
   */
  constructor(hand, name = "map") {
    super(name, hand);
  }

  /**
   * @param {Picture} picture
   * @param {Theme} theme
   * @param {string} label
   */
  show(picture, theme, label) {
    super.show(picture, theme, label);
    this.cells.paint(picture, theme);
  }

  /**
   * Fits the map into a width and, while the cells can shrink, a height.
   * @param {number} width
   * @param {number} height
   * @param {number} tallest
   * @param {number} [largest] Of a cell.
   */
  layout(width, height, tallest, largest) {
    const { matrix, rows, columns } = this.picture;
    const size = width < 420 || columns.length > 40 ? 11 : 12.5;
    this.useLabels(size);
    const axes = {
      queries: rows.map((query) => matrix.queries[query]),
      keys: columns.map((key) => matrix.keys[key]),
      causal: matrix.causal,
      groups: matrix.groups,
    };
    this.geometry = measureMap(axes, this.labels, width, height, tallest, largest);
    const { full, shown, left, top, cell, row } = this.geometry;
    this.resize(full, shown);
    // Where the cells lie, for tests of pixels.
    Object.assign(this.element.dataset, { left, top, cell, row });
  }

  /** Whether the cells have a good size here and all of them are seen from left to right. */
  roomy() {
    const { cell, full, shown } = this.geometry;
    return full.width <= shown.width && cell >= ROOMY;
  }

  draw() {
    if (!this.geometry) return;
    const { picture, geometry } = this;
    const { left, top, cell, row, shown } = geometry;
    const { scrollTop, scrollLeft } = this.element;
    this.context = this.begin(shown);
    this.inside(left, top, () => {
      this.context.translate(left - scrollLeft, top - scrollTop);
      this.cells.draw(this.context, geometry, {
        rows: inSight(picture.written, scrollTop, shown.height - top, row),
        columns: inSight(picture.existing, scrollLeft, shown.width - left, cell),
      });
      this.drawMarks();
    });
    this.drawRowLabels();
    this.drawColumnLabels();
  }

  /**
   * Draws within the part of the canvas right of and below a corner.
   * @param {number} left
   * @param {number} top
   * @param {() => void} draw
   * @param {number} [right]
   * @param {number} [bottom]
   */
  inside(left, top, draw, right = this.geometry.shown.width, bottom = this.geometry.shown.height) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(left, top, right - left, bottom - top);
    this.context.clip();
    draw();
    this.context.restore();
  }

  /** The newest row, what is pinned, the crosshair. */
  drawMarks() {
    const { context, theme, picture } = this;
    const colour = theme.kinds[picture.matrix.kind];
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
   * @param {Cursor} place
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

  drawRowLabels() {
    const { labels, geometry, picture } = this;
    const { left, top, row, next, limit, shown } = geometry;
    const { matrix, rows, current, pin, written } = picture;
    const { scrollTop } = this.element;
    const font = row < labels.size + 1 ? `${row - 1}px ${labels.family}` : labels.font;
    const draw = () => {
      for (let [slot, end] = inSight(written, scrollTop, shown.height - top, row); slot < end; slot++) {
        const query = rows[slot];
        const y = top - scrollTop + (slot + 0.5) * row;
        const bold = [this.hand.cursor()?.query, current, pin?.query].includes(query);
        this.drawNext(matrix.queries[query], left - 8, y);
        this.drawToken(matrix.queries[query], left - 8 - next, y, { align: "right", limit, bold, font });
      }
    };
    this.inside(0, top, draw, left);
  }

  drawColumnLabels() {
    const { context, geometry, picture } = this;
    const { left, top, cell, angle, limit, shown } = geometry;
    const { matrix, columns, pin, existing } = picture;
    const { scrollLeft } = this.element;
    const draw = () => {
      for (let [slot, end] = inSight(existing, scrollLeft, shown.width - left, cell); slot < end; slot++) {
        const key = columns[slot];
        const bold = [this.hand.cursor()?.key, pin?.key].includes(key);
        context.save();
        context.translate(left - scrollLeft + (slot + 0.5) * cell, top - 6);
        context.rotate(-angle);
        this.drawToken(matrix.keys[key], 2, 0, { align: "left", limit, bold });
        context.restore();
      }
    };
    this.inside(left - 8, 0, draw, shown.width, top);
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
   * Where a cell is in the element.
   * @param {Cell} cell
   */
  place({ query, key }) {
    const { left, top, cell, row } = this.geometry;
    const { scrollLeft, scrollTop } = this.element;
    const [slot, column] = [this.picture.rows.indexOf(query), this.picture.columns.indexOf(key)];
    return { x: left - scrollLeft + column * cell, y: top - scrollTop + slot * row, height: row };
  }

  /**
   * The cell, row label or column label at the place of an event; null elsewhere.
   * @param {PointerEvent} event
   */
  at(event) {
    const { left, top, cell, row } = this.geometry;
    const { rows, columns, written, existing } = this.picture;
    const { x, y } = this.pointOf(event);
    const q = y < top ? null : Math.floor((y - top + this.element.scrollTop) / row);
    const k = x < left ? null : Math.floor((x - left + this.element.scrollLeft) / cell);
    if ((q === null && k === null) || (q ?? 0) >= written || (k ?? 0) >= existing) return null;
    return { query: q === null ? null : rows[q], key: k === null ? null : columns[k] };
  }

  /** @param {PointerEvent} event */
  press(event) {
    const before = this.hand.cursor();
    const cell = this.at(event);
    this.touched = event.pointerType !== "mouse" && !(before && cell && before.query === cell.query);
    this.move(cell);
  }

  /**
   * A finger first shows the cell; a second touch of its row picks it.
   * @param {PointerEvent} event
   */
  click(event) {
    const cell = this.at(event);
    if (cell) this.hand.pick(cell, { first: this.touched });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const cursor = this.hand.cursor();
    if (event.key === "Escape" && cursor) {
      event.preventDefault(); // only the next one leaves this zoom
      this.move(null);
    }
    if (event.key === "Enter" && cursor) {
      this.hand.pick(cursor, { keyboard: true, column: event.shiftKey });
      event.preventDefault();
    }
    const { rows, columns, written, existing, current } = this.picture;
    const [row, column] = [rows.indexOf(cursor?.query ?? -1), columns.indexOf(cursor?.key ?? -1)];
    const inside = row >= 0 && column >= 0;
    const target = arrowTarget(event, inside ? [row, column] : null, written, existing);
    if (!target) return;
    const [q, k] = inside ? target : [Math.max(0, rows.indexOf(current ?? -1)), 0];
    this.move({ query: rows[q], key: columns[k], spoken: true });
    this.reveal(q, k);
  }

  /**
   * Scrolls a cell into sight, or only a row or a column where the other slot is negative.
   * @param {number} q
   * @param {number} [k]
   */
  reveal(q, k = -1) {
    const { cell, row, left, top, shown } = this.geometry;
    const frame = { width: shown.width - left - 2, height: shown.height - top - 2 };
    this.scrollTo({ x: k * cell, y: q * row, width: cell, height: row }, frame);
  }
}
