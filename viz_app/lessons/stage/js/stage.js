// The canvas of a lesson: draws the current scene when something changed, glides its playhead while it plays.

import { whenHidden } from "../../../components/common/component.js";
import { context2d } from "../../../components/common/draw/canvas.js";
import { h, setAttribute } from "../../../components/common/page/dom.js";
import { largestZoom } from "./fitting.js";
import { Pen } from "./pen.js";

const STILL_STEP = 900; // milliseconds for which a step stands where motion is not wanted
const FRAMES_KEPT = 600;
const LARGE = 1.3;
const WIDE = 600; // narrower pictures are not enlarged
const EMPTY = 200; // height, in CSS pixels, with a message alone

export class Stage {
  /** @type {boolean} */
  held;
  /** @type {Scene} */
  scene;
  /** @type {number} */
  zoom;
  /** @type {number} */
  ratio;
  /** @type {number} */
  width;
  /** @type {number} */
  height;
  /** @type {number} */
  drawing;
  /** @type {null | number} */
  last;
  /** @type {number} */
  running;
  inSight = false;
  waiting = false; // to play by itself as soon as it is in sight

  /**
   * @param {Lesson} lesson Holds settings(), set(patch), theme, revealed.
   */
  constructor(lesson) {
    this.lesson = lesson;
    this.canvas = h("canvas", { role: "img", tabindex: "0" });
    this.element = h("div", { class: "stage" }, this.canvas);
    this.pointer = null;
    /** @type {number[]} */
    this.frames = []; // milliseconds between the last frames of motion, for measurements
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) this.canvas.addEventListener(name, () => (this.held = false));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.stopWatching = whenHidden(
      this.canvas,
      () => {
        this.inSight = false;
        this.pause();
      },
      () => {
        this.inSight = true;
        this.draw();
        this.playOnce();
      },
    );
    this.motion = matchMedia("(prefers-reduced-motion: reduce)");
  }

  /**
   * Another scene.
   * @param {Scene} scene
   * @param {boolean} untouched Whether nobody has chosen its settings yet.
   */
  take(scene, untouched) {
    this.pause();
    this.scene = scene;
    this.pointer = null;
    this.waiting = untouched && Boolean(scene.playhead?.once) && !this.motion.matches;
    this.measure();
    this.playOnce();
  }

  playOnce() {
    if (!this.waiting || !this.inSight) return;
    this.waiting = false;
    this.play();
  }

  measure() {
    const shown = this.element.clientWidth;
    if (!shown || !this.scene) return;
    // In front of a class the whole picture, type included, is drawn larger.
    const room = this.lesson.room();
    const height = (/** @type {number} */ zoom) => zoom * this.heightFor(Math.floor(shown / zoom), room / zoom);
    this.zoom = this.lesson.presenting && shown >= WIDE ? largestZoom(LARGE, height, room) : 1;
    this.ratio = (window.devicePixelRatio || 1) * this.zoom;
    this.width = Math.floor(shown / this.zoom);
    this.height = Math.round(this.heightFor(this.width, room / this.zoom));
    this.canvas.width = Math.round(shown * (this.ratio / this.zoom));
    this.canvas.height = Math.round(this.height * this.ratio);
    this.canvas.style.height = `${this.height * this.zoom}px`;
    this.draw();
  }

  /**
   * @param {number} width
   * @param {number} room
   */
  heightFor(width, room) {
    return this.scene.isEmpty ? EMPTY : this.scene.height(width, room);
  }

  /** Draws at the next frame, once. */
  draw() {
    if (!this.drawing) this.drawing = requestAnimationFrame((now) => this.paint(now));
  }

  /** @param {number} now */
  paint(now) {
    this.drawing = 0;
    if (!this.scene || !this.width || !this.lesson.theme) return;
    const context = context2d(this.canvas);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.drawOn(context, now);
  }

  /**
   * Draw the scene as it stands, or what is missing, in CSS pixels.
   * @param {CanvasRenderingContext2D} context
   * @param {number} [now]
   */
  drawOn(context, now = 0) {
    const [pen, settings] = [this.pen(context, { now }), this.lesson.settings()];
    const missing = this.scene.missing(settings);
    if (missing === null) this.scene.draw(pen, settings);
    else pen.message(missing);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{ now?: number, first?: boolean }} [state]
   */
  pen(context, { now = 0, first = false } = {}) {
    const { width, height, pointer } = this;
    const { theme, revealed } = this.lesson;
    return new Pen(context, width, height, { theme, pointer, revealed, now, first });
  }

  /**
   * Describe the picture for screen readers.
   * @param {string} text
   */
  describe(text) {
    setAttribute(this.canvas, "aria-label", text);
  }

  get playing() {
    return Boolean(this.running);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    const { playhead } = this.scene;
    if (!playhead || this.playing) return;
    const value = this.lesson.settings()[playhead.name];
    if (value >= playhead.max) this.lesson.set({ [playhead.name]: playhead.min });
    this.last = null;
    /** @type {number[]} */
    this.frames = [];
    if (this.motion.matches) this.running = setInterval(() => this.step(1) || this.pause(), STILL_STEP);
    else this.running = requestAnimationFrame((now) => this.advance(now));
    this.lesson.playingChanged();
  }

  /** @param {number} now */
  advance(now) {
    const playhead = /** @type {Playhead} */ (this.scene.playhead); // or it would not play
    const passed = this.last === null ? 0 : now - this.last;
    if (this.last !== null && this.frames.push(passed) > FRAMES_KEPT) this.frames.shift();
    this.last = now;
    const value = this.lesson.settings()[playhead.name] + (playhead.rate * Math.min(passed, 100)) / 1000;
    const over = value >= playhead.max;
    // Set and painted in this very frame, so that the picture never lags behind.
    this.lesson.set({ [playhead.name]: over && playhead.loop ? playhead.min : Math.min(value, playhead.max) });
    cancelAnimationFrame(this.drawing);
    this.paint(now);
    if (over && !playhead.loop) this.pause();
    else this.running = requestAnimationFrame((next) => this.advance(next));
  }

  pause() {
    if (!this.playing) return;
    cancelAnimationFrame(this.running);
    clearInterval(this.running);
    this.running = 0;
    this.lesson.playingChanged();
  }

  /**
   * Goes by whole steps; says whether it could.
   * @param {number} count
   */
  step(count) {
    const { playhead } = this.scene;
    if (!playhead) return false;
    const { min, max, step } = playhead;
    const value = this.lesson.settings()[playhead.name];
    const steps = (value - min) / step;
    const target = min + step * (count > 0 ? Math.floor(steps + 1e-6) + count : Math.ceil(steps - 1e-6) + count);
    this.lesson.set({ [playhead.name]: Math.max(min, Math.min(max, target)) });
    return target < max;
  }

  /** @param {PointerEvent} event */
  press(event) {
    this.canvas.classList.add("given");
    this.waiting = false;
    const patch = this.grabbed(event, true);
    if (!patch) return;
    this.held = true;
    this.canvas.setPointerCapture(event.pointerId);
    this.pause();
    this.lesson.set(patch);
  }

  /** @param {PointerEvent} event */
  move(event) {
    this.point({ x: event.offsetX / this.zoom, y: event.offsetY / this.zoom });
    if (!this.held) return;
    const patch = this.grabbed(event);
    if (patch) this.lesson.set(patch);
  }

  /**
   * Ask the scene for the effect of a press or drag.
   * @param {PointerEvent} pointerEvent
   * @param {boolean} [first]
   */
  grabbed({ offsetX, offsetY }, first = false) {
    const pen = this.pen(context2d(this.canvas), { first });
    const settings = this.lesson.settings();
    if (this.scene.missing(settings) !== null) return null;
    return this.scene.grab(offsetX / this.zoom, offsetY / this.zoom, pen, settings);
  }

  /**
   * Find a named part of the picture; see `hit` in scene.js.
   * @param {string} name
   * @returns {Point | null} CSS pixels from the corner of the canvas.
   */
  hit(name) {
    const place = this.scene.hit(name, this.pen(context2d(this.canvas)), this.lesson.settings());
    return place && { x: place.x * this.zoom, y: place.y * this.zoom };
  }

  /** @param {{ x: number, y: number } | null} pointer */
  point(pointer) {
    this.pointer = pointer;
    if (!this.playing) this.draw();
  }

  stop() {
    this.pause();
    cancelAnimationFrame(this.drawing);
    this.stopWatching();
  }
}
