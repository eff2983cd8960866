// The teacher's notes in a second window: stop, minutes, the time since it was opened. The window outlives the page of a stop.

import { h } from "../../common/page/dom.js";

const STYLE =
  ":root { color-scheme: light dark; } body { margin: 24px; font: 22px/1.5 Pretendard, sans-serif; word-break: keep-all; } h1 { margin: 0; font-size: 28px; } time { font-size: 40px; font-variant-numeric: tabular-nums; }";

const shared = /** @type {any} */ (globalThis); // by the mounts of all stops

/** @param {Mounted<{ label: string, title: string, place: string, note: string, language: string }>} component */
export default function show({ data, parentElement }) {
  const { label, title, place, note, language } = data;
  shared.headlightNotes ??= { window: null };
  /** @type {{ window: Window | null, title: string, since: number }} */
  const notes = shared.headlightNotes;
  if (notes.title !== title) Object.assign(notes, { title, since: Date.now() });
  const time = h("time");
  const tick = () => {
    const seconds = Math.floor((Date.now() - notes.since) / 1000);
    time.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  };
  const write = () => {
    if (!notes.window || notes.window.closed) return;
    const page = notes.window.document;
    page.title = label;
    page.documentElement.lang = language;
    page.head.replaceChildren(h("style", {}, STYLE));
    page.body.replaceChildren(h("h1", {}, title), h("p", {}, place), time, h("p", {}, note));
  };
  const open = () => {
    notes.window = window.open("", "headlight-notes", "popup,width=560,height=560");
    write();
    notes.window?.focus();
  };
  parentElement.querySelector(".speaker-notes")?.replaceChildren(h("button", { click: open }, label));
  tick();
  write();
  const ticking = setInterval(tick, 1000);
  return () => clearInterval(ticking);
}
