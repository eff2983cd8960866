// A canvas as a film for a slide, recorded by the browser, and files for the user.

import { context2d } from "./canvas.js";
import { h } from "./dom.js";

const FORMATS = ["video/webm;codecs=vp9", "video/webm", "video/mp4"]; // Safari records no WebM
const FRAMES = 30; // a second
const EDGE = 14; // in CSS pixels

/** What this browser records; undefined when it records nothing. */
export const FORMAT = globalThis.MediaRecorder && FORMATS.find((format) => MediaRecorder.isTypeSupported(format));

/**
 * Draws a picture below lines of text, each squeezed if it is too long.
 * @param {HTMLCanvasElement} page
 * @param {{ canvas: HTMLCanvasElement, ratio: number }} picture With its device pixels for one CSS pixel.
 * @param {Theme} theme
 * @param {number} head Height above the picture, in CSS pixels.
 * @param {{ text: string, font: string, colour: string, baseline: number }[]} lines
 */
export function composePage(page, { canvas, ratio }, theme, head, lines) {
  // Film coders want even sizes.
  const width = 2 * Math.ceil((canvas.width + 2 * EDGE * ratio) / 2);
  const height = 2 * Math.ceil((canvas.height + (head + EDGE) * ratio) / 2);
  if (page.width !== width) page.width = width;
  if (page.height !== height) page.height = height;
  const context = context2d(page);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  context.drawImage(canvas, EDGE * ratio, head * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const { text, font, colour, baseline } of lines) {
    context.font = `${font} ${theme.font}`;
    context.fillStyle = colour;
    context.fillText(text, EDGE, baseline, width / ratio - 2 * EDGE);
  }
}

/**
 * Starts to record a canvas; when the recorder stops, the film is saved.
 * @param {HTMLCanvasElement} page
 * @param {string} name Of the file, without its ending.
 */
export function recordCanvas(page, name) {
  /** @type {Blob[]} */
  const parts = [];
  const recorder = new MediaRecorder(page.captureStream(FRAMES), { mimeType: FORMAT, videoBitsPerSecond: 4e6 });
  const ending = FORMAT?.startsWith("video/mp4") ? "mp4" : "webm";
  recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
  recorder.addEventListener("stop", () => download(new Blob(parts, { type: FORMAT }), `${name}.${ending}`));
  recorder.start();
  return recorder;
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
