// The flow on a canvas: folded or unfolded, what is pointed at, and the motion from one picture to the next.

import { arrowStep } from "../../../common/page/arrowkeys.js";
import { h } from "../../../common/page/dom.js";
import { consume, hasModifier } from "../../../common/page/keyboard.js";
import { ease } from "../../../common/text/format.js";
import { Labels } from "../draw/geometry.js";
import { ScrollCanvas } from "../draw/scrollcanvas.js";
import { still } from "../draw/transition.js";
import { Brush, between } from "./flowshapes.js";
import { FoldedPlaces } from "./foldedplaces.js";
import { allWords, foldedScene } from "./foldedscene.js";
import { UnfoldedPlaces } from "./unfoldedplaces.js";
import { unfoldedScene } from "./unfoldedscene.js";

const [MORPH, SWEEP, GROW] = [420, 520, 2000]; // milliseconds
const BEHIND = 0.3; // how strong the ribbons of all words are behind those of one
const LARGER = 1.25; // letters in front of a class
const UNIT = 10; // pixels of the font that is measured

/** @typedef {import("./unfoldedplaces.js").Hit} Hit
 * @typedef {import("./flowshapes.js").Scene} Scene
 * @typedef {"morph" | "sweep" | "grow"} How
 * @typedef {object} FlowView What is to be seen.
 * @property {string} about Differs where texts do.
 * @property {import("./foldedplaces.js").Tokens} tokens
 * @property {(FlowWord | null)[]} words With a contrast in its place.
 * @property {(FlowWord | null)[]} all Without it.
 * @property {number} written How many tokens are.
 * @property {number | null} chosen
 * @property {boolean} unfold
 * @property {number} share 0 to 1.
 * @property {boolean} plays Whether the time bar does.
 * @property {Record<"encoder" | "decoder" | "biases", string>} names
 * @property {boolean} [bare] Whether numbers and biases are left out.
 *
 * @typedef {object} FlowHand
 * @property {(hit: Hit | null) => void} point
 * @property {(hit: Hit) => void} pick
 * @property {(key: string, step: number) => boolean} key Whether it had a meaning.
 */

/** @extends {ScrollCanvas<Hit>} */
export class FlowCanvas extends ScrollCanvas {
  /** @type {FlowView} */
  view;
  /** @type {FoldedPlaces} */
  folded;
  /** @type {UnfoldedPlaces | null} */
  unfolded = null;
  /** @type {Hit | null} Under the pointer. */
  hit = null;
  /** @type {Hit | null} Pressed, in the unfolded picture. */
  picked = null;
  /** @type {Scene} */
  scene = new Map();
  behind = 1; // how strong the ribbons of all words are
  /** @type {{ from: Scene, behind: number, start: number, lasts: number, how: How } | null} */
  motion = null;
  frame = 0;
  stale = true;
  size = { width: 0, height: 0 };
  composed = ""; // what the scene shows
  painted = ""; // and the backdrop
  /** @type {(FlowWord | null)[] | null} Of the scene. */
  seen = null;
  /** @type {(FlowWord | null)[] | null} Of the backdrop. */
  behindWords = null;

  /** @param {FlowHand} hand */
  constructor(hand) {
    super("flow");
    this.hand = hand;
    this.backdrop = h("canvas");
  }

