// The QR code of a link over the whole screen, for a class to photograph. Always dark on white, as cameras expect.

import { copyButton } from "../text/copy.js";
import { h, svg } from "./dom.js";

const BORDER = 4; // modules of quiet zone around a code, as its standard asks
const STYLE = [
  ".qr-screen { box-sizing: border-box; position: fixed; inset: 0; width: 100vw; height: 100dvh; max-width: none; max-height: none; margin: 0; border: 0; padding: 3vmin; background: #fff; color: #14171a; font: 500 clamp(16px, 2.4vmin, 30px) / 1.4 var(--st-font, sans-serif); }",
  ".qr-screen[open] { display: grid; grid-template-rows: minmax(0, 1fr) auto; gap: 1vmin; justify-items: center; }",
  ".qr-screen:lang(ko) { word-break: keep-all; }",
  ".qr-screen svg { width: 100%; height: 100%; min-height: 0; }",
  ".qr-screen p, .qr-screen code { margin: 0; max-width: 100%; text-align: center; overflow-wrap: anywhere; }",
  ".qr-screen code { font-family: var(--st-code-font, monospace); }",
  ".qr-screen .command { align-self: center; display: grid; gap: 3vmin; justify-items: center; font-size: clamp(18px, 3.4vmin, 44px); }",
  ".qr-screen .command code { font-size: 1.3em; font-weight: 600; }",
  ".qr-screen > button { position: absolute; top: 3vmin; right: 3vmin; }",
  ".qr-screen button { padding: 8px 18px; border: 1px solid #767d88; border-radius: 8px; background: #fff; color: inherit; font: inherit; cursor: pointer; }",
  ".qr-screen button:focus-visible { outline: 3px solid #2b5c8a; outline-offset: 2px; }",
].join("\n");

/**
 * A code as a picture.
 * @param {string[]} rows "1" for a dark module.
 * @param {string} label
 */
export function code(rows, label) {
  const size = rows.length + 2 * BORDER;
  const dark = rows.flatMap((row, y) =>
    [...row].flatMap((module, x) => (module === "1" ? [`M${x + BORDER} ${y + BORDER}h1v1h-1z`] : [])),
  );
  return svg(
    "svg",
    { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    svg("rect", { width: size, height: size, fill: "#fff" }),
    svg("path", { d: dark.join(""), fill: "#000" }),
  );
}

/**
 * Fills the screen with the code and its link, or with the command that opens the app to others. Esc ends it.
 * @param {HTMLElement} host An element that the dialog may stand in.
 * @param {ShareCode} share
 */
export function showCode(host, { url, rows, command, texts, language }) {
  const close = h("button", { click: () => dialog.close() }, texts.close);
  const shown = command
    ? h(
        "div",
        { class: "command" },
        h("p", {}, texts.closed),
        h("code", {}, command),
        copyButton(() => command, texts),
      )
    : rows
      ? code(rows, texts.code)
      : h("p", {}, texts.too_long);
  const link = command ? null : h("code", {}, url);
  const dialog = h("dialog", { class: "qr-screen", lang: language, "aria-label": texts.title }, close, shown, link);
  dialog.append(h("style", {}, STYLE));
  // The keys of the page behind it mean nothing meanwhile; Esc is the dialog's own.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", () => dialog.remove());
  host.append(dialog);
  dialog.showModal();
}
