// Motion that explains: a new sentence fades in over the old one, tiles that change places slide there, a pressed one grows.

import { context2d } from "../../../common/draw/canvas.js";

const FADE = 200; // milliseconds
const SLIDE = 320;
const GROW = 200;

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Fades canvases from what they show now to what they are painted with next. */
export class Fade {
  /** @type {[HTMLCanvasElement, HTMLCanvasElement][] | null} */
  old;
  /** @type {number} */
  frame;

  /**
   * Keeps the pictures as they are; call `start` when the new ones are painted.
   * @param {HTMLCanvasElement[]} canvases
   */
  keep(canvases) {
    cancelAnimationFrame(this.frame);
    this.old = still() ? null : canvases.map((canvas) => [canvas, copy(canvas)]);
  }

  start() {
    cancelAnimationFrame(this.frame);
    if (!this.old) return;
    const layers = this.old.map(([canvas, old]) => ({ canvas, old, fresh: copy(canvas) }));
    this.old = null;
    this.draw(layers, performance.now());
  }

  /** Ends a fade that runs, as its canvases are painted anew. */
  stop() {
    cancelAnimationFrame(this.frame);
    this.old = null;
  }

  /**
   * @param {{ canvas: HTMLCanvasElement, old: HTMLCanvasElement, fresh: HTMLCanvasElement }[]} layers
   * @param {number} start
   */
  draw(layers, start) {
    const share = Math.min(1, Math.max(0, (performance.now() - start) / FADE));
    for (const { canvas, old, fresh } of layers) {
      const context = context2d(canvas);
      context.globalAlpha = 1;
      context.drawImage(fresh, 0, 0);
      context.globalAlpha = 1 - share;
      if (old.width && share < 1) context.drawImage(old, 0, 0, canvas.width, canvas.height);
      context.globalAlpha = 1;
    }
    if (share < 1) this.frame = requestAnimationFrame(() => this.draw(layers, start));
  }
}

/**
 * Where elements stand now; the answer, called later, slides them from there to where they stand then.
 * @param {Element[]} elements
 */
export function slideFrom(elements) {
  if (still()) return () => {};
  const before = elements.map((element) => element.getBoundingClientRect());
  return () => {
    const after = elements.map((element) => element.getBoundingClientRect());
    elements.forEach((element, index) => {
      const x = before[index].left - after[index].left;
      const y = before[index].top - after[index].top;
      if (!before[index].width || (Math.abs(x) < 1 && Math.abs(y) < 1)) return;
      element.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], {
        duration: SLIDE,
        easing: "ease-in-out",
      });
    });
  };
}

/**
 * Lets an element grow from another place.
 * @param {DOMRect} from
 * @param {HTMLElement} element
 */
export function growFrom(from, element) {
  const to = element.getBoundingClientRect();
  if (still() || !to.width) return;
  const move = `translate(${from.left - to.left}px, ${from.top - to.top}px)`;
  const transform = `${move} scale(${from.width / to.width}, ${from.height / to.height})`;
  const both = { transformOrigin: "0 0", zIndex: 3 };
  element.animate(
    [
      { ...both, transform },
      { ...both, transform: "none" },
    ],
    { duration: GROW, easing: "ease-out" },
  );
}

/** @param {HTMLCanvasElement} canvas */
export function copy(canvas) {
  const twin = document.createElement("canvas");
  twin.width = canvas.width;
  twin.height = canvas.height;
  if (canvas.width && canvas.height) context2d(twin).drawImage(canvas, 0, 0);
  return twin;
}
