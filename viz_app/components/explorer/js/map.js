// The large map of one head: cells, labels of both axes, crosshair. It scrolls inside itself when it is too large; the
// canvas covers only what is visible and is drawn again at every scroll.

import { h } from "./dom.js";
import { ARROW, Labels, measureMap } from "./geometry.js";
import { resize } from "./paint.js";

const HATCH = 6; // distance of two hatch lines, in CSS pixels

export class LargeMap {
  constructor(store) {
    this.store = store;
    this.canvas = h("canvas", { "aria-hidden": true });
    this.space = h("div", { class: "map-space" }, this.canvas);
    this.element = h(
      "div",
      {
        class: "map",
        tabindex: "0",
        role: "application",
        pointermove: (event) => this.point(event),
        pointerdown: (event) => this.point(event),
        pointerleave: (event) => this.leave(event),
        scroll: () => this.draw(),
        keydown: (event) => this.key(event),
      },
      this.space,
    );
    this.cells = document.createElement("canvas");
  }

  /** Takes over what is to be seen. */
  show(sheet, theme, { current, label }) {
    Object.assign(this, { sheet, theme, current });
    this.element.setAttribute("aria-label", label);
    this.paintCells();
  }

  /** Fits the map into a width and, while the cells can shrink, a height. */
  layout(width, height, tallest) {
    const size = width < 420 || this.sheet.keys.length > 40 ? 11 : 12.5;
    if (this.labels?.size !== size || this.labels.family !== this.theme.code) {
      this.labels = new Labels(this.theme.code, size);
      this.labels.family = this.theme.code;
    }
    this.geometry = measureMap(this.sheet, this.labels, width, height, tallest);
    const { full, shown } = this.geometry;
    this.space.style.width = `${full.width}px`;
    this.space.style.height = `${full.height}px`;
    this.element.style.width = `${shown.width}px`;
    this.element.style.height = `${shown.height}px`;
    // Where the cells lie, for whoever reads pixels.
    Object.assign(this.element.dataset, { left: this.geometry.left, top: this.geometry.top, cell: this.geometry.cell });
    this.context = resize(this.canvas, shown.width, shown.height);
  }

  /** One pixel for each cell; scaled up without smoothing when drawn. */
  paintCells() {
    const { sheet, theme } = this;
    this.cells.width = sheet.keys.length;
    this.cells.height = Math.max(1, sheet.rows);
    const context = this.cells.getContext("2d");
    const image = context.createImageData(this.cells.width, this.cells.height);
    const pixels = new Uint32Array(image.data.buffer);
    const toColour = sheet.scale * 255;
    for (let i = 0; i < sheet.rows * sheet.keys.length; i++) {
      pixels[i] = theme.pixels[Math.min(255, Math.round(sheet.values[sheet.start + i] * toColour))];
    }
    context.putImageData(image, 0, 0);
  }

  draw() {
    const { context, geometry, theme } = this;
    if (!geometry) return;
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = geometry.shown;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(geometry.left, geometry.top, width - geometry.left, height - geometry.top);
    context.clip();
    context.translate(geometry.left - this.element.scrollLeft, geometry.top - this.element.scrollTop);
    this.drawCells();
    context.restore();
    this.drawLabels();
  }

  /** The cells, with the origin at the first of them. */
  drawCells() {
    const { context, geometry, theme, sheet } = this;
    const { cell } = geometry;
    const K = sheet.keys.length;
    const right = sheet.columns * cell;
    const bottom = sheet.rows * cell;
    context.imageSmoothingEnabled = false;
    if (sheet.rows) context.drawImage(this.cells, 0, 0, K, sheet.rows, 0, 0, K * cell, bottom);
    if (sheet.causal) this.drawHatch(cell, right, bottom);
    if (cell >= 10) this.drawGrid(cell, right, bottom);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(0.5, 0.5, K * cell - 1, sheet.queries.length * cell - 1);
    if (this.current !== null) this.outline(0, this.current * cell, right, cell, theme.kinds[sheet.kind], 2);
    this.drawCrosshair(cell, right, bottom);
  }

  /** Thin gaps between the cells. */
  drawGrid(cell, right, bottom) {
    const { context, theme, sheet } = this;
    context.fillStyle = theme.background;
    context.globalAlpha = 0.75;
    for (let k = 1; k < sheet.columns; k++) context.fillRect(k * cell - 0.5, 0, 1, bottom);
    for (let q = 1; q < sheet.rows; q++) context.fillRect(0, q * cell - 0.5, right, 1);
    context.globalAlpha = 1;
  }

