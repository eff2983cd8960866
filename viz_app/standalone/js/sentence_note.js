// What is to be known of a typed sentence: why it is not translated, or how far its translation can be trusted.

import { tokenElement } from "../../components/common/page/dom.js";
import { fillText } from "../../components/common/text/format.js";

const MAX_UNKNOWN = 20; // characters that are listed

/**
 * @param {HTMLElement} note
 * @param {{ sentence: import("../../components/live/js/sentence.js").Sentence, refusal?: string }} answer
 * @param {import("../../components/live/js/translator.js").LiveModel} live
 */
export function noteSentence(note, { sentence: { unknown, tokens }, refusal = "" }, { words, trained }) {
  const { unknown: letters, untrained } = words;
  const longest = trained ?? Infinity;
  note.textContent = refusal;
  if (refusal) return;
  const more = unknown.length > MAX_UNKNOWN ? " \u2026" : "";
  if (unknown.length) note.append(letters, " ", tokenElement(unknown.slice(0, MAX_UNKNOWN).join(" "), "b"), more, " ");
  if (tokens > longest) note.append(fillText(untrained, { tokens, trained: longest }));
}
