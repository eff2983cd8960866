// Reports the sentence a moment after each key. Streamlit reports a text area only at Ctrl and Enter.

const FIELD = ".st-key-text textarea"; // of the sentence: TEXT_KEY in state/session.py
const APART = 250; // milliseconds between two reports while one types: about every second key of a fast typist
const FEW = 50; // milliseconds of pause on a server that few share: the first key after a rest is reported at once
const LINES = /[\r\n]\s*/; // in a text that is pasted; to look for blanks before it takes minutes where there are many
const { set: setText } = /** @type {PropertyDescriptor} */ (
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value") // not React's, which would miss the change
);

let timer = 0;
let pause = 0; // milliseconds after a key
let typed = -Infinity; // when, in milliseconds
let reported = -Infinity; // when

/** @param {Event} event */
function fieldOf({ target }) {
  return target instanceof HTMLTextAreaElement && target.matches(FIELD) ? target : null;
}

/** @param {HTMLTextAreaElement} field */
function report(field) {
  clearTimeout(timer);
  reported = performance.now();
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
}

/** @param {Event} event */
function type(event) {
  const field = fieldOf(event);
  if (!field) return;
  const lines = field.value.split(LINES);
  if (lines.length > 1) setText?.call(field, lines.map((line) => line.trimEnd()).join(" "));
  clearTimeout(timer);
  const now = performance.now();
  const rested = now - typed > APART && pause <= FEW;
  typed = now;
  timer = setTimeout(report, Math.max(rested ? 0 : pause, reported + APART - now), field);
}

/** @param {KeyboardEvent} event */
function press(event) {
  const field = fieldOf(event);
  if (!field || event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
  event.preventDefault();
  report(field);
}

/**
 * Listens once, however often it is mounted.
 * @param {{ data: { pause: number } }} component
 */
export default function ({ data }) {
  ({ pause } = data);
  document.addEventListener("input", type, true);
  document.addEventListener("keydown", press, true);
}