  drawHatch(cell, right, bottom) {
    const { context, theme, sheet } = this;
    context.save();
    context.beginPath();
    for (let q = 0; q < sheet.rows; q++) context.rect((q + 1) * cell, q * cell, right - (q + 1) * cell, cell);
    context.clip();
    context.fillStyle = theme.background;
    context.fillRect(0, 0, right, bottom);
    context.strokeStyle = theme.hatch;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = -bottom; x < right; x += HATCH) {
      context.moveTo(x, bottom);
      context.lineTo(x + bottom, 0);
    }
    context.stroke();
    context.restore();
  }

  drawCrosshair(cell, right, bottom) {
    const cursor = this.store.state.cursor;
    if (!cursor) return;
    const colour = this.theme.kinds[this.sheet.kind];
    const { query, key } = cursor;
    if (query !== null) this.outline(0, query * cell, right, cell, colour, 1);
    if (key !== null) this.outline(key * cell, 0, cell, bottom, colour, 1);
    if (query !== null && key !== null) this.outline(key * cell, query * cell, cell, cell, this.theme.text, 2);
  }

  outline(x, y, width, height, colour, line) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = line;
    this.context.strokeRect(x + line / 2, y + line / 2, width - line, height - line);
  }

  drawLabels() {
    const { context, geometry, sheet } = this;
    const { left, top, cell, angle, next, shown } = geometry;
    const cursor = this.store.state.cursor;
    context.font = this.labels.font;
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, top, left, shown.height - top);
    context.clip();
    this.each(sheet.rows, this.element.scrollTop, shown.height - top, (q) => {
      const y = top - this.element.scrollTop + (q + 0.5) * cell;
      this.drawNext(sheet.queries[q], left - 8, y);
      this.drawLabel(sheet.queries[q], left - 8 - next, y, "right", cursor?.query === q || this.current === q);
    });
    context.restore();
    context.save();
    context.beginPath();
    context.rect(left - 8, 0, shown.width - left + 8, top);
    context.clip();
    this.each(sheet.columns, this.element.scrollLeft, shown.width - left, (k) => {
      context.save();
      context.translate(left - this.element.scrollLeft + (k + 0.5) * cell, top - 6);
      context.rotate(-angle);
      this.drawLabel(sheet.keys[k], 2, 0, "left", cursor?.key === k);
      context.restore();
    });
    context.restore();
  }

  /** Calls for the positions that are in sight. */
  each(count, scroll, extent, draw) {
    const { cell } = this.geometry;
    const end = Math.min(count, Math.ceil((scroll + extent) / cell) + 1);
    for (let i = Math.max(0, Math.floor(scroll / cell)); i < end; i++) draw(i);
  }

  /** A label; the start of a word carries a thin mark, a special token stands back. */
  drawLabel({ text, start, special }, x, y, align, strong) {
    const { context, geometry, labels, theme, sheet } = this;
    const short = labels.shorten(text, geometry.limit);
    context.fillStyle = strong || !special ? theme.text : theme.muted;
    context.textAlign = align;
    context.font = strong ? `bold ${labels.font}` : labels.font;
    context.fillText(short, x, y);
    if (!start || sheet.unit === "words") return;
    const edge = align === "left" ? x - 4 : x - context.measureText(short).width - 4;
    context.fillStyle = theme.mark;
    context.fillRect(Math.round(edge), y - labels.size * 0.4, 1, labels.size * 0.8);
  }

  /** Beside what the decoder has read: what this row helps to write. */
  drawNext({ next }, x, y) {
    const { context, geometry, labels, theme } = this;
    if (!geometry.next || !next) return;
    context.fillStyle = theme.muted;
    context.textAlign = "left";
    context.font = labels.font;
    context.fillText(labels.shorten(`${ARROW}${next}`, geometry.next), x - geometry.next + 6, y);
  }

  /** The cell, row label or column label under the pointer. */
  point(event) {
    const { left, top, cell } = this.geometry;
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const query = y < top ? null : Math.floor((y - top + this.element.scrollTop) / cell);
    const key = x < left ? null : Math.floor((x - left + this.element.scrollLeft) / cell);
    const inside = (query === null || query < this.sheet.rows) && (key === null || key < this.sheet.columns);
    this.move(inside && (query !== null || key !== null) ? { query, key } : null);
  }

  leave(event) {
    if (event.pointerType === "mouse") this.move(null);
  }

  move(cursor) {
    const old = this.store.state.cursor;
    if (old?.query !== cursor?.query || old?.key !== cursor?.key) this.store.set({ cursor });
  }

  key(event) {
    const { rows, columns } = this.sheet;
    const { query, key } = this.store.state.cursor ?? {};
    const start = query === undefined || query === null || key === undefined || key === null;
    const steps = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      Home: [0, -columns],
      End: [0, columns],
      PageUp: [-rows, 0],
      PageDown: [rows, 0],
    };
    if (event.key === "Escape") this.move(null);
    if (!(event.key in steps) || !rows) return;
    event.preventDefault();
    event.stopPropagation();
    const [down, right] = steps[event.key];
    const cursor = start
      ? { query: this.current ?? 0, key: 0 }
      : {
          query: Math.max(0, Math.min(rows - 1, query + down)),
          key: Math.max(0, Math.min(columns - 1, key + right)),
        };
    this.move({ ...cursor, spoken: true });
    this.reveal(cursor);
  }

  /** Scrolls a cell into sight. */
  reveal({ query, key }) {
    const { cell, left, top, shown } = this.geometry;
    const within = (scroll, start, extent) => Math.min(start, Math.max(scroll, start + cell - extent));
    this.element.scrollTop = within(this.element.scrollTop, query * cell, shown.height - top - 2);
    this.element.scrollLeft = within(this.element.scrollLeft, key * cell, shown.width - left - 2);
  }
}
