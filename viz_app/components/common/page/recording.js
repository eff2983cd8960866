// A canvas as a film for a slide, recorded by the browser, and files for the user.

import { context2d } from "../draw/canvas.js";
import { h } from "./dom.js";

const FORMATS = ["video/webm;codecs=vp9", "video/webm", "video/mp4"]; // Safari records no WebM
const FRAMES = 30; // a second
const LAST = 1500; // milliseconds for which the finished picture stays
const EDGE = 14; // in CSS pixels

/** What this browser records; undefined when it records nothing. */
export const FORMAT = globalThis.MediaRecorder && FORMATS.find((format) => MediaRecorder.isTypeSupported(format));

/**
 * @typedef {{ width: number, height: number }} PageSize In CSS pixels.
 * @typedef {{ text: string, font: string, colour: string, baseline: number }} PageLine
 */

/**
 * Gives a page its size, writes lines of text on it, each squeezed if it is too long, and goes to the place below them.
 * @param {CanvasRenderingContext2D} context
 * @param {PageSize} size Of the picture below the lines.
 * @param {number} ratio Device pixels for one CSS pixel.
 * @param {Theme} theme
 * @param {number} head Height above the picture, in CSS pixels.
 * @param {PageLine[]} lines
 */
export function startPage(context, size, ratio, theme, head, lines) {
  const { canvas } = context;
  // Film coders want even sizes.
  const width = 2 * Math.ceil(((size.width + 2 * EDGE) * ratio) / 2);
  const height = 2 * Math.ceil(((size.height + head + EDGE) * ratio) / 2);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width / ratio, height / ratio);
  for (const { text, font, colour, baseline } of lines) {
    context.font = `${font} ${theme.font}`;
    context.fillStyle = colour;
    context.fillText(text, EDGE, baseline, width / ratio - 2 * EDGE);
  }
  context.translate(EDGE, head);
  return context;
}

/**
 * Draws a picture below lines of text.
 * @param {HTMLCanvasElement} page
 * @param {{ canvas: HTMLCanvasElement, ratio: number }} picture With its device pixels for one CSS pixel.
 * @param {Theme} theme
 * @param {number} head
 * @param {PageLine[]} lines
 */
export function composePage(page, { canvas, ratio }, theme, head, lines) {
  const [width, height] = [canvas.width / ratio, canvas.height / ratio];
  const context = startPage(context2d(page), { width, height }, ratio, theme, head, lines);
  context.drawImage(canvas, 0, 0, width, height);
}

/**
 * @typedef {object} FilmSource
 * @property {(page: HTMLCanvasElement) => void} compose Draws a frame.
 * @property {() => boolean} isOver Whether what is filmed has come to its end.
 * @property {() => void} changed Called when the film starts and when it stops.
 */

/** A film; it is saved when it stops, by itself some time after what is filmed. */
export class Film {
  /** @type {MediaRecorder | null} */
  recorder = null;

  /** @param {FilmSource} source */
  constructor(source) {
    this.source = source;
  }

  get running() {
    return this.recorder !== null;
  }

  /** @param {string} name Of the file, without its ending. */
  start(name) {
    const page = h("canvas");
    this.source.compose(page);
    /** @type {Blob[]} */
    const parts = [];
    const recorder = new MediaRecorder(page.captureStream(FRAMES), { mimeType: FORMAT, videoBitsPerSecond: 4e6 });
    const ending = FORMAT?.startsWith("video/mp4") ? "mp4" : "webm";
    recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
    recorder.addEventListener("stop", () => download(new Blob(parts, { type: FORMAT }), `${name}.${ending}`));
    recorder.start();
    this.recorder = recorder;
    this.draw(recorder, page, null);
    this.source.changed();
  }

  /**
   * One frame, again and again.
   * @param {MediaRecorder} recorder
   * @param {HTMLCanvasElement} page
   * @param {number | null} end When the film stops.
   */
  draw(recorder, page, end) {
    if (this.recorder !== recorder) return;
    this.source.compose(page);
    const now = performance.now();
    const stop = end ?? (this.source.isOver() ? now + LAST : null);
    if (stop !== null && now > stop) this.stop();
    else requestAnimationFrame(() => this.draw(recorder, page, stop));
  }

  stop() {
    if (!this.recorder) return;
    this.recorder.stop();
    this.recorder = null;
    this.source.changed();
  }
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
