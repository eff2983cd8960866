// One of the maps that stand side by side: a matrix of colours with its labels, a crosshair, and a cell that is told.

import { context2d } from "../../common/canvas.js";
import { h } from "../../common/dom.js";
import { Labels } from "./geometry.js";
import { resize } from "./paint.js";

const SMALLEST = 11;
const LARGEST = 34;
const LONGEST = 92; // of a label, in CSS pixels
const TALLEST = 460;
const HATCH = 5;

export class SideMap {
  /** @type {Sheet} */
  sheet;
  /** @type {number[]} */
  rows;
  /** @type {number[]} */
  columns;
  /** @type {Theme} */
  theme;
  /** @type {any} */
  colour;
  /** @type {Labels} */
  labels;
  /** @type {number} */
  left;
  /** @type {number} */
  cell;
  /** @type {number} */
  top;
  /** @type {{ width: number, height: number }} */
  full;
  /** @type {{ width: number, height: number }} */
  shown;
  /** @type {CanvasRenderingContext2D} */
  context;

  /**
   * `move(cursor)` hears where the pointer or the keyboard is; cells that have no colour are hatched.
   * @param {string} name
   * @param {(cursor: Cursor | null) => void} move
   */
  constructor(name, move) {
    this.name = name;
    this.move = move;
    /** @type {Cursor | null} */
    this.cursor = null;
    this.canvas = h("canvas", { "aria-hidden": true });
    this.space = h("div", {}, this.canvas);
    this.element = h(
      "div",
      {
        class: `side-map side-${name}`,
        tabindex: "0",
        role: "application",
        pointermove: (event) => this.point(event),
        pointerdown: (event) => this.point(event),
        pointerleave: (event) => event.pointerType === "mouse" && this.move(null),
        scroll: () => this.draw(),
        keydown: (event) => this.key(event),
      },
      this.space,
    );
    this.cells = document.createElement("canvas");
  }

  /**
   * `colour(query, key)` gives a pixel, or null for a cell that shows nothing; rows and columns are positions.
   * @param {{ sheet: Sheet, rows: number[], columns: number[], theme: Theme, colour: (query: number, key: number) => number | null, label: string }} given
   */
  show({ sheet, rows, columns, theme, colour, label }) {
    this.sheet = sheet;
    this.rows = rows;
    this.columns = columns;
    this.theme = theme;
    this.colour = colour;
    this.element.setAttribute("aria-label", label);
    this.cells.width = Math.max(1, columns.length);
    this.cells.height = Math.max(1, rows.length);
    const context = context2d(this.cells);
    const image = context.createImageData(this.cells.width, this.cells.height);
    const pixels = new Uint32Array(image.data.buffer);
    let at = 0;
    for (const query of rows) for (const key of columns) pixels[at++] = colour(query, key) ?? 0;
    context.putImageData(image, 0, 0);
  }

  /** @param {number} width */
  layout(width) {
    const { rows, columns, sheet, theme } = this;
    const labels = new Labels(theme.code, width < 340 || columns.length > 30 ? 10.5 : 12);
    this.labels = labels;
    /**
     * @param {Position[]} positions
     * @param {number[]} all
     */
    const longest = (positions, all) =>
      Math.max(8, ...all.map((at) => Math.min(LONGEST, labels.width(positions[at].text))));
    this.left = Math.ceil(longest(sheet.queries, rows)) + 12;
    const fit = Math.floor((width - this.left - 4) / Math.max(1, columns.length));
    this.cell = Math.max(SMALLEST, Math.min(LARGEST, fit));
    this.top = Math.ceil(longest(sheet.keys, columns)) + 12; // labels of the columns stand upright
    this.full = { width: this.left + columns.length * this.cell + 2, height: this.top + rows.length * this.cell + 2 };
    this.shown = { width: Math.min(width, this.full.width), height: Math.min(TALLEST, this.full.height) };
    this.space.style.width = `${this.full.width}px`;
    this.space.style.height = `${this.full.height}px`;
    this.element.style.width = `${this.shown.width}px`;
    this.element.style.height = `${this.shown.height}px`;
    Object.assign(this.element.dataset, { left: this.left, top: this.top, cell: this.cell });
    this.context = resize(this.canvas, this.shown.width, this.shown.height);
  }

