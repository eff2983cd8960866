// Scene and settings as parameters of the address; the twin of state.py.

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
