// What is kept on the reader's device. Others may share the storage, so names have a prefix, and whatever is read is
// checked by its reader. All files of a disk share one storage, in which nothing is kept.

const PREFIX = "headlight-site-";
const MAX_LETTERS = 20_000;

/**
 * The kept value; null for none.
 * @param {string} name
 * @returns {unknown}
 */
export function readKept(name) {
  try {
    const text = localStorage.getItem(PREFIX + name) ?? "null";
    return text.length > MAX_LETTERS ? null : JSON.parse(text);
  } catch {
    return null; // nothing that we kept, or a closed storage
  }
}

/**
 * @param {string} name
 * @param {unknown} value
 */
export function keep(name, value) {
  if (location.protocol === "file:") return;
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {} // a full or closed storage
}

/**
 * Another address for the page, where it may have one; not a file on a disk.
 * @param {string} href
 */
export function replaceAddress(href) {
  try {
    if (location.protocol !== "file:") history.replaceState(null, "", href);
  } catch {} // in a frame without an origin, and in Safari after 100 times in half a minute
}