  draw() {
    const { context, theme, left, top, cell, shown, element, rows, columns } = this;
    if (!context) return;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, shown.width, shown.height);
    context.save();
    context.beginPath();
    context.rect(left, top, shown.width - left, shown.height - top);
    context.clip();
    context.translate(left - element.scrollLeft, top - element.scrollTop);
    const [right, bottom] = [columns.length * cell, rows.length * cell];
    context.beginPath();
    context.rect(0, 0, right, bottom);
    context.clip();
    this.drawHatch();
    context.imageSmoothingEnabled = false;
    if (right && bottom) context.drawImage(this.cells, 0, 0, right, bottom);
    context.strokeStyle = theme.line;
    context.strokeRect(0.5, 0.5, right - 1, bottom - 1);
    this.drawCrosshair(right, bottom);
    context.restore();
    this.drawLabels();
  }

  /** Under everything; it shows through where there is no cell. */
  drawHatch() {
    const { context, theme, element, shown } = this;
    context.strokeStyle = theme.hatch;
    context.lineWidth = 1;
    context.beginPath();
    const [x0, y0] = [element.scrollLeft, element.scrollTop];
    const first = Math.floor((x0 + y0) / HATCH) * HATCH;
    for (let sum = first; sum < x0 + shown.width + y0 + shown.height; sum += HATCH) {
      context.moveTo(sum - y0, y0);
      context.lineTo(sum - y0 - shown.height, y0 + shown.height);
    }
    context.stroke();
  }

  /**
   * @param {number} right
   * @param {number} bottom
   */
  drawCrosshair(right, bottom) {
    const { context, theme, cell, cursor } = this;
    if (!cursor) return;
    const row = this.rows.indexOf(cursor.query ?? -1);
    const column = this.columns.indexOf(cursor.key ?? -1);
    context.lineWidth = 1;
    context.strokeStyle = theme.muted;
    if (row >= 0) context.strokeRect(0.5, row * cell + 0.5, right - 1, cell - 1);
    if (column >= 0) context.strokeRect(column * cell + 0.5, 0.5, cell - 1, bottom - 1);
    if (row < 0 || column < 0) return;
    context.lineWidth = 2;
    context.strokeStyle = theme.text;
    context.strokeRect(column * cell + 1, row * cell + 1, cell - 2, cell - 2);
  }

  drawLabels() {
    const { context, element, left, top, cell, shown, rows, columns, sheet, cursor } = this;
    context.textBaseline = "middle";
    /**
     * @param {Position[]} positions
     * @param {number[]} all
     * @param {number} extent
     * @param {number} scroll
     * @param {any} draw
     */
    const names = (positions, all, extent, scroll, draw) => {
      const end = Math.min(all.length, Math.ceil((scroll + extent) / cell));
      for (let i = Math.floor(scroll / cell); i < end; i++) draw(positions[all[i]], i, all[i]);
    };
    context.save();
    context.beginPath();
    context.rect(0, top, left, shown.height - top);
    context.clip();
    names(
      sheet.queries,
      rows,
      shown.height - top,
      element.scrollTop,
      (/** @type {Position} */ position, /** @type {number} */ index, /** @type {number} */ at) => {
        this.label(position, left - 7, top - element.scrollTop + (index + 0.5) * cell, "right", cursor?.query === at);
      },
    );
    context.restore();
    context.save();
    context.beginPath();
    context.rect(left, 0, shown.width - left, top);
    context.clip();
    names(
      sheet.keys,
      columns,
      shown.width - left,
      element.scrollLeft,
      (/** @type {Position} */ position, /** @type {number} */ index, /** @type {number} */ at) => {
        context.save();
        context.translate(left - element.scrollLeft + (index + 0.5) * cell, top - 6);
        context.rotate(-Math.PI / 2);
        this.label(position, 0, 0, "left", cursor?.key === at);
        context.restore();
      },
    );
    context.restore();
  }

  /**
   * @param {{ text: string, special: any }} given
   * @param {number} x
   * @param {number} y
   * @param {string} align
   * @param {boolean} strong
   */
  label({ text, special }, x, y, align, strong) {
    const { context, labels, theme } = this;
    context.fillStyle = strong || !special ? theme.text : theme.muted;
    context.font = strong ? `bold ${labels.font}` : labels.font;
    context.textAlign = /** @type {CanvasTextAlign} */ (align);
    context.fillText(labels.shorten(text, LONGEST), x, y);
  }

  /** @param {PointerEvent} event */
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.left + this.element.scrollLeft) / this.cell);
    const row = Math.floor((event.clientY - box.top - this.top + this.element.scrollTop) / this.cell);
    const inside = row in this.rows && column in this.columns;
    this.move(inside ? { query: this.rows[row], key: this.columns[column] } : null);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, number[]>} */
    const steps = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      Home: [0, -1e4],
      End: [0, 1e4],
    };
    if (!(event.key in steps) || !this.rows.length || !this.columns.length) return;
    event.preventDefault();
    event.stopPropagation();
    const [down, right] = steps[event.key];
    const { query, key } = this.cursor ?? { query: null, key: null };
    const start = query === null || key === null;
    const row = start ? 0 : clamp(this.rows.indexOf(query) + down, this.rows.length);
    const column = start ? 0 : clamp(this.columns.indexOf(key) + right, this.columns.length);
    this.move({ query: this.rows[row], key: this.columns[column], spoken: true });
    this.reveal(row, column);
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  reveal(row, column) {
    const { element, cell, left, top, shown } = this;
    /**
     * @param {number} scroll
     * @param {number} start
     * @param {number} extent
     */
    const within = (scroll, start, extent) => Math.min(start, Math.max(scroll, start + cell - extent));
    element.scrollTop = within(element.scrollTop, row * cell, shown.height - top - 2);
    element.scrollLeft = within(element.scrollLeft, column * cell, shown.width - left - 2);
  }
}

/**
 * @param {number} value
 * @param {number} count
 */
const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