  /**
   * @param {FlowView} view
   * @param {Theme} theme
   * @param {string} label
   */
  see(view, theme, label) {
    if (view.words !== this.view?.words || view.chosen !== this.view?.chosen) this.picked = this.hit = null;
    this.view = view;
    this.theme = theme;
    this.element.setAttribute("aria-label", label);
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  layout(width, height) {
    const { view, theme, size, stale, labels } = this;
    const { tokens, words, chosen } = view;
    const scale = this.element.closest(".presenting") ? LARGER : 1;
    if (stale || labels.family !== theme.font) this.labels = new Labels(theme.font, UNIT);
    this.stale = false;
    const measure = (/** @type {string} */ text, /** @type {number} */ size) => (this.labels.width(text) * size) / UNIT;
    this.folded = new FoldedPlaces(tokens, width, height, measure, scale, view.bare);
    const word = view.unfold && chosen !== null ? words[chosen] : null;
    this.unfolded =
      word && new UnfoldedPlaces(tokens, word, chosen ?? 0, view.share, { width, height, scale }, measure);
    const places = this.unfolded ?? this.folded;
    this.size = { width: places.width, height: places.height };
    this.resize(this.size, this.size);
    this.element.dataset.unfolded = String(Boolean(word));
    const resized = size.width && size.width !== this.size.width && this.unfolded === null;
    this.compose(resized ? null : view.plays && !word ? "sweep" : "morph");
  }

  roomy() {
    return false; // readout and table stand below it
  }

  reveal() {}

  /** The word that is seen: pointed at, else chosen. */
  get focus() {
    const { hit, view } = this;
    if (hit && ("output" in hit || "source" in hit)) return hit;
    return view.chosen === null ? null : { output: view.chosen };
  }

  /**
   * The picture that is wanted now; `how` it gets there, null for at once.
   * @param {How | null} how
   */
  compose(how) {
    const { view, theme, unfolded, folded } = this;
    const { about, chosen, share, names, words, written } = view;
    const places = [unfolded && share, this.size, folded.size, theme.key];
    const key = JSON.stringify([about, chosen, written, this.hit ?? this.picked, ...places]);
    if (key === this.composed && words === this.seen) return;
    const now = this.now();
    if (view.all !== this.behindWords) now.behind = 0; // it fades in
    this.composed = key;
    this.seen = words;
    this.scene = unfolded
      ? unfoldedScene(unfolded, this.hit ?? this.picked, theme, names)
      : foldedScene(folded, words.slice(0, written), this.focus, theme);
    this.behind = unfolded ? 0 : this.focus ? BEHIND : 1;
    this.start(how, now);
  }

  /**
   * @param {How | null} how
   * @param {{ scene: Scene, behind: number }} from
   */
  start(how, from) {
    const moves = how && from.scene.size && !still() && this.element.isConnected;
    const lasts = { morph: MORPH, sweep: SWEEP, grow: GROW };
    this.motion = moves
      ? { from: from.scene, behind: from.behind, start: performance.now(), lasts: lasts[how], how }
      : null;
  }

  /** Lets the unfolded picture grow from the foot upwards. */
  grow() {
    this.start("grow", this);
    this.draw();
  }

  /** What stands on the canvas at this moment. */
  now() {
    const { scene, behind, motion } = this;
    if (!motion) return { scene, behind, time: 1 };
    const share = Math.min(1, (performance.now() - motion.start) / motion.lasts);
    if (share === 1) this.motion = null;
    if (motion.how === "grow") return { scene, behind, time: share };
    const eased = ease(share);
    const next = motion.how === "sweep" ? swept(motion.from, scene, eased) : between(motion.from, scene, eased);
    return { scene: next, behind: motion.behind + eased * (behind - motion.behind), time: 1 };
  }

  draw() {
    if (!this.folded) return;
    cancelAnimationFrame(this.frame);
    const { scene, behind, time } = this.now();
    const context = this.begin(this.size);
    const brush = new Brush(context, this.theme, this.theme.font);
    if (behind > 0.01) this.drawBehind(brush, behind);
    brush.draw(scene, time);
    if (this.motion) this.frame = requestAnimationFrame(() => this.draw());
  }

  /**
   * The ribbons of all words, painted once for each layout.
   * @param {Brush} brush
   * @param {number} alpha
   */
  drawBehind(brush, alpha) {
    const { folded, view, theme, backdrop } = this;
    const all = view.all.slice(0, view.plays ? view.written - 1 : view.written); // the newest one sweeps
    if (!this.element.isConnected) return brush.draw(allWords(folded, all, theme), 1, alpha);
    const ratio = window.devicePixelRatio || 1;
    const key = JSON.stringify([theme.key, folded.width, folded.height, folded.size, folded.wide, ratio, all.length]);
    if (key !== this.painted || this.behindWords !== view.all) {
      this.painted = key;
      this.behindWords = view.all;
      [backdrop.width, backdrop.height] = [Math.round(folded.width * ratio), Math.round(folded.height * ratio)];
      const own = /** @type {CanvasRenderingContext2D} */ (backdrop.getContext("2d"));
      own.setTransform(ratio, 0, 0, ratio, 0, 0);
      new Brush(own, theme, theme.font).draw(allWords(folded, all, theme));
    }
    const { context } = brush;
    brush.light(() => {
      context.globalAlpha = alpha;
      context.drawImage(backdrop, 0, 0, folded.width, folded.height);
    });
  }

  /**
   * @param {PointerEvent} event
   * @returns {Hit | null}
   */
  at(event) {
    const point = this.pointOf(event);
    return (this.unfolded ?? this.folded).at(point);
  }

  /** @param {Hit | null} hit */
  move(hit) {
    if (JSON.stringify(hit) === JSON.stringify(this.hit)) return;
    this.hit = hit;
    this.element.classList.toggle("pressable", hit !== null);
    this.compose("morph");
    this.hand.point(hit);
  }

  /** @param {PointerEvent} event */
  click(event) {
    const hit = this.at(event);
    if (hit) this.hand.pick(hit);
  }

  /**
   * Arrows go from word to word; what else a key means, the hand knows.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (hasModifier(event)) return;
    const [down, right] = arrowStep(event) ?? [0, 0];
    if (this.hand.key(event.key, down || right)) consume(event);
  }
}

/**
 * The ribbons of the next word leave it and reach for their sources, while those of the last one fade.
 * @param {Scene} before
 * @param {Scene} after
 * @param {number} share
 */
function swept(before, after, share) {
  /** @type {Scene} */
  const scene = new Map();
  for (const [name, shape] of before)
    if (shape.form === "ribbon") scene.set(`old ${name}`, { ...shape, alpha: shape.alpha * (1 - share) });
  const others = (/** @type {Scene} */ from) => new Map([...from].filter(([, { form }]) => form !== "ribbon"));
  for (const [name, shape] of between(others(before), others(after), share)) scene.set(name, shape);
  for (const [name, shape] of after)
    if (shape.form === "ribbon") scene.set(name, { ...shape, grows: [0, 1 / Math.max(0.001, share)] });
  return scene;
}
