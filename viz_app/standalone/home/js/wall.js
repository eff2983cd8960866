// The wall: every head of a translation, the heads of a kind on one canvas. What is new fades in; rows glow.

import { context2d } from "../../../components/common/draw/canvas.js";
import { AXES, headAddress } from "../../../components/common/heads/heads.js";
import { h } from "../../../components/common/page/dom.js";
import { Look, paintHead } from "../../../components/explorer/js/draw/paint.js";
import { copy, still } from "../../../components/explorer/js/draw/transition.js";

const GLOW = 700; // milliseconds
const PLATE = "#171d29"; // of a tile
const GAP = 0.055; // between tiles, as a share of the place of one

/** All heads of a kind. */
export class Wall {
  /** @type {View} */
  view;
  frame = 0;

  /**
   * @param {Kind} kind
   * @param {string} title
   * @param {(head?: string) => string} address Of the page that opens a head.
   */
  constructor(kind, title, address) {
    this.kind = kind;
    this.address = address;
    this.canvas = h("canvas", { "aria-hidden": true });
    this.name = h("span", { class: "wall-head", "aria-hidden": true });
    this.element = h(
      "a",
      {
        class: "wall-kind",
        "data-kind": kind,
        pointermove: (/** @type {PointerEvent} */ event) => this.point(event),
        pointerleave: () => this.name.replaceChildren(),
      },
      h("span", { class: "wall-title" }, title, " ", this.name),
      this.canvas,
    );
    this.fresh = copy(this.canvas); // what the canvas shows when all is at rest
  }

  /** @param {PointerEvent} event */
  point({ offsetX, offsetY, target }) {
    if (target !== this.canvas || !this.view) return;
    const { layers, heads } = this.view;
    const at = (/** @type {number} */ place, /** @type {number} */ extent, /** @type {number} */ count) =>
      Math.min(count - 1, Math.max(0, Math.floor((place / extent) * count)));
    const layer = at(offsetY, this.canvas.clientHeight, layers);
    const head = at(offsetX, this.canvas.clientWidth, heads);
    this.name.textContent = headAddress({ kind: this.kind, layer, head });
    this.element.href = this.address(this.name.textContent);
  }

  /**
   * Paints what there is of a translation.
   * @param {View} view
   * @param {Pick<State, "scale" | "threshold" | "special">} state
   * @param {Theme} theme
   * @param {number | "all" | null} glows The row that glows.
   * @param {boolean} empty Whether the tiles are.
   */
  paint(view, state, theme, glows, empty) {
    const { canvas, fresh } = this;
    this.view = view;
    this.element.href = this.address();
    const ratio = window.devicePixelRatio || 1;
    const old = copy(canvas);
    const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio].map(Math.round);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    Object.assign(fresh, { width, height });
    const context = context2d(fresh);
    const look = new Look(view, state, theme, null);
    if (empty) look.rows = 0;
    const gap = Math.max(1, Math.round((GAP * width) / view.heads));
    const tile = document.createElement("canvas");
    const sides = this.sides(gap);
    Object.assign(tile, sides);
    for (const [layer, head] of view.present(Array.from({ length: view.layers }, (_, layer) => layer))) {
      paintHead(context2d(tile), view, layer, head, look);
      const [x, y] = [head * (sides.width + gap), layer * (sides.height + gap)];
      context.globalCompositeOperation = "source-over";
      context.fillStyle = PLATE;
      context.fillRect(x, y, sides.width, sides.height);
      context.globalCompositeOperation = "lighten";
      context.drawImage(tile, x, y);
    }
    const rows = view.queries.length;
    const [top, part] = typeof glows === "number" ? [glows / rows, 1 / rows] : [0, 1];
    const strong = glows === null ? 0 : glows === "all" ? 0.25 : 0.55;
    this.draw({ old, gap, top, part, strong, colour: theme.kinds[this.kind], start: performance.now() });
  }

  /**
   * The size of a tile in the pixels of the screen.
   * @param {number} gap
   */
  sides(gap) {
    const { canvas, view } = this;
    const side = (/** @type {number} */ extent, /** @type {number} */ count) =>
      Math.max(1, Math.floor((extent + gap) / count) - gap);
    return { width: side(canvas.width, view.heads), height: side(canvas.height, view.layers) };
  }

  /** @param {{ old: HTMLCanvasElement, gap: number, top: number, part: number, strong: number, colour: string, start: number }} motion */
  draw(motion) {
    cancelAnimationFrame(this.frame);
    const { old, gap, top, part, strong, colour, start } = motion;
    const { canvas, fresh, view } = this;
    const share = still() ? 1 : Math.min(1, (performance.now() - start) / GLOW);
    const context = context2d(canvas);
    const { width, height } = this.sides(gap);
    context.globalAlpha = 1;
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(fresh, 0, 0);
    if (share === 1) return;
    context.globalAlpha = 1 - Math.min(1, 3 * share);
    if (old.width) context.drawImage(old, 0, 0, canvas.width, canvas.height);
    context.globalAlpha = strong * (1 - share) ** 2;
    context.globalCompositeOperation = "lighter";
    context.fillStyle = colour;
    for (let layer = 0; layer < view.layers; layer++)
      for (let head = 0; head < view.heads; head++)
        context.fillRect(
          head * (width + gap),
          layer * (height + gap) + top * height,
          width,
          Math.max(1, part * height),
        );
    context.globalCompositeOperation = "source-over";
    this.frame = requestAnimationFrame(() => this.draw(motion));
  }
}

/**
 * The rows of a kind that a step adds: the encoder has all of them before the first token.
 * @param {Kind} kind
 * @param {number} step
 */
export function newRow(kind, step) {
  if (AXES[kind].queries === "source") return step ? null : "all";
  return step ? step - 1 : null;
}
