// Scene and settings as parameters of the address; the twin of state.py.

const MAX_SETTINGS = 12;
const MAX_LETTERS = 256;
const MAX_WRITTEN = 12 * MAX_LETTERS; // a letter takes at most four bytes, a byte three characters
const NAME = /^[a-z][a-z0-9_]{0,15}$/;
const VALUE = /^(?:[\w.+~-]|%[0-9A-F]{2})+$/;
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,2})?$/i;

/**
 * The settings of a scene as one parameter, "at:5,mask:on,text:Guten%20Tag"; "" for none.
 * @param {Settings} settings
 */
function toAddress(settings) {
  const parts = Object.entries(settings).map(([name, value]) => [name, serialised(value)]);
  return parts
    .filter(([, text]) => text)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map((part) => part.join(":"))
    .join(",");
}

/**
 * The address of a page with this scene in it; what else stands in it stays.
 * @param {string} href
 * @param {{ scene: string, settings: Settings }} state
 */
export function linkTo(href, { scene, settings }) {
  const link = new URL(href);
  for (const [name, value] of [
    ["scene", scene],
    ["with", toAddress(settings)],
  ]) {
    if (value) link.searchParams.set(name, value);
    else link.searchParams.delete(name);
  }
  return link.href;
}

/**
 * The settings of a parameter of the address; what makes no sense is left out.
 * @param {string} text
 * @returns {Settings}
 */
export function fromAddress(text) {
  const parts = text.split(",", MAX_SETTINGS).map((part) => part.split(":"));
  const written = parts.filter(
    ([name, value = ""]) => NAME.test(name) && value.length <= MAX_WRITTEN && VALUE.test(value),
  );
  const settings = written.map(([name, value]) => [name, parsed(value)]);
  return Object.fromEntries(settings.filter(([, value]) => String(value).length <= MAX_LETTERS));
}

/** @param {string} text */
function parsed(text) {
  if (text === "on" || text === "off") return text === "on";
  if (NUMBER.test(text)) return Number(text);
  return new URLSearchParams(`text=${text.replace(/\+/g, "%2B")}`).get("text") ?? "";
}

/** @param {string | number | boolean} value */
function serialised(value) {
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  const text = encodeURIComponent(value.replace(/\p{Surrogate}/gu, "?")).replace(/[!'()*]/g, encoded);
  // If it would read as a number or a switch, its first character is encoded too.
  const odd = /^([-+.\d].*|on|off|nan|inf|infinity)$/i.test(text);
  return odd && !text.includes("%") ? `${encoded(text[0])}${text.slice(1)}` : text;
}

/** @param {string} letter */
function encoded(letter) {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
}
