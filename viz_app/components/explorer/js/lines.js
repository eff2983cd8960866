// A head as lines between two columns of tokens: queries on the left, keys on the right. It scrolls inside itself; the
// canvas covers only what is visible, and only lines that cross it are drawn.

import { decimals, h } from "../../common/dom.js";
import { Labels } from "./geometry.js";
import { inSight, within } from "./map.js";
import { resize } from "./paint.js";

const FAINTEST = 3; // a line whose tone is below this index cannot be seen
const MOST = 6000; // lines that are drawn at once, the strongest ones
const PAST = 0.35; // how strong lines of earlier rows are while the translation is being written
const NUMBER = 44; // width of a number
const LOW = 20;
const HIGH = 30;

export class Lines {
  /** @type {Picture} */
  picture;
  /** @type {Theme} */
  theme;
  /** @type {any} */
  found;
  /** @type {Labels} */
  labels;
  stale = false; // whether the font of the labels has come since
  /** @type {{ limit: number, step: number, shown: { width: number, height: number }, left: number, right: number }} */
  geometry;
  /** @type {CanvasRenderingContext2D} */
  context;
  /** @type {boolean} */
  omitted;

  /**
   * @param {any} hand What it is worked with, as for LargeMap.
   */
  constructor(hand) {
    this.hand = hand;
    this.canvas = h("canvas", { "aria-hidden": true });
    this.space = h("div", { class: "map-space" }, this.canvas);
    this.element = h(
      "div",
      {
        class: "lines",
        tabindex: "0",
        role: "application",
        pointermove: (event) => this.move(this.tokenAt(event)),
        pointerdown: (event) => this.move(this.tokenAt(event)),
        pointerleave: (event) => event.pointerType === "mouse" && this.move(null),
        click: (event) => this.pick(this.tokenAt(event)),
        scroll: () => this.draw(),
        keydown: (event) => this.key(event),
      },
      this.space,
    );
  }

  /**
   * @param {Picture} picture
   * @param {Theme} theme
   * @param {string} label
   */
  show(picture, theme, label) {
    this.picture = picture;
    this.theme = theme;
    this.element.setAttribute("aria-label", label);
    this.found = null;
  }

  /**
   * @param {number} width
   * @param {number} height
   * @param {number} tallest
   */
  layout(width, height, tallest) {
    const { sheet, rows, columns } = this.picture;
    const size = width < 420 ? 11 : 12.5;
    if (this.stale || this.labels?.size !== size || this.labels.family !== this.theme.code) {
      this.labels = new Labels(this.theme.code, size);
      this.stale = false;
    }
    const limit = Math.min(150, width * 0.23);
    /** @param {Position[]} positions */
    const widest = (positions) =>
      Math.ceil(Math.max(8, ...positions.map(({ text }) => Math.min(limit, this.labels.width(text)))));
    const left = widest(rows.map((query) => sheet.queries[query])) + NUMBER + 14;
    const right = widest(columns.map((key) => sheet.keys[key])) + NUMBER + 14;
    const count = Math.max(1, rows.length, columns.length);
    const step = Math.max(LOW, Math.min(HIGH, Math.floor((height - 2) / count)));
    const shown = {
      width: Math.min(width, left + right + 420),
      height: Math.min(count * step + 2, Math.max(tallest, height)),
    };
    this.geometry = { limit, step, shown, left, right: shown.width - right };
    this.space.style.width = `${shown.width}px`;
    this.space.style.height = `${count * step + 2}px`;
    this.element.style.width = `${shown.width}px`;
    this.element.style.height = `${shown.height}px`;
    // Where the lines start and end, for whoever reads pixels.
    Object.assign(this.element.dataset, { left, right: this.geometry.right, step, size });
    this.context = resize(this.canvas, shown.width, shown.height);
  }

