// What the bench Redirect says: its changes as sentences, and what they do.

import { fillText, percent, signed } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";

/**
 * The changes, and the probability of the token at the step.
 * @param {import("./redirect.js").Redirect} bench
 */
export function redirectText(bench) {
  const { own, texts, lesson } = bench;
  if (!own.edits.length) return texts.redirect_none;
  const said = own.edits.map((edit, at) => {
    const sentence = fillText(texts[`redirect_edit_${edit.action}`], {
      head: bench.headTitle(edit),
      query: tokenText(edit.query),
      key: tokenText(edit.key),
      sentence: edit.sentence,
      number: edit.number + 1,
      share: percent(edit.percent / 100),
    });
    return `${at + 1}. ${sentence}`;
  });
  const { changes, log_p } = lesson.arrays;
  const before = log_p.data[own.step];
  const effect = fillText(texts.redirect_say, {
    token: tokenText(own.tokens[own.step]),
    before: percent(Math.exp(before)),
    after: percent(Math.exp(before + changes.data[own.step])),
    total: signed(
      changes.data.reduce((sum, each) => sum + each, 0),
      2,
    ),
  });
  return `${said.join(" ")} ${effect}`;
}
