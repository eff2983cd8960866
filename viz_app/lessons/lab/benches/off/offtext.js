// What the bench Switch off says of the head that is shown, and all heads as a table.

import { fillText, signed } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";
import { checkText } from "../../js/check.js";
import { isBeyond } from "../../js/effectbars.js";

/**
 * The head that is shown, in words.
 * @param {import("./off.js").Off} bench
 * @param {Settings} settings
 */
export function offText(bench, settings) {
  const { own, effects, texts } = bench;
  const token = bench.token(settings);
  const { values, order } = effects.ranked(token);
  const shown = bench.shown(settings, order);
  const value = values[shown.number];
  const band = effects.band(shown.number, token);
  const known = {
    head: bench.headTitle(shown),
    what: token < 0 ? texts.whole : `“${tokenText(own.tokens[token])}”`,
    change: signed(-value, 2),
    rank: order.indexOf(shown.number) + 1,
    heads: order.length,
  };
  const estimated = token < 0 ? texts.say_estimate : texts.say_not_measured;
  const parts = [fillText(effects.isMeasured(shown.number) ? texts.say : estimated, known)];
  if (band) {
    const range = { low: signed(-band.high, 2), high: signed(-band.low, 2) };
    parts.push(fillText(isBeyond(value, band) ? texts.say_beyond : texts.say_within, range));
  }
  if (own.check) parts.push(checkText(own.measured ? texts.check_estimates : texts.check_heads, own.check));
  return parts.join(" ");
}

/**
 * A row for each head: its effect, the range of random vectors where it is known, and whether the head is off.
 * @param {import("./off.js").Off} bench
 * @param {Settings} settings
 */
export function offTable(bench, settings) {
  const { own, effects, texts } = bench;
  const token = bench.token(settings);
  const { values } = effects.ranked(token);
  const off = bench.off(settings);
  const columns = [texts.column_head, texts.effect];
  if (own.measured) columns.push(texts.column_measured);
  if (effects.hasBands) columns.push(texts.column_low, texts.column_high);
  /** @param {boolean} is */
  const answer = (is) => (is ? texts.yes : texts.no);
  const rows = effects.list.map((head) => {
    const measured = effects.isMeasured(head.number);
    const value = measured || token < 0 ? values[head.number] : "";
    const band = effects.band(head.number, token);
    const random = effects.hasBands ? [band?.low ?? "", band?.high ?? ""] : [];
    const how = own.measured ? [answer(measured)] : [];
    return [bench.headTitle(head), value, ...how, ...random, answer(off[head.number])];
  });
  return { columns: [...columns, texts.column_off], rows };
}