  /** Whether there is room for the readout beside it. */
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
    if (query !== null) return written > rows.indexOf(query) && rows.includes(query) ? { query, key: null } : null;
    return existing > columns.indexOf(key) && columns.includes(key) ? { query, key } : null;
  }

  draw() {
    const { context, geometry, theme } = this;
    if (!geometry) return;
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = geometry.shown;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    const focus = this.focus();
    this.drawLines(this.wanted(focus));
    this.drawSide("query", focus);
    this.drawSide("key", focus);
  }

  /**
   * What is to be drawn, by tone: lists of slots [q, k, q, k ...]; the lines of one token, or all.
   * @param {any} focus
   */
  wanted(focus) {
    if (focus) return this.collect(focus);
    this.found ??= this.collect();
    return this.found;
  }

  /** @param {Cursor | null} [focus] */
  collect(focus = null) {
    const { rows, columns, written, existing } = this.picture;
    /** @type {number[][]} */
    const levels = Array.from({ length: 256 }, () => []);
    for (let q = 0; q < written; q++) {
      if (focus && focus.query !== null && focus.query !== rows[q]) continue;
      for (let k = 0; k < existing; k++) {
        if (focus && focus.key !== null && focus.key !== columns[k]) continue;
        const tone = this.picture.forbidden(rows[q], columns[k]) ? 0 : this.picture.tone(rows[q], columns[k]);
        if (tone >= FAINTEST) levels[tone].push(q, k);
      }
    }
    return levels;
  }

  /**
   * Strong lines lie above faint ones.
   * @param {any} levels
   */
  drawLines(levels) {
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
    const newest = picture.current === null || this.focus() ? -1 : picture.rows.indexOf(picture.current);
    context.strokeStyle = theme.kinds[picture.sheet.kind];
    context.lineCap = "round";
    for (let tone = first; tone < 256; tone++) {
      const lines = levels[tone];
      for (const past of newest < 0 ? [false] : [true, false]) {
        context.globalAlpha = (tone / 255) * (past ? PAST : 1);
        context.lineWidth = 1 + (2 * tone) / 255;
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
   * The tone down to which the lines in sight may be drawn without drawing too many.
   * @param {any} levels
   * @param {(q: number, k: number) => boolean} inside
   */
  weakest(levels, inside) {
    let count = 0;
    let tone = 255;
    for (; tone >= FAINTEST; tone--) {
      for (let i = 0; i < levels[tone].length; i += 2) count += Number(inside(levels[tone][i], levels[tone][i + 1]));
      if (count > MOST) break;
    }
    this.omitted = count > MOST;
    return tone + 1;
  }

  /**
   * One column of tokens; beside those of the other side stand the weights of the token in focus.
   * @param {string} side
   * @param {any} focus
   */
  drawSide(side, focus) {
    const { context, geometry, labels, theme, picture } = this;
    const { step, left, right, shown, limit } = geometry;
    const query = side === "query";
    const [indices, count, positions] = query
      ? [picture.rows, picture.written, picture.sheet.queries]
      : [picture.columns, picture.existing, picture.sheet.keys];
    const facing = focus && focus[side] === null;
    const x = query ? left - 8 : right + 8;
    context.textBaseline = "middle";
    for (let [slot, end] = inSight(count, this.element.scrollTop, shown.height, step); slot < end; slot++) {
      const index = indices[slot];
      const y = (slot + 0.5) * step - this.element.scrollTop;
      const cell = facing ? { ...focus, [side]: index } : null;
      if (cell) this.drawShare(cell, query ? 0 : right + 2, y, query ? left - 2 : shown.width - right - 2);
      const strong = (focus && focus[side] === index) || (query && picture.current === index);
      const { text, special, start } = positions[index];
      const short = labels.shorten(text, limit);
      context.font = strong ? `bold ${labels.font}` : labels.font;
      context.fillStyle = strong || cell || !special ? theme.text : theme.muted;
      context.textAlign = query ? "right" : "left";
      context.fillText(short, x, y);
      if (start && picture.sheet.unit === "pieces")
        this.drawStart(query ? x - context.measureText(short).width - 4 : x - 4, y);
      if (picture.pin?.[/** @type {"query" | "key"} */ (side)] === index)
        this.drawPin(query ? x + 3 : x - 3, y, context.measureText(short).width + 6, query);
      if (cell) this.drawNumber(cell, query ? 2 : shown.width - 2, y, query);
    }
  }

  /**
   * The thin mark at the start of a word.
   * @param {number} x
   * @param {number} y
   */
  drawStart(x, y) {
    const { context, labels, theme } = this;
    context.fillStyle = theme.mark;
    context.fillRect(Math.round(x), y - labels.size * 0.4, 1, labels.size * 0.8);
  }

  /**
   * Behind a token: how much the token in focus looks at it, or is looked at by it.
   * @param {{ query: number, key: number }} cell
   * @param {number} x
   * @param {number} y
   * @param {number} width
   */
  drawShare({ query, key }, x, y, width) {
    const { context, picture, theme, geometry } = this;
    if (picture.forbidden(query, key)) return;
    context.globalAlpha = 0.35 * (picture.tone(query, key) / 255);
    context.fillStyle = theme.kinds[picture.sheet.kind];
    context.fillRect(x, y - geometry.step / 2 + 1, width, geometry.step - 2);
    context.globalAlpha = 1;
  }

  /**
   * @param {{ query: number, key: number }} cell
   * @param {number} x
   * @param {number} y
   * @param {boolean} left
   */
  drawNumber({ query, key }, x, y, left) {
    const { context, picture, labels, theme } = this;
    const weight = picture.sheet.at(query, key);
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
  tokenAt(event) {
    const { left, right, step } = this.geometry;
    const { rows, columns, written, existing } = this.picture;
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const slot = Math.floor((event.clientY - box.top + this.element.scrollTop) / step);
    if (x <= left && slot < written) return { query: rows[slot], key: null };
    if (x >= right && slot < existing) return { query: null, key: columns[slot] };
    return null;
  }

  /** @param {any} cursor */
  move(cursor) {
    const old = this.hand.cursor();
    if (old?.query !== cursor?.query || old?.key !== cursor?.key) this.hand.move(cursor);
  }

  /** @param {Cursor | null} token */
  pick(token) {
    if (token) this.hand.pick(token);
  }

  /**
   * Up and down go to the neighbours, left and right to the other side, Enter and the space bar pin.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const focus = this.focus();
    if (event.key === "Escape" && this.hand.cursor()) {
      event.preventDefault(); // only the next one leaves this zoom
      return this.move(null);
    }
    if ((event.key === "Enter" || event.key === " ") && focus) {
      event.preventDefault();
      event.stopPropagation();
      return this.pick(focus);
    }
    /** @type {Record<string, number>} */
    const ways = {
      ArrowUp: -1,
      ArrowDown: 1,
      PageUp: -10,
      PageDown: 10,
      Home: -Infinity,
      End: Infinity,
      ArrowLeft: 0,
      ArrowRight: 0,
    };
    if (!(event.key in ways) || !this.picture.written || !this.picture.existing) return;
    event.preventDefault();
    event.stopPropagation();
    this.step(focus, event.key, ways[event.key]);
  }

  /**
   * @param {any} focus
   * @param {string} key
   * @param {number} way
   */
  step(focus, key, way) {
    const { rows, columns, written, existing, current } = this.picture;
    const was = focus ? (focus.query !== null ? "query" : "key") : null;
    const side = key === "ArrowLeft" ? "query" : key === "ArrowRight" ? "key" : (was ?? "query");
    const [indices, count] = side === "query" ? [rows, written] : [columns, existing];
    const start = was
      ? (was === "query" ? rows : columns).indexOf(focus[was])
      : Math.max(0, rows.indexOf(current ?? -1));
    const slot = Math.max(0, Math.min(count - 1, was ? start + way : start));
    const index = indices[slot];
    this.move(side === "query" ? { query: index, key: null, spoken: true } : { query: null, key: index, spoken: true });
    this.reveal(side === "query" ? slot : -1, side === "key" ? slot : -1);
  }

  /**
   * Scrolls a slot of the left or of the right column into sight.
   * @param {number} q
   * @param {number} k
   */
  reveal(q, k) {
    const slot = q >= 0 ? q : k;
    const { step, shown } = this.geometry;
    if (slot >= 0) this.element.scrollTop = within(this.element.scrollTop, slot * step, step, shown.height - 2);
  }
}
