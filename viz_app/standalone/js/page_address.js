// What the address of an explorer's page names: a sentence, and what of it is selected. The names and numbers are those
// of the app (state/query_params.py). A page writes them behind "#", so that no server hears what was typed.

import { joinBuffer, readBuffer } from "../../components/common/buffer.js";
import { headAddress, parseHead } from "../../components/common/heads/heads.js";
import { replaceAddress } from "../../components/common/page/device.js";

const MAX_TEXT = 2000; // characters of a sentence that an address holds
const HEAD = /^(encoder|decoder|cross)\.[1-9]\d?\.[1-9]\d?$/;
/** @type {Record<string, string[]>} The first of each is what an address leaves out. */
const CHOICES = {
  view: ["heads", "layer", "kinds"],
  zoom: ["head", "heads", "token"],
  form: ["map", "lines", "flow"],
  unit: ["tokens", "words"],
};
const FIRST = Object.fromEntries(Object.entries(CHOICES).map(([name, [first]]) => [name, first]));

/**
 * The sentence, null for none, and the selection that an address asks for; what makes no sense is left out.
 * @param {string} [href]
 */
export function readAddress(href = location.href) {
  const { search, hash } = new URL(href);
  const params = new URLSearchParams(`${hash.slice(1)}&${search.slice(1)}`);
  const value = (/** @type {string} */ name) => params.get(name) ?? "";
  const [head, pin] = [value("head"), value("pin")];
  /** @type {Partial<ExplorerSelection>} What a link to a head leaves out is not what the page opens with. */
  const selection = HEAD.test(head) ? { ...FIRST, ...parseHead(head) } : {};
  for (const [name, words] of Object.entries(CHOICES))
    if (words.includes(value(name))) Object.assign(selection, { [name]: value(name) });
  if (value("unfold") === "on") selection.unfold = true;
  if (/^[1-9]\d{0,3}$/.test(value("step"))) selection.step = Number(value("step"));
  if (/^[qk][1-9]\d{0,3}$/.test(pin)) selection.pin = `${pin[0]}${Number(pin.slice(1)) - 1}`;
  const text = value("text").slice(0, MAX_TEXT);
  return { text: text.trim() ? text : null, selection };
}

/**
 * The address of this page that opens with a sentence and a selection.
 * @param {string} text
 * @param {ExplorerSelection} selection
 */
export function pageAddress(text, selection) {
  const { pin, step, unfold } = selection;
  const params = new URLSearchParams({ text: text.slice(0, MAX_TEXT), head: headAddress(selection) });
  for (const [name, value] of Object.entries(selection))
    if (name in CHOICES && value !== FIRST[name]) params.set(name, String(value));
  if (unfold) params.set("unfold", "on");
  if (step) params.set("step", String(step));
  if (pin) params.set("pin", `${pin[0]}${Number(pin.slice(1)) + 1}`);
  return `${location.href.split(/[?#]/, 1)[0]}#${params}`;
}

/**
 * The payload of an explorer that starts with a selection.
 * @param {Uint8Array} bytes
 * @param {Partial<ExplorerSelection>} selection
 * @param {boolean} [follow] Whether an explorer that shows another translation takes it over too.
 */
export function startWith(bytes, selection, follow = false) {
  const { header, data } = readBuffer(bytes);
  return joinBuffer({ ...header, selection: { ...header.selection, ...selection }, follow }, data);
}

/**
 * Keeps the address of the page in step.
 * @param {string} text
 * @param {ExplorerSelection} selection
 */
export function keepAddress(text, selection) {
  replaceAddress(pageAddress(text, selection));
}

/** Opens the page anew with another address that is entered. */
export function followAddress() {
  addEventListener("hashchange", ({ newURL }) => newURL.includes("=") && location.reload());
}
