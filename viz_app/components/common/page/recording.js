// A canvas as a film for a slide, recorded by the browser, and files for the user.

import { context2d } from "../draw/canvas.js";
import { fillText } from "../text/format.js";
import { h } from "./dom.js";
import { tool } from "./tool.js";

// PowerPoint and Keynote play H.264 in MP4; Firefox records WebM alone, some of Safari MP4 alone.
const TYPES = { MP4: ["video/mp4;codecs=avc1"], WebM: ["video/webm;codecs=vp9", "video/webm"] };
const FRAMES = 30; // a second
const LAST = 1500; // milliseconds for which the finished picture stays
const EDGE = 14; // in CSS pixels

/** The formats that this browser records, with their media types. */
export const FORMATS = Object.entries(TYPES).flatMap(([format, types]) => {
  const type = types.find((each) => globalThis.MediaRecorder?.isTypeSupported(each));
  return type ? [{ format, type }] : [];
});

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
 * @property {() => void} begin A button was pressed: leads to `start`, or to nothing.
 * @property {(page: HTMLCanvasElement) => void} compose Draws a frame.
 * @property {() => boolean} isOver Whether what is filmed has come to its end.
 * @property {() => void} changed Called when the film starts and when it stops.
 */

/** A film; it is saved when it stops, by itself some time after what is filmed. */
export class Film {
  /** @type {MediaRecorder | null} */
  recorder = null;
  chosen = FORMATS[0];

  /**
   * @param {FilmSource} source
   * @param {Attributes} [attributes] Of its buttons, one for each format.
   */
  constructor(source, attributes) {
    this.source = source;
    this.tools = FORMATS.map((each) => ({
      ...each,
      ...tool("film", { ...attributes, click: () => this.toggle(each) }),
    }));
  }

  get running() {
    return this.recorder !== null;
  }

  /**
   * Labels the buttons. While the film runs, only its own is there, which stops it.
   * @param {string} start With a place for the format.
   * @param {string} stop
   * @param {boolean} [filmable] Whether there is something to film.
   */
  label(start, stop, filmable = true) {
    for (const { format, button, words } of this.tools) {
      words.textContent = this.running ? stop : fillText(start, { format });
      button.hidden = !filmable || (this.running && format !== this.chosen.format);
    }
  }

  /** @param {typeof FORMATS[0]} format */
  toggle(format) {
    if (this.running) return this.stop();
    this.chosen = format;
    this.source.begin();
  }

  /** @param {string} name Of the file, without its ending. */
  start(name) {
    const page = h("canvas");
    this.source.compose(page);
    /** @type {Blob[]} */
    const parts = [];
    const { format, type } = this.chosen;
    const recorder = new MediaRecorder(page.captureStream(FRAMES), { mimeType: type, videoBitsPerSecond: 4e6 });
    recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
    recorder.addEventListener("stop", () => download(new Blob(parts, { type }), `${name}.${format.toLowerCase()}`));
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
