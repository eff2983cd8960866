// What a canvas is told becomes SVG: places, clips, styles, and texts that stay texts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { recorded } from "../../viz_app/components/explorer/js/draw/svgrecording.js";

/** A context that keeps its state as the standard says, and draws nothing. */
function fakeContext() {
  const stack = [];
  const context = {
    canvas: { width: 300, height: 200 },
    at: [0, 0],
    globalAlpha: 1,
    fillStyle: "#000000",
    strokeStyle: "#ff0000",
    lineWidth: 2,
    font: '12px "A B"',
    textAlign: "left",
    textBaseline: "middle",
    calls: [],
    getTransform: () => ({ a: 1, b: 0, c: 0, d: 1, e: context.at[0], f: context.at[1] }),
    getLineDash: () => [],
    measureText: (text) => ({ width: 10 * text.length }),
    save: () => stack.push({ at: [...context.at], fillStyle: context.fillStyle }),
    restore: () => Object.assign(context, stack.pop()),
    translate: (x, y) => (context.at = [context.at[0] + x, context.at[1] + y]),
  };
  for (const name of ["beginPath", "moveTo", "lineTo", "rect", "clip", "stroke", "fillRect", "strokeRect", "fillText"])
    context[name] = (...values) => context.calls.push([name, ...values]);
  context.drawImage = (...values) => context.calls.push(["drawImage", ...values]);
  return context;
}

test("each drawing has its place, and what is cut off ends with restore", () => {
  const context = fakeContext();
  const file = recorded(context);
  context.save();
  context.translate(20, 30);
  context.beginPath();
  context.rect(1, 2, 3, 4);
  context.clip();
  context.fillStyle = "#00ff00";
  context.fillRect(5, 6, 7, 8);
  context.restore();
  context.beginPath();
  context.moveTo(0, 1);
  context.lineTo(2, 3);
  context.stroke();
  const svg = file("about");
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 300 200"><desc>about<\/desc>/);
  const [, id] = /<clipPath id="(\w+)"><path transform="matrix\(1 0 0 1 20 30\)"[^>]* d="M1 2h3v4h-3z"\/>/.exec(svg);
  const [, inside] = new RegExp(`<g clip-path="url\\(#${id}\\)"><rect ([^>]*)>`).exec(svg);
  assert.match(inside, /x="5" y="6" width="7" height="8" fill="#00ff00" transform="matrix\(1 0 0 1 20 30\)"/);
  assert.match(svg, /<g><path d="M0 1L2 3" fill="none" stroke="#ff0000" stroke-width="2"[^>]*matrix\(1 0 0 1 0 0\)/);
  assert.deepEqual(
    context.calls.map(([name]) => name),
    ["beginPath", "rect", "clip", "fillRect", "beginPath", "moveTo", "lineTo", "stroke"],
  );
});

test("a text is no markup, holds no forbidden character, and is squeezed where the canvas squeezes it", () => {
  const context = fakeContext();
  const file = recorded(context);
  context.textAlign = "right";
  context.fillText('</text><script>"&\u0000\ud800\u{1f642}', 1, 2, 30);
  const svg = file("<desc>");
  assert.match(svg, /<desc>&#60;desc&#62;<\/desc>/);
  assert.match(svg, />&#60;\/text&#62;&#60;script&#62;&#34;&#38;\ufffd\ufffd\u{1f642}<\/text>/u);
  assert.match(svg, /textLength="30"/);
  assert.match(svg, /style="font: 12px &#34;A B&#34;; text-anchor: end"/);
});

test("a canvas becomes an image at the last of its places", () => {
  const context = fakeContext();
  const file = recorded(context);
  const canvas = { toDataURL: () => "data:image/png;base64,AA" };
  context.drawImage(canvas, 0, 0, 9, 9, 1, 2, 3, 4);
  assert.match(file(""), /<image x="1" y="2" width="3" height="4" [^>]*href="data:image\/png;base64,AA"/);
});
