// A head as lines between two columns of tokens: queries on the left, keys on the right. Only lines that cross what is
// visible are drawn.

import { arrowStep } from "../../../common/page/arrowkeys.js";
import { clamp, consume, hasModifier } from "../../../common/page/keyboard.js";
import { decimals } from "../../../common/text/format.js";
import { measureLines } from "./geometry.js";
import { PictureCanvas } from "./picturecanvas.js";
import { inSight } from "./scrollcanvas.js";

const FAINTEST = 3; // a line with a lower index of its colour cannot be seen
const MAX = 6000; // lines that are drawn at once, the strongest ones
const PAST = 0.35; // how strong lines of earlier rows are while the translation is being written

/** @type {Record<string, number>} */
const PAGES = { PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

/** @typedef {number[][]} Levels By index of the colour: slots [q, k, q, k ...]. */

export class Lines extends PictureCanvas {
  /** @type {Levels | null} */
  all;
  /** @type {ReturnType<typeof measureLines>} */
  geometry;
  /** @type {boolean} */
  omitted;

  /**
   * @param {Picture} picture
   * @param {Theme} theme
   * @param {string} label
   */
  show(picture, theme, label) {
    super.show(picture, theme, label);
    this.all = null;
  }

  /**
   * @param {number} width
   * @param {number} height
   * @param {number} tallest
   */
  layout(width, height, tallest) {
    const { matrix, rows, columns } = this.picture;
    const size = width < 420 ? 11 : 12.5;
    this.useLabels(size);
    const axes = { queries: rows.map((query) => matrix.queries[query]), keys: columns.map((key) => matrix.keys[key]) };
    this.geometry = measureLines(axes, this.labels, width, height, tallest);
    const { step, shown, left, right, full } = this.geometry;
    this.resize({ width: shown.width, height: full }, shown);
    // Where the lines start and end, for tests of pixels.
    Object.assign(this.element.dataset, { left, right, step, size });
  }

  /** Whether there is room for the notes beside it. */
  roomy() {
    return this.geometry.right - this.geometry.left >= 120;
  }

  /** The token whose lines are to be seen: the one under the pointer or of the keyboard, else what is pinned. */
  focus() {
    const cursor = this.hand.cursor();
    const focus = cursor ?? this.picture.pin;
    if (!focus) return null;
    const { query, key } = focus;
    const { rows, columns, written, existing } = this.picture;
    const slot = query !== null ? rows.indexOf(query) : columns.indexOf(key ?? -1);
    if (slot < 0 || slot >= (query !== null ? written : existing)) return null;
    return { query, key: query !== null ? null : key };
  }

  draw() {
    if (!this.geometry) return;
    const focus = this.focus();
    this.context = this.begin(this.geometry.shown);
    this.all ??= this.collect();
    this.drawLines(focus ? this.collect(focus) : this.all, focus);
    this.drawSide("query", focus);
    this.drawSide("key", focus);
  }

  /**
   * What is to be drawn: the lines of one token, or all.
   * @param {Cursor | null} [focus]
   */
  collect(focus = null) {
    const { rows, columns, written, existing } = this.picture;
    /** @type {number[][]} */
    const levels = Array.from({ length: 256 }, () => []);
    for (let q = 0; q < written; q++) {
      if (focus && focus.query !== null && focus.query !== rows[q]) continue;
      for (let k = 0; k < existing; k++) {
        if (focus && focus.key !== null && focus.key !== columns[k]) continue;
        const index = this.picture.forbidden(rows[q], columns[k]) ? 0 : this.picture.colourIndex(rows[q], columns[k]);
        if (index >= FAINTEST) levels[index].push(q, k);
      }
    }
    return levels;
  }

  /**
   * Strong lines lie above faint ones.
   * @param {Levels} levels
   * @param {Cursor | null} focus
   */
  drawLines(levels, focus) {
    const { context, geometry, theme, picture } = this;
    const { step, left, right, shown } = geometry;
    const top = this.element.scrollTop;
    /** @param {number} slot */
    const y = (slot) => (slot + 0.5) * step - top;
    /**
     * @param {number} q
     * @param {number} k
     */
    const inside = (q, k) => Math.max(y(q), y(k)) >= 0 && Math.min(y(q), y(k)) <= shown.height;
    const first = this.weakest(levels, inside);
    const newest = picture.current === null || focus ? -1 : picture.rows.indexOf(picture.current);
    context.strokeStyle = theme.kinds[picture.matrix.kind];
    context.lineCap = "round";
    for (let index = first; index < 256; index++) {
      const lines = levels[index];
      for (const past of newest < 0 ? [false] : [true, false]) {
        context.globalAlpha = (index / 255) * (past ? PAST : 1);
        context.lineWidth = 1 + (2 * index) / 255;
        context.beginPath();
        for (let i = 0; i < lines.length; i += 2) {
          if (newest >= 0 && (lines[i] !== newest) !== past) continue;
          if (!inside(lines[i], lines[i + 1])) continue;
          context.moveTo(left, y(lines[i]));
          context.lineTo(right, y(lines[i + 1]));
        }
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }

  /**
   * Index of the faintest colour whose lines can be drawn without drawing too many.
   * @param {Levels} levels
   * @param {(q: number, k: number) => boolean} inside
   */
  weakest(levels, inside) {
    let count = 0;
    let index = 255;
    for (; index >= FAINTEST; index--) {
      for (let i = 0; i < levels[index].length; i += 2) count += Number(inside(levels[index][i], levels[index][i + 1]));
      if (count > MAX) break;
    }
    this.omitted = count > MAX;
    return index + 1;
  }

  /**
   * Draw one column of tokens, with the weights of the token in focus if that is on the other side.
   * @param {"query" | "key"} side
   * @param {Cursor | null} focus
   */
  drawSide(side, focus) {
    const { geometry, picture } = this;
    const { step, left, right, shown, limit } = geometry;
    const query = side === "query";
    const [indices, count, positions] = query
      ? [picture.rows, picture.written, picture.matrix.queries]
      : [picture.columns, picture.existing, picture.matrix.keys];
    const facing = focus && focus[side] === null;
    const x = query ? left - 8 : right + 8;
    for (let [slot, end] = inSight(count, this.element.scrollTop, shown.height, step); slot < end; slot++) {
      const index = indices[slot];
      const y = (slot + 0.5) * step - this.element.scrollTop;
      const cell = facing ? /** @type {Cell} */ ({ ...focus, [side]: index }) : null;
      if (cell) this.drawShare(cell, query ? 0 : right + 2, y, query ? left - 2 : shown.width - right - 2);
      const bold = focus?.[side] === index || (query && picture.current === index);
      const align = query ? "right" : "left";
      const width = this.drawToken(positions[index], x, y, { align, limit, bold, bright: bold || Boolean(cell) });
      if (picture.pin?.[side] === index) this.drawPin(query ? x + 3 : x - 3, y, width + 6, query);
      if (cell) this.drawNumber(cell, query ? 2 : shown.width - 2, y, query);
    }
  }

  /**
   * Behind a token: how much the token in focus looks at it, or is looked at by it.
   * @param {Cell} cell
   * @param {number} x
   * @param {number} y
   * @param {number} width
   */
  drawShare({ query, key }, x, y, width) {
    const { context, picture, theme, geometry } = this;
    if (picture.forbidden(query, key)) return;
    context.globalAlpha = 0.35 * (picture.colourIndex(query, key) / 255);
    context.fillStyle = theme.kinds[picture.matrix.kind];
    context.fillRect(x, y - geometry.step / 2 + 1, width, geometry.step - 2);
    context.globalAlpha = 1;
  }

  /**
   * @param {Cell} cell
   * @param {number} x
   * @param {number} y
   * @param {boolean} left
   */
  drawNumber({ query, key }, x, y, left) {
    const { context, picture, labels, theme } = this;
    const weight = picture.matrix.at(query, key);
    context.font = labels.font;
    context.textAlign = left ? "left" : "right";
    context.fillStyle = weight < 0.01 ? theme.muted : theme.text;
    context.fillText(picture.forbidden(query, key) ? "\u2013" : decimals(weight), x, y);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {boolean} left
   */
  drawPin(x, y, width, left) {
    const { context, geometry, theme } = this;
    context.strokeStyle = theme.text;
    context.lineWidth = 1.5;
    context.setLineDash([4, 3]);
    context.strokeRect(left ? x - width : x, y - geometry.step / 2 + 1.5, width, geometry.step - 3);
    context.setLineDash([]);
  }

  /**
   * The token at the place of an event: {query, key} of which one is null; null elsewhere.
   * @param {PointerEvent} event
   */
  at(event) {
    const { left, right, step } = this.geometry;
    const { rows, columns, written, existing } = this.picture;
    const { x, y } = this.pointOf(event);
    const slot = Math.floor((y + this.element.scrollTop) / step);
    if (x <= left && slot < written) return { query: rows[slot], key: null };
    if (x >= right && slot < existing) return { query: null, key: columns[slot] };
    return null;
  }

  /** @param {PointerEvent} event */
  click(event) {
    const token = this.at(event);
    if (token) this.hand.pick(token, {});
  }

  /**
   * Up and down go to the neighbours, left and right to the other side, Enter and the space bar pin.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (hasModifier(event)) return;
    const focus = this.focus();
    if (event.key === "Escape" && this.hand.cursor()) {
      event.preventDefault(); // only the next one leaves this zoom
      return this.move(null);
    }
    if ((event.key === "Enter" || event.key === " ") && focus) {
      consume(event);
      return this.hand.pick(focus, {});
    }
    const way = PAGES[event.key] ?? arrowStep(event)?.[0];
    if (way === undefined || !this.picture.written || !this.picture.existing) return;
    consume(event);
    this.step(focus, event.key, way);
  }

  /**
   * @param {Cursor | null} focus
   * @param {string} key
   * @param {number} way
   */
  step(focus, key, way) {
    const { rows, columns, written, existing, current } = this.picture;
    const from = focus?.query ?? focus?.key ?? null;
    const wasQuery = !focus || focus.query !== null;
    const toQuery = key === "ArrowLeft" || (key !== "ArrowRight" && wasQuery);
    const [indices, count] = toQuery ? [rows, written] : [columns, existing];
    const start = from === null ? rows.indexOf(current ?? -1) : (wasQuery ? rows : columns).indexOf(from) + way;
    const slot = clamp(start, 0, count - 1);
    const index = indices[slot];
    this.move({ query: toQuery ? index : null, key: toQuery ? null : index, spoken: true });
    this.reveal(toQuery ? slot : -1, toQuery ? -1 : slot);
  }

  /**
   * Scrolls a slot of the left or of the right column into sight.
   * @param {number} q
   * @param {number} k
   */
  reveal(q, k) {
    const { step, shown } = this.geometry;
    this.scrollTo({ y: Math.max(q, k) * step, height: step }, { width: shown.width, height: shown.height - 2 });
  }
}
